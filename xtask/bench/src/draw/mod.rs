//! GPU frame times of a crowd, compared with the same meshes drawn static and with other methods,
//! in one run.
//!
//! The static baseline is the cheapest method that shows the same surface: 16 bytes per vertex in
//! one attribute (position, octahedral normal, texture coordinates), a 32-byte transform per
//! instance, no clock, no bones. All methods draw the same triangles in the same order at the same
//! positions with the same plain shading. A crowd's frame includes culling and poses.

pub(crate) mod first_frame;
mod fixed;
pub(crate) mod flock;
mod gpu;
pub(crate) mod lods;

pub(crate) mod material;
pub(crate) mod models;
pub(crate) mod moving;
mod naive;
mod placed;
mod scene;
mod side;
mod subjects;
mod tube;
pub(crate) mod tubes;

use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, line, median, time};
use gpuskin_rt::internals::Encoding;

use gpu::SIZE;
pub(crate) use gpu::{Frame, Timer, target};
use scene::{Scene, Work};
use side::Shows;
use subjects::{Subject, subjects};
const FRAMES: usize = 21;
/// Greatest fraction of the covered pixels that may differ between two methods; pixels along edges
/// do.
const MAX_DIFFERENT: f64 = 0.1;
/// Frames on a software renderer.
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

/// Measures `count` instances of one mesh with every method.
fn table(context: &Context, subject: &Subject, count: u32, frames: usize) -> Result<(), String> {
    let meta = &subject.model.meta;
    let triangles: u32 = meta.mesh.parts.iter().map(|p| p.index_count / 3).sum();
    heading(&format!(
        "draw: {count} instances of {}, {} vertices, {triangles} triangles, {} bones; all in view, mixed clips and phases, {} x {}",
        meta.name,
        meta.mesh.vertex_count,
        meta.bones.len(),
        SIZE[0],
        SIZE[1],
    ));
    let scene = Scene::new(context, subject, count, 0.0)?;
    let works = scene.works();
    let mut times = vec![Vec::new(); works.len()];
    // Interleaved, so that clock rates and other load on the machine affect all methods alike.
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
        line(&format!("pixels unlike the palette's picture: {name}"), format!("{:9.3} %", others * 100.0));
        if others > MAX_DIFFERENT {
            return Err(format!("{name} draws another picture, so that its time cannot be compared"));
        }
    }
    let medians: Vec<(&Work<'_>, f64)> = works.iter().zip(times.into_iter().map(median)).collect();
    let of = |wanted: fn(&Work<'_>) -> bool| medians.iter().find(|(work, _)| wanted(work)).map_or(f64::NAN, |m| m.1);
    let fixed = ("static", of(|work| matches!(work, Work::Fixed { shadows: false })));
    let shadows = ("static with four shadow passes", of(|work| matches!(work, Work::Fixed { shadows: true })));
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
                compared("published shader: 4 bones x 3 texels x 2 frames", seconds, ("gpuskin", ours), asked);
            }
            Work::Side { side, shows } => {
                let path = side.path();
                let (name, asked) = match (shows, side.asks.behaves, side.suns.is_empty()) {
                    (Shows::Nothing, ..) => ("culling and poses, without drawing".to_owned(), None),
                    (Shows::Textured, ..) => ("CrowdRenderer::draw, textured".to_owned(), None),
                    (_, false, true) => (path.clone(), Some(Asked::AtMost(1.03))),
                    (_, true, true) => ("  20 % mid-crossfade, 10 % with a layer".into(), Some(Asked::AtMost(1.06))),
                    (_, false, false) => (format!("{path}, four shadow passes"), Some(Asked::AtMost(1.06))),
                    (_, true, false) => {
                        ("  20 % fading, 10 % with a layer, four shadow passes".into(), Some(Asked::AtMost(1.06)))
                    }
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
        let asked = "target: at most 1.05";
        line(&format!("chosen draw path over the fastest ({asked})"), format!("{:9.2} x", ours / best_of(false)));
        if let Some(seconds) = with_grid {
            line(&format!("chosen draw path with a time grid ({asked})"), format!("{:9.2} x", seconds / best_of(true)));
        }
    }
    Ok(())
}
