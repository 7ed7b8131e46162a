//! The command line with a shared cache. `script MANIFEST` bakes as a build script does.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [script, manifest] if script == "script" => {
            gpuskin_build::build(manifest);
            ExitCode::SUCCESS
        }
        _ => gpuskin_build::cli::main(),
    }
}
