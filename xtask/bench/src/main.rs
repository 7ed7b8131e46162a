//! Measures what the project promises, each promise beside what it is compared with, in one run.
//!
//! ```text
//! gpuskin-bench [bake] [textures] [encode] [events] [startup] [cpu] [live] [draw] [--manifest FILE] [--models FOLDER] [--count N]
//! ```

mod bake;
mod context;
mod cpu;
mod draw;
mod encode;
mod live;
mod notices;
mod peer;
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
#[derive(Debug)]
pub(crate) struct Options {
    sections: Vec<String>,
    /// The sample manifest.
    manifest: PathBuf,
    /// A folder of glTF models to bake.
    models: Option<PathBuf>,
    /// Instances to draw.
    count: Option<u32>,
}

const SECTIONS: [&str; 8] = ["bake", "textures", "encode", "events", "startup", "cpu", "live", "draw"];

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
    if wanted("encode") {
        encode::measure(options)?;
    }
    if wanted("events") {
        notices::measure();
    }
    if SECTIONS[4..].iter().any(|name| wanted(name)) {
        let context = context::Context::new(&options.manifest)?;
        if wanted("startup") {
            startup::measure(&context)?;
        }
        if wanted("cpu") {
            cpu::measure(&context)?;
        }
        if wanted("live") {
            live::measure(&context)?;
        }
        if wanted("draw") {
            draw::measure(&context, options.count)?;
        }
    }
    Ok(())
}

fn options() -> Result<Options, String> {
    use lexopt::prelude::*;
    let mut options =
        Options { sections: Vec::new(), manifest: "assets/gpuskin.toml".into(), models: None, count: None };
    let mut parser = lexopt::Parser::from_env();
    let failed = |e: lexopt::Error| e.to_string();
    while let Some(arg) = parser.next().map_err(failed)? {
        match arg {
            Long("manifest") => options.manifest = parser.value().map_err(failed)?.into(),
            Long("models") => options.models = Some(parser.value().map_err(failed)?.into()),
            Long("count") => options.count = Some(parser.value().map_err(failed)?.parse().map_err(failed)?),
            Long("help") => {
                println!("gpuskin-bench [{}] [--manifest FILE] [--models FOLDER] [--count N]", SECTIONS.join("] ["));
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
