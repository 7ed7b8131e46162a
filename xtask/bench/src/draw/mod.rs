//! Frames on the GPU: a crowd against the same meshes drawn static, and in other ways, in one run.
//!
//! The static side is the cheapest that shows the same surface: 16 bytes a vertex in one attribute (position, octahedral
//! normal, texture coordinates), a 32-byte transform an instance, no clock, no bones. All sides draw the same triangles
//! in the same order at the same places with the same plain shading. A crowd's frame has culling and poses in it.

mod fixed;
mod gpu;
mod naive;
mod scene;
mod side;
mod subjects;
mod tube;

use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, line, median, time};
use gpuskin_rt::Encoding;

pub(crate) use gpu::{Frame, Timer, target};
use scene::{Scene, Work};
use side::Shows;
use subjects::{Subject, subjects};

/// Pixels of the picture.
pub(crate) const SIZE: [u32; 2] = [1920, 1080];
const FRAMES: usize = 21;
/// Of the pixels that are covered, how many may show something else: those along edges.
const MOST_OTHER: f64 = 0.1;
/// Where the device is a program.
const SOFTWARE_FRAMES: usize = 9;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let software = context.is_software();
    let counts = match &options.counts[..] {
        [] if software => &[200][..],
        [] => &[10_000],
        counts => counts,
    };
    let frames = if software { SOFTWARE_FRAMES } else { FRAMES };
    for subject in subjects(context, options)? {
        for &count in counts {
            table(context, &subject, count, frames)?;
        }
    }
    Ok(())
}

/// One mesh, so many times.
fn table(context: &Context, subject: &Subject, count: u32, frames: usize) -> Result<(), String> {
    let meta = &subject.model.meta;
    let triangles: u32 = meta.mesh.parts.iter().map(|p| p.index_count / 3).sum();
    heading(&format!(
        "draw: {count} of {}, {} vertices, {triangles} triangles, {} bones; all in view, mixed clips and phases, {} x {}",
        meta.name,
        meta.mesh.vertex_count,
        meta.bones.len(),
        SIZE[0],
        SIZE[1],
    ));
    let scene = Scene::new(context, subject, count)?;
    let works = scene.works();
    let mut times = vec![Vec::new(); works.len()];
    // Interleaved, so that clocks and what else the machine does fall on all.
    for frame in 0..frames {
        for (work, times) in works.iter().zip(&mut times) {
            let time = scene.frame(context, work, frame as f64 * 0.1)?;
            if frame > 0 {
                times.push(time);
            }
        }
    }
    let first = works.iter().find(|work| matches!(work, Work::Side { side, .. } if side.is_first()));
    for (name, work) in works.iter().filter_map(|work| Some((work.same_picture()?, work))) {
        let Some(first) = first else { break };
        let others = scene.others(context, [first, work])?;
        line(&format!("of the palette's picture, other pixels: {name}"), format!("{:9.3} %", others * 100.0));
        if others > MOST_OTHER {
            return Err(format!("{name} draws another picture: its time means nothing"));
        }
    }
    let medians: Vec<(&Work<'_>, f64)> = works.iter().zip(times.into_iter().map(median)).collect();
    let of = |wanted: fn(&Work<'_>) -> bool| medians.iter().find(|(work, _)| wanted(work)).map_or(f64::NAN, |m| m.1);
    let fixed = ("static", of(|work| matches!(work, Work::Fixed { shadows: false })));
    let shadows = ("static with four", of(|work| matches!(work, Work::Fixed { shadows: true })));
    let ours = of(|work| matches!(work, Work::Side { side, shows: Shows::Plain } if side.is_first()));
    let shared = |work: &Work<'_>| matches!(work, Work::Side { side, .. } if side.asks.shared);
    let choices = || medians.iter().filter(|(work, _)| work.is_a_choice());
    let best_of = |grid: bool| choices().filter(|m| grid || !shared(m.0)).map(|m| m.1).fold(f64::INFINITY, f64::min);
    let with_grid = choices().find(|m| shared(m.0)).map(|m| m.1);
    for (work, seconds) in medians.iter().copied() {
        match work {
            Work::Fixed { shadows: false } => time("static", seconds),
            Work::Fixed { shadows: true } => time("static, four shadow passes", seconds),
            Work::Naive => {
                let asked = (!context.is_software()).then_some(Asked::AtLeast(1.65));
                compared("the shader of articles: 4 bones x 3 texels x 2 frames", seconds, ("ours", ours), asked);
            }
            Work::Side { side, shows } => {
                let path = side.path();
                let (name, asked) = match (shows, side.asks.behaves, side.suns.is_empty()) {
                    (Shows::Nothing, ..) => ("culling and poses, nothing drawn".to_owned(), None),
                    (Shows::Textured, ..) => ("CrowdRenderer::draw, textured".to_owned(), None),
                    (_, false, true) => (path.clone(), Some(Asked::AtMost(1.03))),
                    (_, true, true) => ("  20 % mid-crossfade, 10 % with a layer".into(), Some(Asked::AtMost(1.06))),
                    (_, false, false) => (format!("{path}, four shadow passes"), Some(Asked::AtMost(1.06))),
                    (_, true, false) => ("  20 %, 10 % so, four shadow passes".into(), Some(Asked::AtMost(1.06))),
                };
                let asked = asked.filter(|_| !context.is_software() && side.encoding() == Encoding::LocalPacked);
                match shows {
                    Shows::Nothing => time(&name, seconds),
                    _ => compared(&name, seconds, if side.suns.is_empty() { fixed } else { shadows }, asked),
                }
            }
        }
    }
    if ours.is_finite() {
        let asked = "at most 1.05 is asked";
        line(&format!("the path that is chosen over the best ({asked})"), format!("{:9.2} x", ours / best_of(false)));
        if let Some(seconds) = with_grid {
            line(&format!("the same with a grid of moments ({asked})"), format!("{:9.2} x", seconds / best_of(true)));
        }
    }
    Ok(())
}
