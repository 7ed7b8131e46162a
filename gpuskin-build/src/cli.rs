//! The command-line interface: `bake`, `cache`, `inspect`, `new`, `pose`, `preview`, `schema`,
//! `view` and `watch`.
//!
//! The binary `gpuskin` only calls [`main`]. The xtask of a project can do the same:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     gpuskin_build::cli::main()
//! }
//! ```
//!
//! Exit status: 0 for success, 1 for an error in the input, 2 for an error in the command line.

mod args;
mod bake;
mod cache;
mod cache_folder;
mod inspect;
mod new;
mod outcome;
mod picture;
mod pose;
mod preview;
mod progress;
mod schema;
mod text;
mod view;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use args::{Args, Command};
use outcome::{CommandOutput, Failure, print, print_error};

use crate::diagnostic::Style;
use crate::suggest::closest;

/// A subcommand: its arguments and its function.
type Subcommand = (&'static Command, fn(&Args) -> Result<CommandOutput, Failure>);

const COMMANDS: [Subcommand; 9] = [
    (&bake::COMMAND, bake::run),
    (&cache::COMMAND, cache::run),
    (&inspect::COMMAND, inspect::run),
    (&new::COMMAND, new::run),
    (&pose::COMMAND, pose::run),
    (&preview::COMMAND, preview::run),
    (&schema::COMMAND, schema::run),
    (&view::COMMAND, view::run),
    (&watch::COMMAND, watch::run),
];

/// Runs the command given by the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os().skip(1).collect())
}

/// Runs a command with the given arguments, for example `["bake", "--check"]`.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let name = args.next().map(|name| name.to_string_lossy().into_owned());
    let entry = match name.as_deref() {
        Some("-h" | "--help" | "help") => {
            print(&overview());
            return ExitCode::SUCCESS;
        }
        Some("-V" | "--version") => {
            print(concat!("gpuskin ", env!("CARGO_PKG_VERSION"), "\n"));
            return ExitCode::SUCCESS;
        }
        Some(name) => COMMANDS.iter().find(|(command, _)| command.name == name),
        None => None,
    };
    let Some((command, run)) = entry else {
        let problem = match name {
            None => "no command given".to_owned(),
            Some(name) => match closest(&name, COMMANDS.iter().map(|(command, _)| command.name)) {
                Some(near) => format!("unknown command `{name}`: did you mean `{near}`?"),
                None => format!("unknown command `{name}`"),
            },
        };
        print_error(&format!("error: {problem}\n\n{}", overview()));
        return ExitCode::from(2);
    };
    let mut json = false;
    let result = match command.parse(args) {
        Ok(Some(args)) => args.word("message-format", &["text", "json"]).and_then(|format| {
            json = format == Some("json");
            run(&args)
        }),
        Ok(None) => {
            print(&command.help(&program()));
            return ExitCode::SUCCESS;
        }
        Err(failure) => Err(failure),
    };
    match result {
        Ok(done) if json => {
            print(&done.warnings.to_json_lines());
            ExitCode::SUCCESS
        }
        Ok(done) => {
            print_error(&done.warnings.render(Style::for_stderr()));
            print(&done.text);
            ExitCode::SUCCESS
        }
        Err(Failure::Usage(problem)) => {
            let program = program();
            let usage = command.usage(&program);
            print_error(&format!("error: {problem}\n\n{usage}\nFor details: {program} {} --help\n", command.name));
            ExitCode::from(2)
        }
        Err(Failure::Diagnostics(diagnostics)) if json => {
            print(&diagnostics.to_json_lines());
            ExitCode::FAILURE
        }
        Err(Failure::Diagnostics(diagnostics)) => {
            print_error(&diagnostics.render(Style::for_stderr()));
            ExitCode::FAILURE
        }
    }
}

/// Returns the text that `inspect` prints for the bytes of a KTX2 file.
///
/// # Errors
/// Returns the reason why the bytes cannot be inspected, as a sentence without its subject: `is not
/// a KTX2 file`.
#[doc(hidden)]
pub fn inspect_bytes(data: &[u8]) -> Result<String, String> {
    inspect::inspect(data)
}

/// Returns the program name for help texts: the environment variable `GPUSKIN_COMMAND`, else `cargo
/// xtask` in a binary named `xtask`, else `gpuskin`.
fn program() -> String {
    if let Ok(program) = std::env::var("GPUSKIN_COMMAND") {
        return program;
    }
    let stem = std::env::args_os().next().and_then(|path| Some(Path::new(&path).file_stem()?.to_owned()));
    if stem.is_some_and(|stem| stem == "xtask") { "cargo xtask".into() } else { "gpuskin".into() }
}

fn overview() -> String {
    let program = program();
    let mut text = format!("Bakes animated glTF models into animation textures.\n\nUsage: {program} COMMAND\n\n");
    for (command, _) in COMMANDS {
        text.push_str(&format!("  {:<9}{}\n", command.name, command.summary));
    }
    text.push_str(&format!("\nFor details: {program} COMMAND --help\n"));
    text
}
