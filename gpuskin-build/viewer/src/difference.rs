//! Difference of the source from the drawn model per vertex, computed from the differences that a report contains.

use glam::{Vec3, Vec4};
use gpuskin_rt::internals::vertex::{self, Vertex};
use gpuskin_rt::internals::{Affine3, ClipRecord, Data, Payload, Texels};
use gpuskin_rt::{InstanceRecord, Model, Time};

/// Numbers as multiples of a step: `RoundedValues` of the baker.
type Rounded = (f32, Vec<i8>);
/// Metres per step, steps at frames, and steps midway between them: `ClipDifference` of the baker.
pub(crate) type ClipDifference = (f32, Vec<i8>, Vec<i8>);
/// Boxes of bones, and differences of positions, weights and influences: `SourceMesh` of the baker.
pub(crate) type SourceMesh = (Vec<(u32, [f32; 3], [f32; 3])>, Rounded, Vec<i32>, Vec<(u32, u32, f32)>);

/// Weight of a step of a difference of weights.
const WEIGHT_STEP: f32 = 1.0 / (1 << 16) as f32;

/// Differences of a model in bone mode.
#[derive(Debug)]
pub(crate) struct Differences {
    boxes: Vec<BoneBox>,
    /// Index into `boxes` of each bone.
    box_of: Vec<Option<usize>>,
    clips: Vec<ClipDifference>,
    vertices: Vec<SourceVertex>,
    records: Vec<ClipRecord>,
}

/// Box around the vertices that a bone moves, in the bind pose, metres.
#[derive(Clone, Copy, Debug)]
struct BoneBox {
    centre: Vec3,
    half: Vec3,
}

/// A vertex of the source beside its drawn one.
#[derive(Debug)]
struct SourceVertex {
    /// Position of the drawn vertex, metres.
    position: Vec3,
    /// Source minus drawn position, metres.
    moved: Vec3,
    influences: Vec<Influence>,
}

#[derive(Clone, Copy, Debug)]
struct Influence {
    bone: usize,
    /// Weight of the drawn vertex.
    drawn: f32,
    /// Source minus drawn weight.
    lost: f32,
}

impl Differences {
    /// Returns the differences of a model; `None` if the report has none of it.
    pub(crate) fn new(model: &Model, source: SourceMesh, clips: Vec<ClipDifference>) -> Option<Self> {
        let (boxes, positions, weights, dropped) = source;
        let meta = &model.meta;
        if boxes.is_empty() || meta.encoding.is_vertex() {
            return None;
        }
        let bones = meta.bones.len();
        let mut box_of = vec![None; bones];
        for (index, (bone, ..)) in boxes.iter().enumerate() {
            *box_of.get_mut(*bone as usize)? = Some(index);
        }
        let boxes: Vec<_> =
            boxes.into_iter().map(|(_, centre, half)| BoneBox { centre: centre.into(), half: half.into() }).collect();
        let (mut weights, mut dropped) = (weights.into_iter(), dropped.into_iter().peekable());
        let mut positions = positions
            .1
            .chunks_exact(3)
            .map(|steps| positions.0 * Vec3::new(f32::from(steps[0]), f32::from(steps[1]), f32::from(steps[2])));
        let mut vertices = Vec::new();
        for (number, vertex) in (0_u32..).zip(unpacked(model)?) {
            let mut influences: Vec<Influence> = Vec::new();
            for (bone, drawn) in vertex.joints.into_iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0) {
                let lost = if influences.is_empty() { 0.0 } else { weights.next()? as f32 * WEIGHT_STEP };
                influences.push(Influence { bone: bone as usize, drawn, lost });
            }
            while let Some((_, bone, weight)) = dropped.next_if(|(vertex, ..)| *vertex == number) {
                influences.push(Influence { bone: bone as usize, drawn: 0.0, lost: weight });
            }
            // The weights of the source sum to 1.
            let rest = 1.0 - influences.iter().map(|influence| influence.drawn + influence.lost).sum::<f32>();
            if let Some(first) = influences.first_mut() {
                first.lost = rest;
            }
            if influences.iter().any(|influence| influence.bone >= bones) {
                return None;
            }
            vertices.push(SourceVertex { position: vertex.position, moved: positions.next()?, influences });
        }
        let records = meta.clips.iter().map(|clip| clip.record()).collect();
        Some(Self { boxes, box_of, clips, vertices, records })
    }

    /// Returns source minus drawn position of each vertex at a time of a clip, seconds; model space, metres. `record`:
    /// instance that plays the clip.
    pub(crate) fn at(&self, model: &Model, record: &InstanceRecord, clip: usize, seconds: f64) -> Option<Vec<Vec3>> {
        let info = model.meta.clips.get(clip)?;
        let at = if info.duration > 0.0 { f64::from(info.intervals) * seconds / info.duration } else { 0.0 };
        let frame = at.max(0.0).floor();
        let terms = self.terms(clip, frame as usize, (at - frame) as f32)?;
        let drawn = texels(model)?.pose(record.pose_blend(&self.records, Time::from(seconds)));
        (drawn.len() >= self.box_of.len())
            .then(|| self.vertices.iter().map(|vertex| self.of_vertex(vertex, &terms, &drawn)).collect())
    }

    /// Returns the rows of each box after a frame: metres in units of the box. `t`: time in intervals, 0..1.
    fn terms(&self, clip: usize, frame: usize, t: f32) -> Option<Vec<[Vec4; 3]>> {
        let (step, at_frames, between) = self.clips.get(clip)?;
        let frames = at_frames.len() / (12 * self.boxes.len());
        let intervals = frames.checked_sub(1)?;
        // The last frame has none after it.
        let (frame, t) = if frame < intervals { (frame, t) } else { (intervals, 0.0) };
        let value = |term: usize| {
            let steps = at_frames.get(term * frames + frame..)?;
            let first = f32::from(*steps.first()?);
            if frame == intervals {
                return Some(step * first);
            }
            let bend = f32::from(*between.get(term * intervals + frame)?);
            let line = first * (1.0 - t) + f32::from(*steps.get(1)?) * t;
            Some(step * (line + bend * (1.0 - (2.0 * t - 1.0).abs())))
        };
        let values = (0..12 * self.boxes.len()).map(value).collect::<Option<Vec<f32>>>()?;
        let row = |terms: &[f32], row: usize| Vec4::from_slice(&terms[4 * row..]);
        Some(values.chunks_exact(12).map(|terms| [0, 1, 2].map(|r| row(terms, r))).collect())
    }

    fn of_vertex(&self, vertex: &SourceVertex, terms: &[[Vec4; 3]], drawn: &[Affine3]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for Influence { bone, drawn: weight, lost } in &vertex.influences {
            if let Some(index) = self.box_of[*bone].filter(|_| *weight > 0.0) {
                let at = self.boxes[index].side(vertex.position).extend(1.0);
                sum += *weight * Vec3::from(terms[index].map(|row| row.dot(at)));
            }
            // The lost weight is small: the drawn matrix stands for that of the source.
            let matrix = &drawn[*bone];
            let moved = *weight * vertex.moved + *lost * (vertex.position + vertex.moved);
            sum += matrix.direction(moved) + *lost * Vec3::from(matrix.translation());
        }
        sum
    }
}

impl BoneBox {
    /// Returns a position in units of half of the size of the box, from its centre.
    fn side(&self, position: Vec3) -> Vec3 {
        let axis = |axis: usize| match self.half[axis] {
            half if half > 0.0 => (position[axis] - self.centre[axis]) / half,
            _ => 0.0,
        };
        Vec3::new(axis(0), axis(1), axis(2))
    }
}

fn bytes(payload: &Payload) -> Option<&[u8]> {
    let Data::Bytes(bytes) = &payload.data else { return None };
    Some(bytes)
}

/// Returns the vertices of a model.
pub(crate) fn unpacked(model: &Model) -> Option<Vec<Vertex>> {
    let mesh = &model.meta.mesh;
    let range = mesh.vertices;
    let bytes = bytes(&model.mesh)?.get(range.offset as usize..)?.get(..range.len as usize)?;
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Some(words.chunks_exact(mesh.format.words()).map(|words| vertex::unpack(words, mesh.format, &mesh.range)).collect())
}

/// Returns the animation texture of a model, if it is whole.
fn texels(model: &Model) -> Option<Texels<'_>> {
    let range = model.animation.levels.first()?;
    let level = bytes(&model.animation)?.get(range.offset as usize..)?.get(..range.len as usize)?;
    Texels::new(model.meta.encoding, model.meta.texture, level)
}
