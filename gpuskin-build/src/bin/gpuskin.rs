//! The binary `gpuskin`. An xtask can run the same command line: see [`gpuskin_build::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    gpuskin_build::cli::main()
}
