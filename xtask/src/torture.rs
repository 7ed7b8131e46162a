//! `torture`: long tests of bakes that are killed, fail, run at the same time, or find their cache
//! damaged.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::Failure;
use crate::cargo::{COMMON, cargo};

/// Marks a count in the output of a test, anywhere in a line.
const COUNT: &str = "torture: ";

/// Parts of the names of the long tests.
const LONG: [&str; 5] =
    ["a_thousand", "for_long", "at_length", "shards_make_the_whole_of_200_models", "failures_leave_the_last_good_bake"];

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut command = cargo(["test"]);
    // `cargo xtask test` ignores tests that take minutes, and runs a short version of each. Tests
    // of file-system failures have no long version.
    command.args(COMMON).args(["--lib", "--test", "torture", "--no-fail-fast", "--"]).args(if args.is_empty() {
        LONG.map(OsString::from).to_vec()
    } else {
        args
    });
    command.args(["--include-ignored", "--nocapture", "--test-threads=1"]);
    let failed = |error: std::io::Error| Failure::Failed(format!("cargo cannot be run: {error}"));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut counts = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.map_err(failed)?;
        counts.extend(line.split_once(COUNT).map(|(_, count)| count.to_owned()));
        println!("{line}");
    }
    println!("\n== torture");
    counts.iter().for_each(|count| println!("  {count}"));
    match child.wait().map_err(failed)?.success() {
        true => Ok(()),
        false => Err(Failure::Failed("some of the tests failed".to_owned())),
    }
}
