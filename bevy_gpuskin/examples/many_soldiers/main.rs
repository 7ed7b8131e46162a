//! Ten thousand soldiers under a sun with four shadow cascades.
//!
//! ```text
//! cargo run --release --example many_soldiers --features window -- [--count N] [--move] [--scene NAME]
//! cargo run --release --example many_soldiers -- --headless out.png
//! cargo run --release --example many_soldiers --features peers -- --bench [--count N] [--frames N] [--move] [--no-taa] [--passes]
//! ```
//!
//! `--scene NAME` chooses what is drawn: `characters`, an entity each; `crowd`, one entity; `skinned`, Bevy's own skinned
//! meshes of the same model playing the same clip; `static`, Bevy's meshes in one pose; `empty`.
//!
//! `--bench` draws all scenes, each in a process of its own, to a texture of 1920 x 1080, and prints a table. `--move` moves all
//! soldiers in each frame. `--passes` prints the GPU time of each pass of Bevy, too. With the feature `peers`, cameras have temporal
//! anti-aliasing.

mod bench;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/measure.rs"]
mod measure;
#[cfg(feature = "peers")]
mod skinned;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;

use bevy::prelude::*;

use crate::common::Output;

/// Scene that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    Characters,
    Crowd,
    Skinned,
    Static,
    Empty,
}

impl Scene {
    const ALL: [Self; 5] = [Self::Characters, Self::Crowd, Self::Skinned, Self::Static, Self::Empty];

    const fn name(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Crowd => "crowd",
            Self::Skinned => "skinned",
            Self::Static => "static",
            Self::Empty => "empty",
        }
    }
}

#[derive(Resource, Clone, Debug)]
struct Options {
    count: u32,
    frames: usize,
    headless: Option<PathBuf>,
    bench: bool,
    moving: bool,
    taa: bool,
    /// Whether the bench prints the GPU time of each pass.
    passes: bool,
    /// `None`: characters, or all scenes one after the other with `bench`.
    scene: Option<Scene>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if options.bench && options.scene.is_none() {
        return bench::all(&options);
    }
    let output = match &options.headless {
        _ if options.bench => Output::Texture,
        Some(path) => Output::File(path.clone()),
        None => Output::Window,
    };
    let mut app = common::app(&output);
    stage::build(&mut app, &options);
    #[cfg(feature = "peers")]
    {
        skinned::embed(&mut app);
        if options.scene == Some(Scene::Skinned) {
            skinned::build(&mut app);
        }
    }
    if options.bench { bench::one(app, &options) } else { common::run(app, &output) }
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options {
        count: 10_000,
        frames: 200,
        headless: None,
        bench: false,
        moving: false,
        taa: cfg!(feature = "peers"),
        passes: false,
        scene: None,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("count") => options.count = parser.value()?.parse()?,
            Long("frames") => options.frames = parser.value()?.parse::<usize>()?.max(1),
            Long("headless") => options.headless = Some(parser.value()?.into()),
            Long("bench") => options.bench = true,
            Long("move") => options.moving = true,
            Long("no-taa") => options.taa = false,
            Long("passes") => options.passes = true,
            Long("scene") => {
                let name = parser.value()?.string()?;
                let scene = Scene::ALL.into_iter().find(|scene| scene.name() == name);
                let names = Scene::ALL.map(Scene::name).join(", ");
                options.scene = Some(scene.ok_or_else(|| format!("no scene {name}; there are {names}"))?);
            }
            other => return Err(other.unexpected()),
        }
    }
    if options.scene == Some(Scene::Skinned) && !cfg!(feature = "peers") {
        return Err("Bevy's skinned meshes are not in this build: add --features peers".into());
    }
    if options.headless.is_none() && !options.bench && !cfg!(feature = "window") {
        return Err("no window in this build: add --features window, or use --headless FILE.png".into());
    }
    Ok(options)
}
