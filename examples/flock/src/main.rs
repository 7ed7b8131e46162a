//! `flock [--png FILE] [--count N] [--size WxH] [--time SECONDS]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use flock::{Error, Flock, Gpu, Picture, window};

const HELP: &str = "\
Draws a hundred thousand starlings that steer themselves on the GPU: in a window if there is a display,
else in a picture.

Usage: flock [--png FILE] [--count N] [--size WxH] [--time SECONDS]

  --png FILE      draws one picture into a file [default without a display: flock.png]
  --count N       number of birds, at most 4000000 [default: 100000]
  --size WxH      size in pixels [default: 1600x900]
  --time SECONDS  time of the picture [default: 9.0]
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let (mut png, mut count, mut size, mut time) = (None, 100_000, [1600, 900], 9.0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        use lexopt::prelude::*;
        match arg {
            Long("png") => png = Some(PathBuf::from(parser.value()?)),
            Long("count") => count = parser.value()?.parse_with(parse_count)?,
            Long("size") => size = parser.value()?.parse_with(parse_size)?,
            Long("time") => time = parser.value()?.parse_with(parse_time)?,
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    match png {
        // The display may be set but not available: over ssh, in a container.
        None if window::has_display() => window::run(count, size).or_else(|error| {
            eprintln!("no window ({error}); drawing a picture instead");
            write("flock.png".as_ref(), count, size, time)
        }),
        png => write(&png.unwrap_or_else(|| "flock.png".into()), count, size, time),
    }
}

fn parse_count(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|count| (1..=4_000_000).contains(count)).ok_or("expected 1 to 4000000".into())
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.filter(|s| s.iter().all(|side| (1..=8192).contains(side))).ok_or("expected a size like 1600x900".into())
}

fn parse_time(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|time| (0.0..=3600.0).contains(time)).ok_or("expected 0 to 3600 seconds".into())
}

fn write(path: &Path, count: u32, size: [u32; 2], time: f64) -> Result<(), Error> {
    let gpu = Gpu::headless()?;
    let mut flock = Flock::new((&gpu.device, &gpu.queue), Picture::FORMAT, count)?;
    let begun = Instant::now();
    let picture = flock.picture(&gpu, size, time)?;
    let seconds = begun.elapsed().as_secs_f64();
    picture.write(path)?;
    let name = gpu.adapter.get_info().name;
    println!("{}: {count} starlings, {time} s of flight in {seconds:.2} s on {name}", path.display());
    Ok(())
}
