//! `Plan -> BakedModel`: texels, errors and mesh.

use std::collections::BTreeMap;

use gpuskin_rt::vertex::{self, Vertex};
use gpuskin_rt::{
    Aabb, Data, Encoding, ErrorInfo, MeshInfo, Metadata, Model, Packing, Payload, Texels, VertexFormat, VertexRange,
};
use rayon::prelude::*;

use super::files::{self, FileSet};
use super::{BakeOptions, Plan, Stage};
use crate::encode::{self, Encoder, Misfit, Ranges};
use crate::finding::{Finding, Findings};
use crate::frames::{FrameGrid, rest_diagonal};
use crate::geometry::{Dropped, Geometry};
use crate::manifest::{Manifest, ModelEntry};
use crate::measure::{self, ClipErrors, Drawn, Times};
use crate::model::Clip;
use crate::sample::{Rows, Sampler};
use crate::units::length;

/// Packed weights are narrow where that makes the error at most this much greater than wide ones would.
const NARROW_WEIGHTS_MARGIN: f32 = 1.05;
/// Frames of each clip that are looked at to choose between narrow and wide weights.
const PACKING_PROBES: u32 = 4;

/// A baked model: the constants and files for the game, and what is needed to look back at the source.
#[derive(Clone, Debug)]
pub struct BakedModel {
    /// What the game knows of it.
    pub meta: Metadata,
    /// Its files, as the generated module names them: animation, mesh, colour textures. Paths are under `gpuskin/`; the
    /// bytes of embedded ones are not held here.
    pub payloads: Vec<(String, Payload)>,
    /// Errors of each clip, with what the metadata leaves out.
    pub errors: Vec<ClipErrors>,
    /// Influences beyond four.
    pub dropped: Dropped,
    /// The source, its frames and where each stands.
    pub plan: Plan,
    /// For each vertex of each primitive of the source, in their order: its vertex in the mesh.
    pub baked_of_source: Vec<u32>,
}

impl BakedModel {
    /// The model as the runtime takes it, with its files' bytes in memory. `file`: the bytes of a payload.
    pub(crate) fn runtime(&self, mut file: impl FnMut(&str) -> Vec<u8>) -> Model {
        let mut loaded = self.payloads.iter().map(|(name, payload)| {
            let data = Data::Bytes(file(name).into());
            Payload { data, ..payload.clone() }
        });
        let mut next = || loaded.next().expect("a model has an animation and a mesh");
        Model { meta: self.meta.clone(), animation: next(), mesh: next(), textures: loaded.collect() }
    }

    /// The texture of [`BakedModel::runtime`]'s model, as the vertex shader sees it.
    pub(crate) fn texels<'a>(&self, model: &'a Model) -> Texels<'a> {
        let level = model.animation.levels[0];
        let bytes = &bytes(&model.animation)[level.offset as usize..][..level.len as usize];
        Texels::new(self.meta.encoding, self.meta.texture, bytes).expect("the file has what its shape needs")
    }

    /// The vertices of [`BakedModel::runtime`]'s model, as the vertex shader unpacks them.
    pub(crate) fn vertices(&self, model: &Model) -> Vec<Vertex> {
        let MeshInfo { format, range, vertices, .. } = &self.meta.mesh;
        let bytes = &bytes(&model.mesh)[vertices.offset as usize..][..vertices.len as usize];
        let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        words.chunks_exact(format.words()).map(|w| vertex::unpack(w, *format, range)).collect()
    }
}

fn bytes(payload: &Payload) -> &[u8] {
    match &payload.data {
        Data::Bytes(bytes) => bytes,
        Data::File { .. } => &[],
    }
}

/// Bakes a planned model; its files by their paths under `gpuskin/`.
pub(super) fn assemble(
    manifest: &Manifest,
    entry: &ModelEntry,
    plan: Plan,
    options: &BakeOptions<'_>,
    findings: &mut Findings,
) -> (BakedModel, BTreeMap<String, Vec<u8>>) {
    options.report(entry, Stage::Encode);
    let within = format!("model `{}`", plan.model.name);
    let geometry = Geometry::new(&plan.model);
    if geometry.dropped.vertices > 0 {
        let Dropped { vertices, weight } = geometry.dropped;
        let dropped = weight * 100.0;
        let message =
            format!("{vertices} vertices have more than 4 influences; up to {dropped:.1} % of a weight was dropped");
        let help = "limit influences to 4 in the modelling tool (Blender: Weights > Limit Total)";
        findings.push(Finding::warning(message).within(&within).help(help));
    }
    let texels = encode(&plan, findings);

    options.report(entry, Stage::Measure);
    let mesh = PackedMesh::choose(&plan, &geometry, &texels);
    let times = if options.skip_errors { Times::Some(1) } else { Times::All };
    let errors = mesh.measure(&plan, &geometry, &texels, times);

    judge(&plan, &errors, findings);

    let textures = (options.textures.unwrap_or(&entry.textures), options.cache);
    let FileSet { meta, payloads, files } =
        files::write(manifest.storage, textures, &plan, &geometry, &texels, &mesh, &errors, findings);
    options.report(entry, Stage::Done);
    let Geometry { baked_of_source, dropped, .. } = geometry;
    (BakedModel { meta, payloads, errors, dropped, plan, baked_of_source }, files)
}

/// An encoding error beyond this share of the rest pose's diagonal is seen from afar.
const COARSE: f64 = 0.01;

/// Refuses clips that would not be seen at all, and tells of those that would be seen wrong.
fn judge(plan: &Plan, errors: &[ClipErrors], findings: &mut Findings) {
    let size = rest_diagonal(&plan.model);
    for (clip, errors) in plan.model.clips.iter().zip(errors) {
        let ErrorInfo { max, time, bone, .. } = errors.encoding;
        let (bone, encoding) = (&plan.model.bones[bone as usize].name, plan.encoding.name());
        let place = format!("clip `{}`, at {time:.3} s, bone `{bone}`", clip.name);
        let finding = if !max.is_finite() {
            let help = "set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`";
            Finding::error(format!("{place}: the pose is out of the range of {encoding}")).help(help)
        } else if f64::from(max) > size * COARSE {
            let message = format!("{place}: {encoding} is {} off, on a model of {}", length(max), length(size as f32));
            Finding::warning(message)
                .help("use a more precise `encoding`, or set `scale` so that the model is in metres")
        } else {
            continue;
        };
        findings.push(finding.within(format!("model `{}`", plan.model.name)));
    }
}

fn encode(plan: &Plan, findings: &mut Findings) -> encode::Texels {
    let clips = || plan.model.clips.iter().zip(&plan.grids).zip(&plan.records);
    let poses = |clip: &Clip, grid: &FrameGrid| -> Vec<Vec<Rows>> {
        let sampler = Sampler::new(&plan.model, Some(clip));
        (0..grid.stored).into_par_iter().map(|i| sampler.skin_matrices(grid.time(i))).collect()
    };
    let mut ranges = Ranges::default();
    if plan.encoding == Encoding::MatrixUnorm {
        clips().for_each(|((clip, grid), _)| ranges.include(&poses(clip, grid)));
    }
    let mut encoder = Encoder::new(plan.encoding, plan.texture, &plan.model, ranges.finish());
    for ((clip, grid), record) in clips() {
        for misfit in encoder.clip(record.first_frame, &poses(clip, grid)) {
            findings.push(misfit_finding(plan, clip, misfit));
        }
    }
    encoder.finish()
}

fn misfit_finding(plan: &Plan, clip: &Clip, misfit: Misfit) -> Finding {
    let (name, encoding) = (|bone: usize| &plan.model.bones[bone].name, plan.encoding.name());
    let finding = match misfit {
        Misfit::Uneven { bone } => {
            let bone = name(bone);
            let message = format!("clip `{}` scales bone `{bone}` unevenly, which {encoding} cannot hold", clip.name);
            Finding::warning(message).help("use `encoding = \"matrix-f16\"`")
        }
        Misfit::OutOfRange { bone } => {
            let bone = name(bone);
            let message = format!("clip `{}` takes bone `{bone}` out of the range of {encoding}", clip.name);
            Finding::error(message).help(match plan.encoding {
                Encoding::Fixed16 => "it reaches 127: set `scale` so that the model is in metres, or use `encoding = \"trs-packed\"`",
                _ => "halves reach 65,504: set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`",
            })
        }
    };
    finding.within(format!("model `{}`", plan.model.name))
}

/// Packed vertices, and as the shader unpacks them.
pub(super) struct PackedMesh {
    pub(super) format: VertexFormat,
    pub(super) range: VertexRange,
    pub(super) words: Vec<u32>,
    unpacked: Vec<Vertex>,
}

impl PackedMesh {
    fn new(geometry: &Geometry, range: VertexRange, packing: Packing) -> Self {
        let format = VertexFormat { packing, tangent: geometry.tangents };
        let words: Vec<u32> = geometry.vertices.iter().flat_map(|v| vertex::pack(v, format, &range)).collect();
        let unpacked = words.chunks_exact(format.words()).map(|w| vertex::unpack(w, format, &range)).collect();
        Self { format, range, words, unpacked }
    }

    /// In full for the exact baseline, else with the narrowest weights that do not show.
    fn choose(plan: &Plan, geometry: &Geometry, texels: &encode::Texels) -> Self {
        let range = range(&geometry.vertices);
        if plan.encoding.is_exact() {
            return Self::new(geometry, range, Packing::Full);
        }
        let narrow = Self::new(geometry, range, Packing::Narrow);
        if geometry.vertices.iter().all(|v| v.weights[1] == 0.0) {
            return narrow;
        }
        let wide = Self::new(geometry, range, Packing::Wide);
        let worst = |mesh: &Self| {
            let errors = mesh.measure(plan, geometry, texels, Times::Some(PACKING_PROBES));
            errors.iter().fold(0.0, |worst: f32, e| worst.max(e.encoding.max))
        };
        if worst(&narrow) <= worst(&wide) * NARROW_WEIGHTS_MARGIN { narrow } else { wide }
    }

    fn measure(&self, plan: &Plan, geometry: &Geometry, texels: &encode::Texels, times: Times) -> Vec<ClipErrors> {
        let baked_of_source = &geometry.baked_of_source;
        let drawn = Drawn { texels: texels.view(), vertices: &self.unpacked, baked_of_source };
        measure::measure(&plan.model, &plan.grids, &plan.records, &drawn, times)
    }
}

fn range(vertices: &[Vertex]) -> VertexRange {
    let mut position = Aabb::EMPTY;
    let (mut uv_min, mut uv_max) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for v in vertices {
        position = position.union(Aabb { min: v.position.into(), max: v.position.into() });
        for c in 0..2 {
            uv_min[c] = uv_min[c].min(v.uv[c]);
            uv_max[c] = uv_max[c].max(v.uv[c]);
        }
    }
    VertexRange {
        position_min: position.min,
        position_extent: [0, 1, 2].map(|i| position.max[i] - position.min[i]),
        uv_min,
        uv_extent: [0, 1].map(|i| uv_max[i] - uv_min[i]),
    }
}
