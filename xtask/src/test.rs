//! `test`: the checks that CI runs, all of them, the fast ones, or one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{COMMON, cargo};
use crate::{Failure, bevy, checks, deps, web};

const HELP: &str = "\
Runs the checks that CI runs.

Usage: cargo xtask test [--with-deps] [--fast | --only NAME]

  --with-deps  installs missing drivers and tools through apt
  --fast       runs format, clippy and the unit tests: under two minutes when warm
  --only NAME  runs the check NAME, or else the tests whose names contain NAME

Checks: ";

/// One check of CI.
struct Check {
    name: &'static str,
    command: fn() -> Command,
    /// Whether `--fast` runs it.
    fast: bool,
    /// Returns what the check lacks on this machine; it is then skipped, and says so.
    lacks: fn() -> Option<String>,
}

/// Names of checks that run beside the others, one after another. Their builds are in folders that no other check builds in for
/// long, so that neither waits for the other's compiler.
const BESIDE: [&str; 2] = ["shared-cache", "bevy"];

/// All checks. The tests come last, so that their closing lines are near the end of the log.
const CHECKS: [Check; 15] = [
    Check { name: "format", command: format, fast: true, lacks: nothing },
    Check { name: "clippy", command: clippy, fast: true, lacks: nothing },
    Check { name: "clippy-without-wgpu", command: clippy_without_wgpu, fast: true, lacks: nothing },
    Check { name: "documentation", command: documentation, fast: false, lacks: nothing },
    Check { name: "public-api", command: public_api, fast: false, lacks: nothing },
    Check { name: "packages", command: packages, fast: false, lacks: nothing },
    Check { name: "sample-models", command: sample_models, fast: false, lacks: nothing },
    Check { name: "shared-cache", command: shared_cache, fast: false, lacks: nothing },
    Check { name: "shared-models", command: shared_models, fast: false, lacks: models_beside },
    Check { name: "new-game", command: new_game, fast: false, lacks: nothing },
    Check { name: "web-check", command: web_check, fast: false, lacks: no_web_target },
    Check { name: "browser", command: browser, fast: false, lacks: web::lacks_for_test },
    Check { name: "material-tables", command: material_tables, fast: false, lacks: no_swiftshader },
    Check { name: "bevy", command: bevy_plugin, fast: false, lacks: bevy::lacks },
    Check { name: "tests", command: tests, fast: false, lacks: nothing },
];

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut with_deps, mut fast, mut only) = (false, false, None);
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("with-deps") => with_deps = true,
            lexopt::Arg::Long("fast") => fast = true,
            lexopt::Arg::Long("only") => only = Some(parser.value()?.to_string_lossy().into_owned()),
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                println!("{HELP}{}", CHECKS.map(|check| check.name).join(", "));
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if fast && only.is_some() {
        return Err(Failure::Usage("--fast and --only exclude each other".to_owned()));
    }
    // Neither clippy nor the unit tests draw.
    deps::ensure(if fast { deps::Needs::Compiler } else { deps::Needs::BothApis }, with_deps)?;
    if with_deps && !fast {
        for result in [web::install_target(), deps::install_browser()] {
            if let Err(Failure::Failed(problem)) = result {
                eprintln!("== {problem}: checks of web programs that need it are left out");
            }
        }
        if let Err(Failure::Failed(problem)) = bevy::install() {
            eprintln!("== {problem}: the check of bevy_gpuskin is left out");
        }
    }

    let selected =
        |select: fn(&Check) -> bool| CHECKS.iter().filter(move |check| select(check)).filter_map(Check::ready);
    let alone = |name, command| checks::Check { name, command, beside: false };
    checks::run(match &only {
        Some(name) => match CHECKS.iter().find(|check| check.name == name) {
            Some(check) => check.ready().into_iter().collect(),
            None => vec![alone("tests", tests_named(name))],
        },
        None if fast => selected(|check| check.fast).chain([alone("unit tests", unit_tests())]).collect(),
        None => selected(|_| true).collect(),
    })
}

impl Check {
    /// Returns the check to run, or says what it lacks.
    fn ready(&self) -> Option<checks::Check> {
        match (self.lacks)() {
            None => {
                let beside = BESIDE.contains(&self.name);
                Some(checks::Check { name: self.name, command: (self.command)(), beside })
            }
            Some(lack) => {
                eprintln!("\n== {}: SKIPPED: {lack}", self.name);
                None
            }
        }
    }
}

/// Returns `cargo FIRST` with the profile and features of the workspace, and then `rest`.
fn with_common(first: &str, rest: &[&str]) -> Command {
    let mut command = cargo([first]);
    command.args(COMMON).args(rest);
    command
}

fn format() -> Command {
    cargo(["fmt", "--all", "--check"])
}

fn clippy() -> Command {
    with_common("clippy", &["--all-targets", "--", "-D", "warnings"])
}

/// Checks the runtime as servers and build scripts compile it: with a path dependency, cargo shows its
/// warnings to users.
fn clippy_without_wgpu() -> Command {
    let features = ["--package", "gpuskin-rt", "--no-default-features"];
    let mut command = cargo(["clippy", "--release"]);
    command.args(features).args(["--", "-D", "warnings"]);
    command
}

fn documentation() -> Command {
    let mut command = with_common("doc", &["--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Compares the public API of both crates with the texts in `tests/api`.
fn public_api() -> Command {
    cargo(["run", "--quiet", "--release", "--package", "gpuskin-public-api"])
}

/// Checks what crates.io would get of both crates. Several commands, hence a command of this program.
fn packages() -> Command {
    cargo(["run", "--quiet", "--package", "xtask", "--", "package-test"])
}

/// Checks that the sample models are those that their generator writes.
fn sample_models() -> Command {
    cargo(["run", "--release", "-p", "gpuskin-assets", "--", "--check"])
}

/// Tests the shared cache against an S3-compatible server. A package outside the workspace, because of its HTTP dependencies.
fn shared_cache() -> Command {
    cargo(["test", "--locked", "--manifest-path", "tests/farm/Cargo.toml", "--target-dir", "target"])
}

/// Tests of gpuskin-build with real models, which plain `cargo test` reports as ignored.
fn shared_models() -> Command {
    with_common(
        "test",
        &["--no-fail-fast", "--lib", "--test", "input", "--test", "inspect_and_new", "shared_", "--", "--ignored"],
    )
}

/// Builds and runs the game that `gpuskin new` writes.
fn new_game() -> Command {
    with_common("test", &["--test", "inspect_and_new", "new_game_", "--", "--ignored"])
}

/// Returns where the shared models were searched, if they are missing.
fn models_beside() -> Option<String> {
    let beside = || crate::cargo::root().join("../shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or_else(beside, PathBuf::from);
    let found = folder.join("models").is_dir() && folder.join("truth/expected").is_dir();
    (!found).then(|| format!("no shared models in {}; set GPUSKIN_SHARED to their folder", folder.display()))
}

/// Checks the runtime and the page for the target of web programs.
fn web_check() -> Command {
    let packages = ["--package=gpuskin-rt", "--package=web", "--package=gpuskin-viewer", "--features=gpuskin-rt/webgl"];
    let mut command = cargo(["clippy", "--release", "--target", web::TARGET, "--lib"]);
    // The arguments of `clippy`: with others, it would compile the baker again.
    command.args(packages).args(["--", "-D", "warnings"]);
    command
}

/// Runs the page in Chromium. A command of its own, because the page is served meanwhile.
fn browser() -> Command {
    cargo(["run", "--quiet", "--package", "xtask", "--", "web-test"])
}

/// Vulkan driver within Debian's chromium.
const SWIFTSHADER: &str = "/usr/lib/chromium/vk_swiftshader_icd.json";

/// Tests tables of textures on SwiftShader: Debian 12's lavapipe has none.
fn material_tables() -> Command {
    let mut command = with_common("test", &["--test", "gpu", "material_tables"]);
    command.env("VK_DRIVER_FILES", SWIFTSHADER).env("GPUSKIN_REQUIRE_TEXTURE_TABLES", "1");
    command
}

/// Returns how to install SwiftShader, if it is missing.
fn no_swiftshader() -> Option<String> {
    let found = std::path::Path::new(SWIFTSHADER).exists();
    (!found).then(|| format!("{SWIFTSHADER} is missing; on Debian: apt-get install chromium"))
}

/// Checks the Bevy plugin. Several commands of a later toolchain, hence a command of this program.
fn bevy_plugin() -> Command {
    cargo(["run", "--quiet", "--package", "xtask", "--", "bevy-test"])
}

/// Returns how to install the target of web programs, if it is missing.
fn no_web_target() -> Option<String> {
    web::lacks_target()
}

/// For checks that every machine can run.
fn nothing() -> Option<String> {
    None
}

fn tests() -> Command {
    let mut command = with_common("test", &["--no-fail-fast"]);
    command.env("GPUSKIN_REQUIRE_GPU", "1").env("GPUSKIN_FUZZ_SECONDS", "20");
    // strace is among the dependencies that `deps::ensure` finds or installs on Linux.
    if cfg!(target_os = "linux") {
        command.env("GPUSKIN_REQUIRE_STRACE", "1");
    }
    if deps::has_chromium() {
        command.env("GPUSKIN_REQUIRE_CHROMIUM", "1");
    }
    command
}

/// Tests whose names contain `name`, in all packages.
fn tests_named(name: &str) -> Command {
    with_common("test", &["--no-fail-fast", "--all-targets", name])
}

/// Unit tests of the libraries and programs: without a GPU, and without baking whole models.
fn unit_tests() -> Command {
    with_common("test", &["--no-fail-fast", "--lib", "--bins"])
}
