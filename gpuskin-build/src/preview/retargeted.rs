//! Sheets of retargeted clips: the skeleton of the source above the model.

use glam::{DMat4, Vec3};

use super::canvas::Rgb;
use super::draw::PreviewScene;
use super::framing::{self, ClipExtent, Framing};
use super::labels;
use super::layout::{self, CELL, Layout};
use super::options::PreviewModel;
use super::sheet::{ASPECT, Page, Sheet};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::displacement::Displacement;
use crate::gpu::Gpu;
use crate::model::SourceMotion;
use crate::sample::Sampler;

const BACKGROUND: Rgb = [222, 224, 228];
const BONE: Rgb = [34, 38, 46];
/// Width of a bone in pixels.
const BONE_WIDTH: f32 = 3.0;

/// Positions of the joints of a skeleton at some times. `[time][bone]`: both ends.
type Poses = Vec<Vec<[Vec3; 2]>>;

impl Sheet {
    /// Draws the selected clips that are retargeted, with the skeletons of their sources, scaled to the model.
    pub(super) fn retargeted(gpu: Gpu, model: &PreviewModel) -> Result<Vec<Self>, Diagnostic> {
        let source = |clip: usize| model.source.clips.get(clip).and_then(|clip| clip.retargeted_from.as_ref());
        let clips: Vec<usize> = model.clips.iter().copied().filter(|clip| source(*clip).is_some()).collect();
        if clips.is_empty() {
            return Err(Diagnostic::error(DiagnosticCode::PreviewNotRetargeted, "none of the clips is retargeted"));
        }
        let times = model.times();
        let poses: Vec<Poses> = (0..times.len())
            .map(|clip| source(clip).map_or_else(Vec::new, |motion| poses(model, clip, motion, &times[clip])))
            .collect();
        let of_skeleton = |poses: &Poses| ClipExtent::of(poses.iter().flatten().flatten().copied(), model.camera);
        let outlines: Vec<ClipExtent> = model
            .outlines(&times)
            .into_iter()
            .zip(&poses)
            .map(|(clip, poses)| clip.union(of_skeleton(poses)))
            .collect();
        let mut scene = PreviewScene::new(gpu, model, CELL)?;
        let draw = |page: &Page<'_>| {
            let layout = Layout::retargeted(page.clips.len());
            let framings = framing::frame(&page.of(&outlines), model.camera, ASPECT);
            let scale = framing::common(&framings);
            let times = page.of(&times);
            let mut sheet = Self::blank(layout, &times);
            labels::header(&mut sheet.canvas, &layout, model.meta(), scale, &page.title);
            sheet.strip(&mut scene, model, 1, page.clips, &framings, &times)?;
            for (row, (&clip, framing)) in (0..).zip(page.clips.iter().zip(&framings)) {
                sheet.skeletons(row, framing, &poses[clip]);
                labels::clip(&mut sheet.canvas, &layout, row, model.meta(), clip, framing, scale);
                let file = model.source.clips[clip].file.as_deref().unwrap_or_default();
                labels::caption(&mut sheet.canvas, &layout, row, 0, "source", file);
                labels::caption(&mut sheet.canvas, &layout, row, 1, "retargeted", "");
            }
            sheet.write_times(&times);
            Ok(sheet)
        };
        Page::split(&clips, layout::MAX_RETARGETED_CLIPS).iter().map(draw).collect()
    }

    /// Draws the skeleton of a clip's source at each time.
    fn skeletons(&mut self, row: u32, framing: &Framing, poses: &Poses) {
        for (column, bones) in (0..).zip(poses) {
            let corner = self.layout.cell(row, 0, column);
            self.canvas.fill(corner, CELL, BACKGROUND);
            for ends in bones {
                let ends = ends.map(|end| framing.pixel(end, CELL));
                self.canvas.line((corner, CELL), ends, BONE_WIDTH, BONE);
            }
        }
    }
}

/// Returns the poses of a source in the baked scene, without the root motion that was taken out of the baked clip.
fn poses(model: &PreviewModel, clip: usize, motion: &SourceMotion, times: &[f64]) -> Poses {
    let sampler = Sampler::new(&motion.skeleton, Some(&motion.clip));
    let placed: DMat4 = model.source.root * motion.placed;
    let info = &model.meta().clips[clip];
    let displacement = info.root_motion.as_ref().map(|root| Displacement {
        planar: root.planar,
        keys: root.keys.to_vec(),
        duration: info.duration,
    });
    let pose = |&time: &f64| {
        let globals = sampler.globals(time);
        let to_scene = displacement.as_ref().map_or(placed, |displacement| displacement.undone(time) * placed);
        let at = |node: usize| to_scene.transform_point3(globals[node].w_axis.truncate()).as_vec3();
        motion.bones.iter().map(|bone| bone.map(at)).collect()
    };
    times.iter().map(pose).collect()
}
