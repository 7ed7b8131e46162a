//! Frame times of two tubes of the same triangles on the same 64 bones, in one run: eight influences over four, and
//! morph targets over none.

use gpuskin_rt::RendererDescriptor;

use super::scene::{Scene, Work};
use super::subjects::tubes_of;
use super::tube::TubeKind;
use super::{FRAMES, SOFTWARE_FRAMES};
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median, time};

/// Vertices of the tubes.
const VERTICES: u32 = 3_000;

/// Two kinds of tubes, with their names and the greatest ratio of their frame times that is asked for.
struct Pair {
    kinds: [TubeKind; 2],
    names: [&'static str; 2],
    short: &'static str,
    most: f64,
    /// Allowed LOD error, pixels.
    lod_error: f32,
}

/// Eight influences over four: where culling may leave influences out, and where it may not.
pub(crate) fn influences(context: &Context, options: &Options) -> Result<(), String> {
    for lod_error in [RendererDescriptor::default().lod_error, 0.0] {
        let names = ["four influences", "eight influences"];
        let kinds = [TubeKind::Four, TubeKind::Eight];
        measure(context, options, &Pair { kinds, names, short: "four", most: 1.02, lod_error })?;
    }
    Ok(())
}

/// Morph targets over none.
pub(crate) fn morphs(context: &Context, options: &Options) -> Result<(), String> {
    let names = ["no morph targets", "20 of 50 morph targets"];
    let kinds = [TubeKind::Four, TubeKind::Morphs];
    measure(context, options, &Pair { kinds, names, short: "none", most: 1.1, lod_error: 0.0 })
}

fn measure(context: &Context, options: &Options, pair: &Pair) -> Result<(), String> {
    let (count, frames) = match context.is_software() {
        true => (options.counts.first().copied().unwrap_or(200), SOFTWARE_FRAMES),
        false => (options.counts.first().copied().unwrap_or(10_000), FRAMES),
    };
    let subjects = tubes_of(&pair.kinds.map(|kind| (VERTICES, kind)))?;
    let [first, second] = pair.names;
    heading(&format!(
        "{count} instances of a tube of {VERTICES} vertices, 64 bones, allowed error {} pixels: {first}, {second}",
        pair.lod_error
    ));
    let scene = |subject| Scene::new(context, subject, count, pair.lod_error);
    let scenes = [scene(&subjects[0])?, scene(&subjects[1])?];
    let works: Vec<Vec<Work<'_>>> =
        scenes.iter().map(|scene| scene.works().into_iter().filter(Work::is_a_choice).collect()).collect();
    let mut times = vec![[Vec::new(), Vec::new()]; works[0].len()];
    for frame in 0..frames {
        for (path, times) in times.iter_mut().enumerate() {
            for (which, times) in times.iter_mut().enumerate() {
                let seconds = scenes[which].frame(context, &works[which][path], frame as f64 * 0.1)?;
                if frame > 0 {
                    times.push(seconds);
                }
            }
        }
    }
    for (works, [of_first, of_second]) in works[0].iter().zip(&works[1]).zip(times) {
        let (Work::Side { side, .. }, Work::Side { side: other, .. }) = works else { continue };
        // Models with morph targets do not share poses.
        if side.path() != other.path() {
            continue;
        }
        let (of_first, of_second) = (median(of_first), median(of_second));
        time(&format!("{}, {first}", side.path()), of_first);
        let asked = (!context.is_software()).then_some(Asked::AtMost(pair.most));
        compared(&format!("{}, {second}", side.path()), of_second, (pair.short, of_first), asked);
    }
    Ok(())
}
