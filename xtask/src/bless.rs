//! `bless`: rewrites the texts, files and pictures that tests compare with.

use std::ffi::OsString;

use crate::cargo::{self, COMMON};
use crate::{Failure, api};

const HELP: &str = "\
Rewrites what tests compare with. Look at `git diff` before you commit it.

Usage: cargo xtask bless

  tests/golden/                      the generated module and the files of a small bake
  tests/api/                         the public API of both crates
  docs/gpuskin.schema.json           the JSON schema of the manifest
  docs/guide/src/manifest-keys.md    the tables of manifest keys
  examples/crowd/tests/picture.png   the picture of the demo
";

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    if let Some(arg) = parser.next()? {
        return match arg {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                Ok(())
            }
            other => Err(other.unexpected().into()),
        };
    }
    // The other tests of `golden` were compiled with the golden files as they were.
    bless_tests(&["--test", "golden", "bake_matches_the_snapshot"])?;
    bless_tests(&["--test", "picture"])?;
    bless_tests(&["--test", "input", "reference"])?;
    api::run(vec!["--bless".into()])
}

/// Runs tests that write what they would otherwise compare with.
fn bless_tests(selection: &[&str]) -> Result<(), Failure> {
    let mut tests = cargo::cargo(["test"]);
    tests.args(COMMON).args(["--no-fail-fast"]).args(selection).env("GPUSKIN_BLESS", "1");
    cargo::run(tests)
}
