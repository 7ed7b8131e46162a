//! `field [--png FILE] [--size WxH] [--time SECONDS]`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use field::{Error, Gpu, Meadow};

const HELP: &str = "\
Draws a meadow in the wind into a picture.

Usage: field [--png FILE] [--size WxH] [--time SECONDS]

  --png FILE      file of the picture [default: field.png]
  --size WxH      size in pixels [default: 1600x900]
  --time SECONDS  time of the picture [default: 2.0]
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("field: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let (mut png, mut size, mut time) = (PathBuf::from("field.png"), [1600, 900], 2.0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        use lexopt::prelude::*;
        match arg {
            Long("png") => png = parser.value()?.into(),
            Long("size") => size = parser.value()?.parse_with(parse_size)?,
            Long("time") => time = parser.value()?.parse()?,
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let gpu = Gpu::open()?;
    let mut meadow = Meadow::new(&gpu)?;
    let begun = Instant::now();
    let picture = meadow.picture(&gpu, size, time)?;
    let seconds = begun.elapsed().as_secs_f64();
    picture.write(&png)?;
    println!("{}: {} tufts of grass, drawn in {seconds:.2} s", png.display(), meadow.len());
    Ok(())
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.filter(|s| s.iter().all(|side| (1..=8192).contains(side))).ok_or("expected a size like 1600x900".into())
}
