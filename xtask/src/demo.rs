//! `demo`: the crowd example.

use std::ffi::OsString;
use std::process::Command;

use crate::{Failure, cargo, deps};

const HELP: &str = "\
Draws ten thousand instances of the sample models: in a window if there is a display, else into a PNG.

Usage: cargo xtask demo [--with-deps] [--png FILE] [--count N] [--size WxH]

  --with-deps  installs missing drivers and tools through apt
  --png FILE   draws one picture into a file
  --count N    number of instances
  --size WxH   size in pixels
";

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut with_deps, mut rest) = (false, Vec::new());
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("with-deps") => with_deps = true,
            lexopt::Arg::Long(name @ ("png" | "count" | "size")) => {
                rest.push(format!("--{name}").into());
                rest.push(parser.value()?);
            }
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    deps::ensure(deps::Needs::OneApi, with_deps)?;
    let mut command = Command::new(cargo::build("crowd")?);
    command.args(rest);
    cargo::run(command)
}
