//! Measures the scenes.

use std::path::Path;
use std::process::{Command, ExitCode};

use bevy::prelude::*;
use bevy::render::renderer::RenderAdapterInfo;

use crate::stage::Ready;
use crate::{Options, Scene, common, measure};

/// First word of the line that a process for one scene prints.
const RESULT: &str = "result";
/// First word of a line with the GPU time of one pass.
const PASS: &str = "pass";

/// Measures all scenes, each in a process of its own, and prints a table.
pub(crate) fn all(options: &Options) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("this program does not find its own file: {error}");
            return ExitCode::FAILURE;
        }
    };
    let taa = if options.taa { "temporal anti-aliasing" } else { "no temporal anti-aliasing" };
    println!("{} soldiers, {} frames, 1920 x 1080, {taa}, 4 shadow cascades", options.count, options.frames);
    println!("{}\n", measure::EXPLANATION);
    println!("{:<12}{}", "scene", measure::HEADINGS.map(|heading| format!("{heading:>9}")).concat());
    let mut result = ExitCode::SUCCESS;
    let mut adapter = String::new();
    for scene in Scene::ALL {
        if scene == Scene::Skinned && !cfg!(feature = "peers") {
            println!("{:<12}  not in this build: add --features peers", scene.name());
            continue;
        }
        let mut command = Command::new(&program);
        command.args(["--bench", "--scene", scene.name()]);
        command.args(["--count", &options.count.to_string(), "--frames", &options.frames.to_string()]);
        command.args(options.moving.then_some("--move")).args((!options.taa).then_some("--no-taa"));
        command.args(options.passes.then_some("--passes"));
        if let Some(path) = &options.headless {
            command.arg("--headless").arg(path.with_extension(format!("{}.png", scene.name())));
        }
        // Bevy's log is on stderr.
        let output = command.stderr(std::process::Stdio::inherit()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(RESULT));
        let Some((numbers, name)) = line.and_then(|line| line.split_once('|')) else {
            println!("{:<12}  failed: see the messages above", scene.name());
            result = ExitCode::FAILURE;
            continue;
        };
        let cells: String = numbers.split_whitespace().map(|cell| format!("{cell:>9}")).collect();
        println!("{:<12}{cells}", scene.name());
        text.lines().filter_map(|line| line.strip_prefix(PASS)).for_each(|line| println!("{line}"));
        adapter = name.trim().to_owned();
    }
    println!("\n{adapter}");
    result
}

/// Measures one scene, and prints a line for [`all`].
pub(crate) fn one(mut app: App, options: &Options) -> ExitCode {
    let numbers = match measure::measure(&mut app, options.frames, options.passes, is_ready) {
        Ok(numbers) => numbers,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{RESULT} {numbers} | {}", app.world().resource::<RenderAdapterInfo>().name);
    numbers.passes.iter().for_each(|(name, ms)| println!("{PASS}  {name:<40}{ms:>9.3}"));
    match &options.headless {
        Some(path) => common::save(&mut app, Path::new(path)),
        None => ExitCode::SUCCESS,
    }
}

/// Whether all soldiers are loaded.
fn is_ready(world: &World) -> bool {
    world.resource::<Ready>().0 >= world.resource::<Options>().count
}
