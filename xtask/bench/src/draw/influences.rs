//! Frame times of vertices with eight influences over those with four, in one run: tubes of the same
//! triangles on the same 64 bones.

use super::scene::{Scene, Work};
use super::subjects::{InfluenceCount, tubes_of};
use super::{FRAMES, SOFTWARE_FRAMES};
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median, time};

/// Vertices of the tubes.
const VERTICES: u32 = 3_000;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let (count, frames) = match context.is_software() {
        true => (options.counts.first().copied().unwrap_or(200), SOFTWARE_FRAMES),
        false => (options.counts.first().copied().unwrap_or(10_000), FRAMES),
    };
    let subjects = tubes_of(&[(VERTICES, InfluenceCount::Four), (VERTICES, InfluenceCount::Eight)])?;
    heading(&format!(
        "influences: {count} instances of a tube of {VERTICES} vertices, 64 bones; four and eight influences"
    ));
    let scenes = [Scene::new(context, &subjects[0], count)?, Scene::new(context, &subjects[1], count)?];
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
    for (work, [four, eight]) in works[0].iter().zip(times) {
        let Work::Side { side, .. } = work else { continue };
        let (four, eight) = (median(four), median(eight));
        time(&format!("{}, four influences", side.path()), four);
        let asked = (!context.is_software()).then_some(Asked::AtMost(1.02));
        compared(&format!("{}, eight influences", side.path()), eight, ("four", four), asked);
    }
    Ok(())
}
