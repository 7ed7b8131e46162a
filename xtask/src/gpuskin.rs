//! `bake`, `inspect`, `pose`, `preview`, `view` and `watch`: the command line of gpuskin-build, with this repository's manifest.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::{Failure, cargo};

pub(crate) fn run(name: &str, args: Vec<OsString>) -> ExitCode {
    let program = match cargo::build("gpuskin") {
        Ok(program) => program,
        Err(Failure::Usage(problem) | Failure::Failed(problem)) => {
            eprintln!("error: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut command = Command::new(program);
    command.arg(name).env("GPUSKIN_COMMAND", "cargo xtask");
    if !matches!(name, "inspect" | "view") {
        add_manifest(&mut command, &args);
    }
    command.args(args);
    cargo::replace_with(command)
}

/// Adds the manifest of the sample models if the arguments name none.
pub(crate) fn add_manifest(command: &mut Command, args: &[OsString]) {
    if args.iter().any(|arg| arg.to_str().is_some_and(|arg| arg.starts_with("--manifest"))) {
        return;
    }
    let manifest = cargo::root().join("assets/gpuskin.toml");
    // A relative path keeps diagnostics short.
    let folder = std::env::current_dir().unwrap_or_default();
    command.arg("--manifest").arg(manifest.strip_prefix(&folder).unwrap_or(&manifest));
}
