//! Difference of the source from the drawn model, computed from the values that a report contains.

use glam::Vec3;
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::{InstanceRecord, Model};

use crate::bone_difference::{BoneDifferences, SourceMesh};
use crate::unpack::unpacked;

/// Metres per step at frames and between them, steps at frames, and steps midway between them: `ClipDifference` of the baker.
pub(crate) type ClipDifference = (f32, f32, Vec<i8>, Vec<i8>);

/// Differences of a model.
#[derive(Debug)]
pub(crate) struct Differences {
    clips: Vec<ClipDifference>,
    values: Values,
}

/// Meaning of the values at a time.
#[derive(Debug)]
enum Values {
    Bones(BoneDifferences),
    /// Three per row of the animation texture: source minus drawn position, metres. Has the row of each vertex.
    Rows(Vec<usize>),
}

impl Differences {
    /// Returns the differences of a model; `None` if the report has none of it.
    pub(crate) fn new(model: &Model, source: SourceMesh, clips: Vec<ClipDifference>) -> Option<Self> {
        let vertices = unpacked(model)?;
        let encoding = model.meta.encoding;
        let values = match encoding.is_vertex() {
            false => Values::Bones(BoneDifferences::new(model, &vertices, source)?),
            true => {
                let row = |vertex: &Vertex| vertex.joints[0].checked_sub(encoding.range_rows()).map(|row| row as usize);
                Values::Rows(vertices.iter().map(row).collect::<Option<_>>()?)
            }
        };
        // Clips without values are too large for a report.
        let whole = !clips.is_empty() && clips.iter().all(|(_, _, at_frames, _)| !at_frames.is_empty());
        whole.then_some(Self { clips, values })
    }

    /// Returns source minus drawn position of each vertex at a time of a clip, seconds; model space, metres. `record`:
    /// instance that plays the clip.
    pub(crate) fn at(&self, model: &Model, record: &InstanceRecord, clip: usize, seconds: f64) -> Option<Vec<Vec3>> {
        let info = model.meta.clips.get(clip)?;
        let at = if info.duration > 0.0 { f64::from(info.intervals) * seconds / info.duration } else { 0.0 };
        let frame = at.max(0.0).floor();
        let (frame, t) = (frame as usize, (at - frame) as f32);
        match &self.values {
            Values::Bones(bones) => {
                let values = interpolated(self.clips.get(clip)?, bones.values(), frame, t)?;
                bones.of_vertices(model, record, seconds, &values)
            }
            Values::Rows(rows) => {
                let count = 3 * rows.iter().max()? + 3;
                let values = interpolated(self.clips.get(clip)?, count, frame, t)?;
                Some(rows.iter().map(|row| Vec3::from_slice(&values[3 * row..])).collect())
            }
        }
    }
}

/// Returns `count` values of a clip after a frame. `t`: time in intervals, 0..1.
fn interpolated(clip: &ClipDifference, count: usize, frame: usize, t: f32) -> Option<Vec<f32>> {
    let (step, step_between, at_frames, between) = clip;
    let intervals = at_frames.len().checked_div(count)?.checked_sub(1)?;
    // The last frame has none after it.
    let (frame, t) = if frame < intervals { (frame, t) } else { (intervals, 0.0) };
    let value = |value: usize| {
        let steps = at_frames.get(value * (intervals + 1) + frame..)?;
        let first = f32::from(*steps.first()?);
        if frame == intervals {
            return Some(step * first);
        }
        let bend = f32::from(*between.get(value * intervals + frame)?);
        let line = first * (1.0 - t) + f32::from(*steps.get(1)?) * t;
        Some(step * line + step_between * bend * (1.0 - (2.0 * t - 1.0).abs()))
    };
    (0..count).map(value).collect()
}
