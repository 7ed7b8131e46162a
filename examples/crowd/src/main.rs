//! `crowd [--png FILE] [--count N] [--size WxH] [--watch DIR] [--hero]`

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crowd::frame::Stage;
use crowd::gpu::Gpu;
use crowd::reload::Watch;
use crowd::{Error, headless, window};

const HELP: &str = "\
Draws ten thousand soldiers and hounds: in a window if there is a display, else in a picture.

Usage: crowd [--png FILE] [--count N] [--size WxH] [--watch DIR] [--hero]

  --png FILE   draws one picture into a file [default without a display: crowd.png]
  --count N    number of instances [default: 10000]
  --size WxH   size in pixels [default: 1600x900]
  --watch DIR  loads the models from DIR/soldier and DIR/hound, and again whenever they change;
               gpuskin bake --manifest assets/gpuskin.toml --out OUT writes them to OUT/gpuskin
  --hero       in a picture: one soldier has its own animator, looks at the camera and waves
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crowd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let (mut png, mut count, mut size, mut watch, mut hero) = (None, 10_000, [1600, 900], None, false);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        use lexopt::prelude::*;
        match arg {
            Long("png") => png = Some(PathBuf::from(parser.value()?)),
            Long("count") => count = parser.value()?.parse()?,
            Long("size") => size = parser.value()?.parse_with(parse_size)?,
            Long("hero") => hero = true,
            Long("watch") => watch = Some(Watch::new(parser.value()?)),
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    match png {
        // The display may be set but not available: over ssh, in a container.
        None if window::has_display() => window::run(count, size, watch).or_else(|error| {
            eprintln!("no window ({error}); drawing a picture instead");
            write("crowd.png".as_ref(), count, size, None, hero)
        }),
        png => write(&png.unwrap_or_else(|| "crowd.png".into()), count, size, watch, hero),
    }
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.filter(|s| s.iter().all(|side| (1..=8192).contains(side))).ok_or("expected a size like 1600x900".into())
}

fn write(path: &Path, count: u32, size: [u32; 2], watch: Option<Watch>, hero: bool) -> Result<(), Error> {
    let gpu = Gpu::headless()?;
    println!("{}\n{count} instances", gpu.name());
    let mut stage = Stage::new(&gpu.device, &gpu.queue, headless::FORMAT, count)?;
    if let Some(watch) = watch {
        stage.reload(&watch.load()?)?;
    }
    if hero {
        stage.scene.add_hero()?;
    }
    if stderr().is_terminal() {
        eprintln!("drawing; this takes a minute on a CPU");
    }
    let begun = Instant::now();
    let picture = headless::picture(&gpu.device, &gpu.queue, &mut stage, size)?;
    let seconds = begun.elapsed().as_secs_f64();
    picture.write(path)?;
    println!("{}: {}x{} pixels, drawn in {seconds:.2} s", path.display(), size[0], size[1]);
    Ok(())
}
