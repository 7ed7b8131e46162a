//! `api`: the public API of both crates, compared with the texts in `tests/api`.

use std::ffi::OsString;

use crate::{Failure, cargo};

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut command = cargo::cargo(["run", "--quiet", "--release", "--package", "gpuskin-public-api", "--"]);
    command.args(args);
    cargo::run(command)
}
