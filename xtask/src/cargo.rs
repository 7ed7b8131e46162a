//! Calls of cargo, all alike, so that everything is built once.
//!
//! All calls use one profile, one set of features and `--workspace`, because cargo unifies the
//! features of dependencies over the selected packages, and would build wgpu again for another
//! selection.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::Failure;

/// `--release`, because the tests bake and draw whole models. No `--features`, because
/// `gpuskin-build/gpu` would add wgpu to every build script; `gpuskin-tests` depends on all
/// features that programs here need.
pub(crate) const COMMON: [&str; 2] = ["--workspace", "--release"];

/// Folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// Creates a cargo command in the folder of the workspace.
pub(crate) fn cargo(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Builds a program of the workspace and returns its path.
pub(crate) fn build(program: &str) -> Result<PathBuf, Failure> {
    let status = cargo(["build"]).args(COMMON).args(["--bin", program]).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Failure::Failed(format!("`{program}` could not be built")));
    }
    // This program is target/debug/xtask; the built one is in target/release.
    let this = std::env::current_exe().map_err(|error| Failure::Failed(error.to_string()))?;
    let target = this.ancestors().nth(2).expect("a program of cargo's is in a folder of the target folder");
    Ok(target.join("release").join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs a program. Returns its exit status.
pub(crate) fn replace_with(mut command: Command) -> ExitCode {
    match command.status() {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("error: {} cannot be run: {error}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}

/// Runs a program, and fails if the program does.
pub(crate) fn run(mut command: Command) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::Failed(String::new())),
        Err(error) => Err(Failure::Failed(format!("{} cannot be run: {error}", command.get_program().display()))),
    }
}
