//! `bevy-test`: the checks of `bevy_gpuskin`, which needs a later Rust than the workspace.

use std::process::{Command, Stdio};

use crate::Failure;
use crate::cargo::{root, run};

/// Names the toolchain of the crate.
const TOOLCHAIN_FILE: &str = include_str!("../../bevy_gpuskin/rust-toolchain.toml");
const COMPONENTS: [&str; 2] = ["clippy", "rustfmt"];
/// `-D warnings`, as `cargo clippy` hands it to its driver.
const DENY_WARNINGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Version of Rust that the crate needs.
fn toolchain() -> &'static str {
    let channel = TOOLCHAIN_FILE.lines().find_map(|line| line.strip_prefix("channel = \""));
    channel.and_then(|rest| rest.strip_suffix('"')).expect("rust-toolchain.toml names a channel")
}

/// Creates a command of the crate's toolchain, in the crate's folder. Its build products are in a folder of their own, because
/// each toolchain would build everything again in a common one.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", toolchain(), "cargo"]).args(args).current_dir(root().join("bevy_gpuskin"));
    command.env("CARGO_TARGET_DIR", root().join("target/bevy"));
    command
}

/// Returns what is missing for [`test()`].
pub(crate) fn lacks() -> Option<String> {
    let runs = |subcommand: &str| {
        let mut command = cargo(&[subcommand, "--version"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let missing = ["fmt", "clippy"].into_iter().any(|subcommand| !runs(subcommand));
    missing.then(|| {
        format!(
            "Rust {0} with {1} is missing; install it with: rustup toolchain install {0} --profile minimal -c {2}",
            toolchain(),
            COMPONENTS.join(" and "),
            COMPONENTS.join(",")
        )
    })
}

/// Installs what [`lacks`] misses.
pub(crate) fn install() -> Result<(), Failure> {
    if lacks().is_none() {
        return Ok(());
    }
    let components = COMPONENTS.join(",");
    let args = ["toolchain", "install", toolchain(), "--profile", "minimal", "--component", &components];
    eprintln!("== rustup {}", args.join(" "));
    let mut rustup = Command::new("rustup");
    rustup.args(args);
    run(rustup).map_err(|_| Failure::Failed(format!("rustup could not install Rust {}", toolchain())))
}

/// Runs format, clippy and the tests of the crate, and compiles it with each feature alone.
pub(crate) fn test() -> Result<(), Failure> {
    run(cargo(&["fmt", "--all", "--check"]))?;
    let all = ["--locked", "--workspace", "--features", "bevy_gpuskin/picking,bevy_gpuskin/assets"];
    // Clippy compiles our crates for the tests, as `cargo clippy` has it check them: that command would also check all of
    // Bevy, which the tests compile.
    let denied = |mut command: Command| {
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", DENY_WARNINGS);
        command
    };
    run(denied(cargo(&[&["test"], &all[..], &["--no-fail-fast"]].concat())))?;
    // A feature must not need another one. With the tests' dependencies, because other features of Bevy would compile most of it again.
    for features in ["", "assets", "picking"] {
        run(denied(cargo(&["test", "--locked", "--workspace", "--lib", "--no-run", "--features", features])))?;
    }
    Ok(())
}
