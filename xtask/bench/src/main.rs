//! Measures what the project promises, each promise beside what it is compared with, in one run.
//!
//! ```text
//! gpuskin-bench [bake] [textures] [normals] [encode] [events] [startup] [cpu] [live] [draw] [fill] [foxes] [million]
//!               [--manifest FILE] [--models FOLDER] [--count N,..] [--vertices N,..] [--bevy FILE] [--json FILE] [--svg FILE]
//! ```

mod bake;
mod context;
mod cpu;
mod draw;
mod encode;
mod fade;
mod fill;
mod foxes;
mod glb;
mod live;
mod million;
mod normals;
mod notices;
mod peer;
mod plot;
mod recording;
mod report;
mod startup;
mod textures;

use std::path::PathBuf;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

gpuskin_rt::include_baked!();

/// Counts allocations, for `startup`.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// What to measure, on what.
#[derive(Debug, Default)]
pub(crate) struct Options {
    sections: Vec<String>,
    /// The sample manifest.
    manifest: PathBuf,
    /// A folder of glTF models to bake.
    models: Option<PathBuf>,
    /// Instances to draw: a table each.
    counts: Vec<u32>,
    /// Vertices of tubes to draw instead of the sample models.
    vertices: Vec<u32>,
    /// The program of `xtask/bench-bevy`, for `foxes`.
    bevy: Option<PathBuf>,
    /// Files to write what was printed to, in numbers and as a picture.
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
}

const SECTIONS: [&str; 12] =
    ["bake", "textures", "normals", "encode", "events", "startup", "cpu", "live", "draw", "fill", "foxes", "million"];

const HELP: &str = "\
Usage: gpuskin-bench [SECTION]... [OPTION]...

Sections: bake, textures, normals, encode, events, startup, cpu, live, draw, fill, foxes, million; all of them where none is named.

  --manifest FILE    the sample manifest
  --models FOLDER    glTF models, for bake, textures, encode and foxes (FOLDER/Fox/Fox.glb)
  --count N,N,..     draw, foxes, million: instances, a table each
  --vertices N,N,..  draw: tubes of so many vertices and 64 bones instead of the sample models
  --bevy FILE        foxes: the program of xtask/bench-bevy, to compare with
  --json FILE        writes what was printed, in numbers
  --svg FILE         draws the tables of draw and foxes
";

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let wanted = |name: &str| options.sections.is_empty() || options.sections.iter().any(|s| s == name);
    if wanted("bake") {
        bake::measure(options)?;
    }
    if wanted("textures") {
        textures::measure(options)?;
    }
    if wanted("normals") {
        normals::measure(options)?;
    }
    if wanted("encode") {
        encode::measure(options)?;
    }
    if wanted("events") {
        notices::measure();
    }
    if SECTIONS[5..].iter().any(|name| wanted(name)) {
        let context = context::Context::new(&options.manifest)?;
        if wanted("startup") {
            startup::measure(&context)?;
        }
        if wanted("cpu") {
            cpu::measure(&context)?;
            recording::measure(&context)?;
        }
        if wanted("live") {
            live::measure(&context)?;
            fade::measure(&context)?;
        }
        if wanted("draw") {
            draw::measure(&context, options)?;
        }
        if wanted("fill") {
            fill::measure(&context)?;
        }
        // They are not this project's: only where they are.
        if wanted("foxes") && (options.models.is_some() || !options.sections.is_empty()) {
            foxes::measure(&context, options)?;
        }
        if wanted("million") {
            million::measure(&context, options)?;
        }
    }
    options.json.as_deref().map_or(Ok(()), report::write_json)?;
    options.svg.as_deref().map_or(Ok(()), plot::write)
}

fn options() -> Result<Options, String> {
    use lexopt::prelude::*;
    let mut options = Options { manifest: "assets/gpuskin.toml".into(), ..Options::default() };
    let mut parser = lexopt::Parser::from_env();
    let failed = |e: lexopt::Error| e.to_string();
    while let Some(arg) = parser.next().map_err(failed)? {
        match arg {
            Long("manifest") => options.manifest = parser.value().map_err(failed)?.into(),
            Long("models") => options.models = Some(parser.value().map_err(failed)?.into()),
            Long("count") => options.counts = numbers("--count", parser.value().map_err(failed)?)?,
            Long("vertices") => options.vertices = numbers("--vertices", parser.value().map_err(failed)?)?,
            Long("bevy") => options.bevy = Some(parser.value().map_err(failed)?.into()),
            Long("json") => options.json = Some(parser.value().map_err(failed)?.into()),
            Long("svg") => options.svg = Some(parser.value().map_err(failed)?.into()),
            Long("help") => {
                print!("{HELP}");
                std::process::exit(0);
            }
            Value(name) if SECTIONS.iter().any(|s| name == *s) => {
                options.sections.push(name.to_string_lossy().into_owned());
            }
            other => return Err(format!("{}; sections are {}", other.unexpected(), SECTIONS.join(", "))),
        }
    }
    Ok(options)
}

/// `100,1000`.
fn numbers(option: &str, value: std::ffi::OsString) -> Result<Vec<u32>, String> {
    let text = value.to_string_lossy();
    let number =
        |n: &str| n.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("{option}: `{n}` is no number above 0"));
    text.split(',').map(number).collect()
}
