//! `bench`: frame times, start-up times and CPU work on this machine.

use std::ffi::OsString;
use std::process::Command;

use crate::{Failure, cargo, gpuskin};

const PROGRAM: &str = "gpuskin-bench";

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut command = Command::new(cargo::build(PROGRAM)?);
    gpuskin::add_manifest(&mut command, &args);
    command.args(args);
    cargo::run(command)
}
