//! Compares the public API of gpuskin-rt and gpuskin-build with the texts in `tests/api/`, or writes these texts.
//!
//! The API is read from rustdoc's JSON output, which is unstable: its format changes with the toolchain. The texts are
//! those of one toolchain ([`TOOLCHAIN`], the minimum supported Rust version); on another the check is skipped, and says so.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
Compares the public API of gpuskin-rt and gpuskin-build with tests/api/*.txt.

Usage: cargo xtask api [--bless]

  --bless  writes the texts instead of comparing them
";

/// Rust version whose rustdoc writes the JSON format that this program compares.
const TOOLCHAIN: &str = "1.95";

/// Packages with a public API, in dependency order.
const PACKAGES: [&str; 2] = ["gpuskin-rt", "gpuskin-build"];

/// Path of the real rustdoc, when this program is started by cargo in place of rustdoc.
const WRAPPED_RUSTDOC: &str = "GPUSKIN_WRAPPED_RUSTDOC";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let result = match std::env::var_os(WRAPPED_RUSTDOC) {
        Some(rustdoc) => return run_rustdoc(&rustdoc),
        None => run(),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs rustdoc with its unstable options enabled. The variable is set for rustdoc alone: set for cargo, it would make
/// every build script that reads it, and all crates above, compile again.
fn run_rustdoc(rustdoc: &OsString) -> ExitCode {
    let mut command = Command::new(rustdoc);
    command.args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").env_remove(WRAPPED_RUSTDOC);
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {} does not start: {error}", rustdoc.display());
            ExitCode::FAILURE
        }
    }
}

/// Returns whether the public API is the one that is checked in.
fn run() -> Result<bool> {
    let mut bless = false;
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("bless") => bless = true,
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                return Ok(true);
            }
            other => return Err(other.unexpected().into()),
        }
    }

    let version = rust_version()?;
    if !version.starts_with(&format!("{TOOLCHAIN}.")) {
        println!("SKIPPED: the texts in tests/api are those of Rust {TOOLCHAIN}, and this is Rust {version}");
        return Ok(true);
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("the workspace has no folder")?;
    let documentation = document(workspace)?;

    let mut unchanged = true;
    for package in PACKAGES {
        let json = documentation.join(format!("{}.json", package.replace('-', "_")));
        let (text, count) = describe(&json)?;
        let path = workspace.join("tests/api").join(format!("{package}.txt"));
        if bless {
            if fs::read_to_string(&path).is_ok_and(|old| old == text) {
                println!("{package}: {count} public items, unchanged");
            } else {
                fs::write(&path, text)?;
                println!("{package}: {count} public items, written to tests/api/{package}.txt");
            }
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let difference = difference(&expected, &text);
        println!("{package}: {count} public items, {} lines differ", difference.len());
        if !difference.is_empty() {
            unchanged = false;
            println!("{}", difference.join("\n"));
            println!("\nIf the change is intended, run `cargo xtask bless` and name it in CHANGELOG.md.");
        }
    }
    Ok(unchanged)
}

/// Returns the version of the compiler, as in `1.95.0`.
fn rust_version() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = String::from_utf8(Command::new(rustc).arg("--version").output()?.stdout)?;
    Ok(output.split_whitespace().nth(1).ok_or("rustc names no version")?.to_owned())
}

/// Documents the workspace as JSON, and returns the folder with one file per crate.
///
/// The whole workspace in one profile, as `cargo xtask test` builds it: the dependencies are compiled already.
fn document(workspace: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or("rustdoc".into());
    // Beside the HTML documentation, and not in its place: cargo would take one for the other.
    let status = Command::new(&cargo)
        .args(["doc", "--quiet", "--workspace", "--release", "--no-deps", "--lib"])
        .env("RUSTDOC", std::env::current_exe()?)
        .env(WRAPPED_RUSTDOC, rustdoc)
        .env("RUSTDOCFLAGS", "-Zunstable-options --output-format json --cap-lints allow")
        .current_dir(workspace)
        .status()?;
    if !status.success() {
        return Err("rustdoc wrote no JSON".into());
    }
    let metadata = Command::new(&cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(workspace)
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let target = metadata["target_directory"].as_str().ok_or("cargo names no target folder")?;
    Ok(Path::new(target).join("doc"))
}

/// Returns the public API as text, an item per line, and the number of its items.
fn describe(json: &Path) -> Result<(String, usize)> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map_err(|error| format!("{}: {error}", json.display()))?;
    let items: Vec<String> = api.items().map(ToString::to_string).collect();
    let count = count(&items);
    Ok((items.join("\n") + "\n", count))
}

/// Counts functions, types, fields and constants. Modules, variants and what a trait asks for are not counted.
fn count(items: &[String]) -> usize {
    let mut in_trait_impl = false;
    let mut count = 0;
    for item in items {
        let text = item.strip_prefix("#[non_exhaustive] ").unwrap_or(item);
        if text.starts_with("impl") {
            in_trait_impl = text.contains(" for ");
            continue;
        }
        let Some(text) = text.strip_prefix("pub ") else { continue };
        let is_type = ["struct ", "enum ", "union ", "trait "].iter().any(|word| text.starts_with(word));
        // Free items follow the types; their path ends in a module, whose name is in lower case.
        let path = text.split(['(', ':', '=']).next().unwrap_or_default();
        let is_free = !path.contains('<') && !text.split('(').next().is_some_and(names_a_type);
        in_trait_impl &= !is_type && !is_free;
        let is_item =
            ["fn ", "const ", "static ", "type ", "macro ", "unsafe "].iter().any(|word| text.starts_with(word));
        let is_field = !is_item && text.contains(": ");
        count += usize::from(!in_trait_impl && (is_type || is_item || is_field));
    }
    count
}

/// Whether a segment of the path in front of the last one is a type's.
fn names_a_type(path: &str) -> bool {
    let mut segments = path.rsplit("::").skip(1);
    segments.any(|segment| segment.trim_start().starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Lines of one text that the other lacks, with `-` or `+` in front, in the order of the texts.
fn difference(expected: &str, found: &str) -> Vec<String> {
    let missing = |lines: &str, line: &str| !lines.lines().any(|other| other == line);
    let removed = expected.lines().filter(|line| missing(found, line)).map(|line| format!("-{line}"));
    let added = found.lines().filter(|line| missing(expected, line)).map(|line| format!("+{line}"));
    removed.chain(added).collect()
}
