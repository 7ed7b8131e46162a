//! `schema`: prints the JSON schema of the manifest.

use super::args::{Args, Command};
use super::outcome::{CommandOutput, Failure};

pub(super) const COMMAND: Command = Command {
    name: "schema",
    summary: "Prints the JSON schema of gpuskin.toml, for completion and checks in editors.",
    operand: None,
    flags: &[],
    notes: "Editors with Taplo (VS Code: Even Better TOML) use it if the manifest begins with this line:\n\
            #:schema ./gpuskin.schema.json",
};

pub(super) fn run(_: &Args) -> Result<CommandOutput, Failure> {
    Ok(crate::manifest::json_schema().into())
}
