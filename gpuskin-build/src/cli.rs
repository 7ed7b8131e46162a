//! The command line: `bake`, `cache`, `inspect`, `pose` and `preview`.
//!
//! The binary `gpuskin` is nothing but this, and so can be the xtask of any project:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     gpuskin_build::cli::main()
//! }
//! ```
//!
//! Exit status: 0, or 1 for what is wrong with the input, or 2 for what is wrong with the command line.

mod args;
mod bake;
mod cache;
mod inspect;
mod pose;
mod preview;
mod text;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use args::{Args, Command};

use crate::bake::Failed;
use crate::finding::{Finding, Findings, Style};
use crate::manifest::Manifest;
use crate::suggest::closest;

/// A subcommand: what it understands, and what it does.
type Entry = (&'static Command, fn(&Args) -> Result<Done, Failure>);

const COMMANDS: [Entry; 5] = [
    (&bake::COMMAND, bake::run),
    (&cache::COMMAND, cache::run),
    (&inspect::COMMAND, inspect::run),
    (&pose::COMMAND, pose::run),
    (&preview::COMMAND, preview::run),
];

/// What a command has to say when it is done.
#[derive(Debug, Default)]
struct Done {
    /// For standard output.
    text: String,
    /// For standard error.
    warnings: Findings,
}

impl From<String> for Done {
    fn from(text: String) -> Self {
        Self { text, warnings: Findings::default() }
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The input is.
    Findings(Findings),
}

impl From<Findings> for Failure {
    fn from(findings: Findings) -> Self {
        Self::Findings(findings)
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self::Findings(failed.findings)
    }
}

impl From<Finding> for Failure {
    fn from(finding: Finding) -> Self {
        Self::Findings(finding.into())
    }
}

/// Runs the command that the program's arguments name.
pub fn main() -> ExitCode {
    run(std::env::args_os().skip(1).collect())
}

/// Runs a command: `["bake", "--check"]`.
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
                Some(near) => format!("no command `{name}`: did you mean `{near}`?"),
                None => format!("no command `{name}`"),
            },
        };
        complain(&format!("error: {problem}\n\n{}", overview()));
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
            complain(&done.warnings.render(Style::for_stderr()));
            print(&done.text);
            ExitCode::SUCCESS
        }
        Err(Failure::Usage(problem)) => {
            let program = program();
            let usage = command.usage(&program);
            complain(&format!("error: {problem}\n\n{usage}\nMore: {program} {} --help\n", command.name));
            ExitCode::from(2)
        }
        Err(Failure::Findings(findings)) if json => {
            print(&findings.to_json_lines());
            ExitCode::FAILURE
        }
        Err(Failure::Findings(findings)) => {
            complain(&findings.render(Style::for_stderr()));
            ExitCode::FAILURE
        }
    }
}

/// How the user calls this program: an xtask says so, or is one.
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
    text.push_str(&format!("\nMore: {program} COMMAND --help\n"));
    text
}

/// A manifest, as all commands that take one load it.
fn load(path: &Path) -> Result<Manifest, Failure> {
    Ok(crate::load::load(path)?)
}

// A reader that has seen enough (`| head`) is no error.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
