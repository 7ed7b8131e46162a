//! Difference of the source from a model in bone mode.

use glam::{Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::{Affine3, ClipRecord};
use gpuskin_rt::{InstanceRecord, Model, Time};

use crate::unpack::texels;

/// Numbers as multiples of a step: `RoundedValues` of the baker.
type Rounded = (f32, Vec<i8>);
/// Boxes of bones, and differences of positions, weights and influences: `SourceMesh` of the baker.
pub(crate) type SourceMesh = (Vec<(u32, [f32; 3], [f32; 3])>, Rounded, Vec<i32>, Vec<(u32, u32, f32)>);

/// Weight of a step of a difference of weights.
const WEIGHT_STEP: f32 = 1.0 / (1 << 16) as f32;

/// Differences of vertices with bones. The values at a time are the rows of each box.
#[derive(Debug)]
pub(crate) struct BoneDifferences {
    boxes: Vec<BoneBox>,
    /// Index into `boxes` of each bone.
    box_of: Vec<Option<usize>>,
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

impl BoneDifferences {
    /// Returns the differences of a model; `None` if the report has none of it.
    pub(crate) fn new(model: &Model, vertices: &[Vertex], source: SourceMesh) -> Option<Self> {
        let (boxes, positions, weights, dropped) = source;
        let meta = &model.meta;
        if boxes.is_empty() {
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
        let mut sources = Vec::new();
        for (number, vertex) in (0_u32..).zip(vertices) {
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
            sources.push(SourceVertex { position: vertex.position, moved: positions.next()?, influences });
        }
        let records = meta.clips.iter().map(|clip| clip.record()).collect();
        Some(Self { boxes, box_of, vertices: sources, records })
    }

    /// Returns the number of values at a time.
    pub(crate) fn values(&self) -> usize {
        12 * self.boxes.len()
    }

    /// Returns source minus drawn position of each vertex at a time, seconds; model space, metres. `values`: those of the time.
    pub(crate) fn of_vertices(
        &self,
        model: &Model,
        record: &InstanceRecord,
        seconds: f64,
        values: &[f32],
    ) -> Option<Vec<Vec3>> {
        let row = |terms: &[f32], row: usize| Vec4::from_slice(&terms[4 * row..]);
        let rows: Vec<[Vec4; 3]> = values.chunks_exact(12).map(|terms| [0, 1, 2].map(|r| row(terms, r))).collect();
        let drawn = texels(model)?.pose(record.pose_blend(&self.records, Time::from(seconds)));
        (drawn.len() >= self.box_of.len())
            .then(|| self.vertices.iter().map(|vertex| self.of_vertex(vertex, &rows, &drawn)).collect())
    }

    fn of_vertex(&self, vertex: &SourceVertex, rows: &[[Vec4; 3]], drawn: &[Affine3]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for Influence { bone, drawn: weight, lost } in &vertex.influences {
            if let Some(index) = self.box_of[*bone].filter(|_| *weight > 0.0) {
                let at = self.boxes[index].side(vertex.position).extend(1.0);
                sum += *weight * Vec3::from(rows[index].map(|row| row.dot(at)));
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
