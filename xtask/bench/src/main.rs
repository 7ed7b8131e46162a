//! Measures the promises of this project, each compared with its baseline in one run.
//!
//! ```text
//! gpuskin-bench [bake] [textures] [normals] [encode] [events] [startup] [cpu] [live] [draw] [influences] [morphs] [lods] [models] [material] [moving] [flock] [fill] [foxes] [million]
//!               [--manifest FILE] [--models FOLDER] [--count N,..] [--vertices N,..] [--bevy FILE] [--json FILE] [--svg FILE]
//!               [--pictures FOLDER]
//! ```

mod bake;
mod context;
mod cpu;
mod draw;
mod encode;
mod event_queue;
mod fade;
mod fill;
mod foxes;
mod glb;
mod live;
mod million;
mod normals;
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

/// Command-line options.
#[derive(Debug, Default)]
pub(crate) struct Options {
    sections: Vec<String>,
    /// Manifest of the sample models.
    manifest: PathBuf,
    /// Folder of glTF models to bake.
    models: Option<PathBuf>,
    /// Numbers of instances to draw: one table per number.
    counts: Vec<u32>,
    /// Numbers of vertices of tubes that are drawn instead of the sample models.
    vertices: Vec<u32>,
    /// Program of `xtask/bench-bevy`, for `foxes`.
    bevy: Option<PathBuf>,
    /// Files for the printed tables, as JSON and as an SVG picture.
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
    /// Folder for the pictures of `lods`.
    pictures: Option<PathBuf>,
}

const SECTIONS: [&str; 19] = [
    "bake",
    "textures",
    "normals",
    "encode",
    "events",
    "startup",
    "cpu",
    "live",
    "draw",
    "influences",
    "morphs",
    "lods",
    "models",
    "material",
    "moving",
    "flock",
    "fill",
    "foxes",
    "million",
];

const HELP: &str = "\
Usage: gpuskin-bench [SECTION]... [OPTION]...

Sections: bake, textures, normals, encode, events, startup, cpu, live, draw, influences, morphs, lods, models, material, moving, flock, fill, foxes, million [default: all].

  --manifest FILE    manifest of the sample models
  --models FOLDER    folder of glTF models, for bake, textures, encode and foxes (FOLDER/Fox/Fox.glb)
  --count N,N,..     draw, models, material, moving, flock, foxes, million: numbers of instances, one table per number
  --vertices N,N,..  draw: tubes of N vertices and 64 bones instead of the sample models
  --bevy FILE        foxes: program of xtask/bench-bevy to compare with
  --json FILE        writes the printed tables as JSON
  --svg FILE         draws the tables of draw and foxes as an SVG picture
  --pictures FOLDER  lods: writes the pictures as PPM files
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
        event_queue::measure();
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
        if wanted("influences") {
            draw::tubes::influences(&context, options)?;
        }
        if wanted("morphs") {
            draw::tubes::morphs(&context, options)?;
        }
        if wanted("lods") {
            draw::lods::measure(&context, options)?;
        }
        if wanted("material") {
            draw::material::measure(&context, options)?;
        }
        if wanted("models") {
            draw::models::measure(&context, options)?;
        }
        if wanted("moving") {
            draw::moving::measure(&context, options)?;
        }
        if wanted("flock") {
            draw::flock::measure(&context, options)?;
        }
        if wanted("draw") {
            draw::measure(&context, options)?;
        }
        if wanted("fill") {
            fill::measure(&context)?;
        }
        // The foxes are not part of this repository: they need a folder, or to be asked for by
        // name.
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
            Long("pictures") => options.pictures = Some(parser.value().map_err(failed)?.into()),
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

/// Parses a list of numbers such as `100,1000`.
fn numbers(option: &str, value: std::ffi::OsString) -> Result<Vec<u32>, String> {
    let text = value.to_string_lossy();
    let number = |n: &str| {
        n.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("{option}: expected numbers above 0, found `{n}`"))
    };
    text.split(',').map(number).collect()
}
