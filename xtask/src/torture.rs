//! `torture`: bakes that are killed, fail, meet each other, and find their cache damaged, at length.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::Failure;
use crate::cargo::{COMMON, cargo};

/// Starts what a test counted, wherever it stands in its line.
const COUNT: &str = "torture: ";

/// Parts of the names of tests.
const LONG: [&str; 5] =
    ["a_thousand", "for_long", "at_length", "shards_make_the_whole_of_200_models", "failures_leave_the_last_good_bake"];

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut command = cargo(["test"]);
    // What takes minutes is ignored by `cargo xtask test`, which has a short version of each. Failures of the file system
    // are short as they are.
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
        false => Err(Failure::Failed("not all of it passed".to_owned())),
    }
}
