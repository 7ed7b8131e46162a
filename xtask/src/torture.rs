//! `torture`: bakes that are killed, fail, meet each other, and find their cache damaged, at length.

use std::ffi::OsString;

use crate::Failure;
use crate::cargo::{COMMON, cargo, run as run_command};

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut command = cargo(["test"]);
    // What takes minutes is ignored by `cargo xtask test`, which has a short version of each.
    command.args(COMMON).args(["--lib", "--test", "torture", "--", "--ignored", "--nocapture"]).args(args);
    run_command(command)
}
