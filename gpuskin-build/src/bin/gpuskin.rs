//! The command line of gpuskin. Any project's xtask can have it in one line, too: see [`gpuskin_build::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    gpuskin_build::cli::main()
}
