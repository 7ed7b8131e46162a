//! `test`: every check that CI runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::cargo::{COMMON, cargo};
use crate::{Failure, deps};

const HELP: &str = "\
Runs every check that CI runs.

Usage: cargo xtask test [--with-deps]

  --with-deps  installs what is missing through apt
";

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut with_deps = false;
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("with-deps") => with_deps = true,
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    deps::ensure(deps::Needs::BothApis, with_deps)?;
    forget_packages();

    // All of them run, whatever fails: one run tells everything.
    let mut failed = Vec::new();
    for (name, mut command) in steps() {
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        eprintln!("\n== {name}: cargo {}", args.join(" "));
        let start = Instant::now();
        let passed = command.status().is_ok_and(|status| status.success());
        eprintln!("== {name}: {} after {} s", if passed { "passed" } else { "FAILED" }, start.elapsed().as_secs());
        if !passed {
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("failed: {}", failed.join(", ")))) }
}

/// Removes what cargo has unpacked and built of our own packages in an earlier run at the same path: `cargo package` would
/// take it for today's, because the version is the same. What cannot be removed is told by the packages that do not build.
fn forget_packages() {
    // Of the development profile, in which packages are verified.
    let _ = cargo(["clean", "--quiet", "-p", "gpuskin-rt", "-p", "gpuskin-build"]).status();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let Some(registries) = home.map(|home| home.join("registry/src")) else { return };
    // Registries without a host's name are folders: those that `cargo package` makes.
    for registry in entries(registries).filter(|entry| entry.file_name().to_string_lossy().starts_with('-')) {
        for package in entries(registry.path()) {
            if package.file_name().to_string_lossy().starts_with("gpuskin-") {
                let _ = std::fs::remove_dir_all(package.path());
            }
        }
    }
}

/// Checks and how to run them; the tests last, so that their closing lines close the log.
fn steps() -> Vec<(&'static str, Command)> {
    let with_common = |first: &str, rest: &[&str]| {
        let mut command = cargo([first]);
        command.args(COMMON).args(rest);
        command
    };
    let mut doc = with_common("doc", &["--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    let mut test = with_common("test", &["--no-fail-fast"]);
    let mut package = cargo(["package", "--allow-dirty", "-p", "gpuskin-rt", "-p", "gpuskin-build"]);
    // As the crate of the shared cache has it: what both depend on is built once.
    package.env("CARGO_PROFILE_DEV_DEBUG", "false");
    let farm = ["test", "--locked", "--manifest-path", "tests/farm/Cargo.toml", "--target-dir", "target"];
    // Fuzz targets are tried for as long, each.
    test.env("GPUSKIN_REQUIRE_GPU", "1").env("GPUSKIN_FUZZ_SECONDS", "60");
    vec![
        ("format", cargo(["fmt", "--all", "--check"])),
        ("clippy", with_common("clippy", &["--all-targets", "--", "-D", "warnings"])),
        ("documentation", doc),
        ("packages", package),
        ("sample models", cargo(["run", "--release", "-p", "gpuskin-assets", "--", "--check"])),
        // A crate of its own: with a client and a server for HTTP it has dependencies that nothing else needs.
        ("shared cache", cargo(farm)),
        ("tests", test),
    ]
}
