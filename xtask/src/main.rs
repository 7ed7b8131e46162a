//! `cargo xtask`: the commands of this repository, for contributors and for CI.

mod api;
mod bench;
mod bevy;
mod bless;
mod cargo;
mod checks;
mod demo;
mod deps;
mod gpuskin;
mod packages;
mod serve;
mod test;
mod torture;
mod viewer;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  demo     draws ten thousand instances of the sample models, in a window or a PNG
  web      builds the demo as a web page, and shows it
  viewer   makes the program that draws models in reports
  test     runs the checks that CI runs
  bless    rewrites the golden files, API texts and pictures that tests compare with
  api      compares the public API of both crates with its checked-in text
  torture  interrupts bakes, injects I/O errors and damages caches, for minutes
  bench    prints frame times, start-up times and CPU work

  bake     bakes a manifest [default: assets/gpuskin.toml]
  cache    shows, verifies or empties the cache
  inspect  prints the metadata of a KTX2 file
  pose     writes the vertices of a clip at given times
  preview  draws contact sheets of a model
  view     shows a model in a window, or writes a picture of it
  watch    bakes whenever a model is saved, and shows the report in a browser

More: cargo xtask COMMAND --help
";

/// Reason why a command stopped.
enum Failure {
    /// Wrong command line.
    Usage(String),
    /// Failure, with its message; empty if the failed program has printed one.
    Failed(String),
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let name = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    let result = match name.to_str() {
        Some("demo") => demo::run(rest),
        Some("web") => web::run(rest),
        Some("viewer") => viewer::run(rest),
        // Parts of `test`.
        Some("web-test") => web::test(rest),
        Some("bevy-test") => bevy::test(),
        Some("package-test") => packages::test(),
        Some("test") => test::run(rest),
        Some("api") => api::run(rest),
        Some("bless") => bless::run(rest),
        Some("torture") => torture::run(rest),
        Some("bench") => bench::run(rest),
        Some(name @ ("bake" | "cache" | "inspect" | "pose" | "preview" | "view" | "watch")) => {
            return gpuskin::run(name, rest);
        }
        Some("-h" | "--help" | "help") => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(Failure::Usage(match name.is_empty() {
            true => "no command given".to_owned(),
            false => format!("no command `{}`", name.display()),
        })),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(problem)) => {
            eprintln!("error: {problem}\n\n{HELP}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(problem)) => {
            if !problem.is_empty() {
                eprintln!("error: {problem}");
            }
            ExitCode::FAILURE
        }
    }
}
