//! A model in one encoding: texels, packed vertices and errors.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gpuskin_rt::internals::local::layout::MAX_NODES;
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::vertex::{self, Vertex};
use gpuskin_rt::internals::{Aabb, Encoding, ErrorInfo, Normals, Packing, VertexFormat, VertexRange};
use rayon::prelude::*;

use super::plan::{BakePlan, ModelOutline};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::encode::{self, Encoder, Misfit, Ranges, TooLarge};
use crate::frames::FrameGrid;
use crate::geometry::Geometry;
use crate::measure::{self, ClipErrors, DrawnModel, ErrorCurve, MeasuredMesh, MeasuredTimes, MotionQuery, SourceMesh};
use crate::model::Clip;
use crate::sample::{Rows, Sampler};
use crate::vertex_mode;

/// If no packing of vertices is within the limits, the smallest one is used whose error is at most
/// this factor times the least error.
const PACKING_MARGIN: f32 = 1.05;
/// Number of times that `local-packed` is encoded again with a smaller budget, if its error is above
/// the limit.
const REFINEMENTS: usize = 4;
/// Share of the missing factor by which a budget shrinks beyond what the error asks for.
const BUDGET_MARGIN: f64 = 0.8;
/// Frames measured per clip to choose the vertex packing, and to reject encodings early.
const PROBES: u32 = 4;

/// Error limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorLimits {
    /// Position error at frames, in metres.
    pub(super) encoding: f64,
    /// Position error between frames, in metres.
    pub(super) motion: f64,
    /// Normal error at frames and between them, in degrees.
    pub(super) normal: f64,
}

/// The error that exceeds its limit by the largest factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExceededLimit {
    pub(super) kind: LimitKind,
    /// Index of the clip.
    pub(super) clip: usize,
    pub(super) error: ErrorInfo,
    /// Error divided by its limit.
    pub(super) ratio: f64,
    /// Number of other clips whose error of this kind exceeds the limit.
    pub(super) other_clips: usize,
}

/// The limit that an error exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Encoding,
    Motion,
    Normal,
    /// Normals between frames.
    NormalMotion,
}

/// Returns the greatest position error at frames, in metres.
fn worst_encoding(errors: &[ClipErrors]) -> f32 {
    errors.iter().fold(0.0, |worst, errors| worst.max(errors.encoding.max))
}

impl LimitKind {
    /// Whether the error is between frames.
    pub(super) fn is_between(self) -> bool {
        matches!(self, Self::Motion | Self::NormalMotion)
    }

    /// Whether the error is an angle between normals, in degrees.
    pub(super) fn is_angle(self) -> bool {
        matches!(self, Self::Normal | Self::NormalMotion)
    }

    /// Key of the manifest that sets the limit.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Encoding => "tolerance",
            Self::Motion => "motion_tolerance",
            Self::Normal | Self::NormalMotion => "normal_tolerance",
        }
    }
}

impl ErrorLimits {
    /// Returns the greatest position error at frames divided by its limit, if it exceeds the limit.
    fn encoding_ratio(&self, errors: &[ClipErrors]) -> Option<f64> {
        self.exceeded(errors).filter(|miss| miss.kind == LimitKind::Encoding).map(|miss| miss.ratio)
    }

    /// Returns the error that exceeds its limit by the largest factor. Errors between frames are considered
    /// last, because another encoding seldom reduces them.
    pub(super) fn exceeded(&self, errors: &[ClipErrors]) -> Option<ExceededLimit> {
        let worst = |kind, error: &dyn Fn(&ClipErrors) -> ErrorInfo, size: &dyn Fn(&ErrorInfo) -> f32, limit: f64| {
            let misses = errors.iter().enumerate().map(|(clip, errors)| {
                let error = error(errors);
                ExceededLimit { kind, clip, error, ratio: f64::from(size(&error)) / limit, other_clips: 0 }
            });
            let misses: Vec<_> = misses.filter(|miss| miss.ratio > 1.0 || miss.ratio.is_nan()).collect();
            let worst = misses.iter().copied().max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
            Some(ExceededLimit { other_clips: misses.len() - 1, ..worst })
        };
        worst(LimitKind::Encoding, &|e| e.encoding, &|e| e.max, self.encoding)
            .or_else(|| worst(LimitKind::Normal, &|e| e.encoding, &|e| e.normal_degrees, self.normal))
            .or_else(|| worst(LimitKind::Motion, &|e| e.motion, &|e| e.max, self.motion))
            .or_else(|| worst(LimitKind::NormalMotion, &|e| e.motion, &|e| e.normal_degrees, self.normal))
    }
}

/// A model in one encoding.
pub(super) struct Attempt {
    pub(super) plan: BakePlan,
    pub(super) texels: encode::EncodedTexture,
    pub(super) mesh: Arc<PackedMesh>,
    pub(super) errors: Vec<ClipErrors>,
    /// Error of each clip over time.
    pub(super) curves: Vec<ErrorCurve>,
    /// Errors at a few frames of each clip, if they were measured.
    probed: OnceLock<Vec<ClipErrors>>,
    /// Poses that the encoding cannot store, each with the index of its clip.
    pub(super) misfits: Vec<(usize, Misfit)>,
    /// Rate of each clip that was asked for, in frames per second.
    rates: Vec<f64>,
    precision: Precision,
}

/// Precision of an attempt, where the encoding leaves a choice.
#[derive(Clone, Copy)]
struct Precision {
    /// Position error at frames, in metres, that `local-packed` may use up.
    budget: f64,
    /// Whether vertices are packed in full.
    full_vertices: bool,
}

/// Inputs that all attempts for a model share.
#[derive(Clone, Copy)]
pub(super) struct AttemptSource<'a> {
    pub(super) outline: &'a ModelOutline,
    /// Mesh for bone mode.
    pub(super) bones: &'a Geometry,
    pub(super) normals: Normals,
    /// Allowed position error at frames, in metres, for encodings with variable precision.
    pub(super) tolerance: f64,
    /// Packings of `bones` that attempts have tried.
    pub(super) packed: &'a PackedMeshes,
}

impl<'a> AttemptSource<'a> {
    /// Returns the mesh for an encoding.
    pub(super) fn geometry(&self, encoding: Encoding) -> &'a Geometry {
        match &self.outline.vertices {
            Some(mesh) if encoding.is_vertex() => &mesh.geometry,
            _ => self.bones,
        }
    }
}

impl Attempt {
    /// Encodes a model. Vertices get the smallest packing within the limits; if there is none, the
    /// smallest that does not increase the error noticeably.
    pub(super) fn new(
        source: AttemptSource<'_>,
        encoding: Encoding,
        rates: &[f64],
        limits: &ErrorLimits,
    ) -> Result<Self, Diagnostic> {
        let precision = Precision { budget: source.tolerance, full_vertices: false };
        let mut attempt = Self::with_precision(source, encoding, rates, limits, precision)?;
        for _ in 0..REFINEMENTS {
            let Some(ratio) = limits.encoding_ratio(attempt.probe(source)) else { break };
            let Some(finer) = attempt.finer(source, limits, ratio)? else { break };
            let better = worst_encoding(finer.probe(source)) < worst_encoding(attempt.probe(source));
            if !better {
                break;
            }
            attempt = finer;
        }
        Ok(attempt)
    }

    fn with_precision(
        source: AttemptSource<'_>,
        encoding: Encoding,
        rates: &[f64],
        limits: &ErrorLimits,
        precision: Precision,
    ) -> Result<Self, Diagnostic> {
        let mut plan = BakePlan::new(source.outline, encoding, rates)?;
        let (texels, misfits) = texels(source.outline, &plan, precision.budget)?;
        plan.texture = texels.texture;
        let PackedVertices { mesh, probed } =
            PackedMesh::choose(source, &plan, &texels, limits, precision.full_vertices);
        let probed = probed.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self {
            plan,
            texels,
            mesh,
            errors: Vec::new(),
            curves: Vec::new(),
            probed,
            misfits,
            rates: rates.to_vec(),
            precision,
        })
    }

    /// Encodes the model again with a smaller budget and full vertices; `None` if the encoding has no
    /// finer precision. `ratio`: error divided by its limit.
    fn finer(&self, source: AttemptSource<'_>, limits: &ErrorLimits, ratio: f64) -> Result<Option<Self>, Diagnostic> {
        if self.plan.encoding != Encoding::LocalPacked || !ratio.is_finite() {
            return Ok(None);
        }
        let budget = self.precision.budget * BUDGET_MARGIN / ratio;
        let precision = Precision { budget, full_vertices: true };
        Self::with_precision(source, self.plan.encoding, &self.rates, limits, precision).map(Some)
    }

    /// Measures all errors, and encodes the model again with a smaller budget while an error of
    /// `local-packed` at the frames is above its limit and shrinks.
    pub(super) fn measure_and_refine(
        mut self,
        source: AttemptSource<'_>,
        limits: &ErrorLimits,
    ) -> Result<Self, Diagnostic> {
        self.measure(source, MeasuredTimes::All);
        for _ in 0..REFINEMENTS {
            let Some(ratio) = limits.encoding_ratio(&self.errors) else { break };
            let Some(mut finer) = self.finer(source, limits, ratio)? else { break };
            finer.measure(source, MeasuredTimes::All);
            if worst_encoding(&finer.errors) >= worst_encoding(&self.errors) {
                break;
            }
            self = finer;
        }
        Ok(self)
    }

    /// Returns the errors at a few frames of each clip.
    pub(super) fn probe(&self, source: AttemptSource<'_>) -> &[ClipErrors] {
        self.probed.get_or_init(|| self.mesh.probe(source, &self.plan, &self.texels))
    }

    /// Returns for each of the given clips whether its motion errors are within limits.
    pub(super) fn motion_within(&self, source: AttemptSource<'_>, search: MotionQuery<'_>) -> Vec<bool> {
        let drawn = self.mesh.drawn(source, &self.texels);
        if self.plan.encoding.is_vertex() {
            let BakePlan { model, grids, records, .. } = &self.plan;
            return vertex_mode::motion_within(model, grids, records, &drawn, search);
        }
        let BakePlan { model, grids, records, .. } = &self.plan;
        measure::motion_within(model, self.mesh.measured(source, &drawn), grids, records, &drawn, search)
    }

    /// Measures the errors.
    pub(super) fn measure(&mut self, source: AttemptSource<'_>, times: MeasuredTimes) {
        (self.errors, self.curves) = self.mesh.measure(source, &self.plan, &self.texels, times).into_iter().unzip();
    }

    /// Returns the source's vertices beside the drawn ones; none in vertex mode, or if no difference of the source was measured.
    /// `copies`: vertices that only levels of detail have, each with the index of the vertex that it copies.
    pub(super) fn source_mesh(
        &self,
        source: AttemptSource<'_>,
        copies: impl Iterator<Item = (u32, Vertex)>,
    ) -> SourceMesh {
        if self.plan.encoding.is_vertex() || self.curves.iter().all(|curve| curve.difference.at_frames.is_empty()) {
            return SourceMesh::default();
        }
        SourceMesh::new(&self.plan.model, &self.mesh.drawn(source, &self.texels), copies)
    }

    /// Bytes on the GPU that depend on the encoding: animation, vertices and morph targets.
    pub(super) fn gpu_bytes(&self) -> u64 {
        let morphs = self.mesh.morph_bytes;
        (self.texels.bytes.len() + self.mesh.words.len() * 4 + morphs) as u64
    }
}

/// Samples and encodes a model. Also returns the poses that the encoding cannot store, each with
/// the index of its clip.
pub(super) fn texels(
    outline: &ModelOutline,
    plan: &BakePlan,
    tolerance: f64,
) -> Result<(encode::EncodedTexture, Vec<(usize, Misfit)>), Diagnostic> {
    match &outline.vertices {
        Some(mesh) if plan.encoding.is_vertex() => {
            if mesh.geometry.tangents && !plan.encoding.holds_tangents() {
                let name = plan.encoding.name();
                let message = format!("{name} cannot store tangents, which the normal map of the model needs");
                return Err(Diagnostic::error(DiagnosticCode::EncodingUnfit, message)
                    .help("use `encoding = \"vat-packed-fine\"`"));
            }
            Ok(vertex_mode::encode(&plan.model, mesh, plan.encoding, plan.texture, &plan.grids, &plan.records))
        }
        _ if plan.encoding == Encoding::LocalPacked => Ok((local_packed(plan, tolerance)?, Vec::new())),
        _ => Ok(encode(plan)),
    }
}

fn local_packed(plan: &BakePlan, tolerance: f64) -> Result<encode::EncodedTexture, Diagnostic> {
    encode::local_packed(&plan.model, &plan.grids, &plan.records, plan.texture, tolerance).map_err(
        |error| match error {
            TooLarge::Nodes(count) => Diagnostic::error(
                DiagnosticCode::EncodingUnfit,
                format!("its bones depend on {count} moving nodes; local-packed supports at most {MAX_NODES}"),
            )
            .help("use `encoding = \"trs-packed\"`"),
            TooLarge::Words => {
                Diagnostic::error(DiagnosticCode::LimitTexture, "its animation takes more than 256 MiB in local-packed")
                    .help("bake fewer clips, or set a lower `fps`")
            }
        },
    )
}

fn encode(plan: &BakePlan) -> (encode::EncodedTexture, Vec<(usize, Misfit)>) {
    let clips = || plan.model.clips.iter().zip(&plan.grids).zip(&plan.records);
    let poses = |clip: &Clip, grid: &FrameGrid| -> Vec<Vec<Rows>> {
        let sampler = Sampler::in_place(&plan.model, clip, grid);
        (0..grid.stored).into_par_iter().map(|row| sampler.skin_matrices(grid.time_of(row))).collect()
    };
    let mut ranges = Ranges::default();
    if plan.encoding.has_model_range() {
        clips().for_each(|((clip, grid), _)| ranges.include(&poses(clip, grid)));
    }
    let mut encoder = Encoder::new(plan.encoding, plan.texture, &plan.model, ranges.finish());
    let mut misfits = Vec::new();
    for (index, ((clip, grid), record)) in clips().enumerate() {
        misfits.extend(encoder.clip(record.first_frame, &poses(clip, grid)).into_iter().map(|m| (index, m)));
    }
    (encoder.finish(), misfits)
}

/// Vertices in bone mode in each packing, made when an attempt asks for them.
#[derive(Default)]
pub(super) struct PackedMeshes(Mutex<Vec<(Packing, Arc<PackedMesh>)>>);

/// Packed vertices, and their values as the shader unpacks them.
pub(super) struct PackedMesh {
    pub(super) format: VertexFormat,
    pub(super) range: VertexRange,
    pub(super) words: Vec<u32>,
    unpacked: Vec<Vertex>,
    /// Bytes of the deltas of morph targets.
    morph_bytes: usize,
    /// Vertices prepared for measuring, if they were measured.
    measured: OnceLock<MeasuredMesh>,
}

impl PackedMeshes {
    fn get(&self, packing: Packing, make: impl FnOnce() -> PackedMesh) -> Arc<PackedMesh> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, mesh)) = known.iter().find(|(other, _)| *other == packing) {
            return mesh.clone();
        }
        let mesh = Arc::new(make());
        known.push((packing, mesh.clone()));
        mesh
    }
}

/// Packed vertices, and the errors at a few frames if the choice of packing measured them.
struct PackedVertices {
    mesh: Arc<PackedMesh>,
    probed: Option<Vec<ClipErrors>>,
}

impl From<Arc<PackedMesh>> for PackedVertices {
    fn from(mesh: Arc<PackedMesh>) -> Self {
        Self { mesh, probed: None }
    }
}

impl PackedMesh {
    fn new(geometry: &Geometry, range: VertexRange, packing: Packing) -> Self {
        let format = geometry.format(packing);
        let words: Vec<u32> = geometry.vertices.iter().flat_map(|v| vertex::pack(v, format, &range)).collect();
        let unpacked = words.chunks_exact(format.words()).map(|w| vertex::unpack(w, format, &range)).collect();
        let morph_bytes = geometry.morphs.words.len() * 4;
        Self { format, range, words, unpacked, morph_bytes, measured: OnceLock::new() }
    }

    /// Packs the constant attributes of vertex mode. Row indices are relative to the first row of a
    /// frame.
    fn fixed(geometry: &Geometry, range: VertexRange, range_rows: u32) -> Self {
        let mut geometry = geometry.clone();
        geometry.vertices.iter_mut().for_each(|v| v.joints[0] += range_rows);
        Self::new(&geometry, range, Packing::Static)
    }

    /// Packs vertices in full if asked to, and for exact encodings. Otherwise chooses the smallest
    /// packing within the limits; if there is none, the smallest that does not increase the error
    /// noticeably.
    fn choose(
        source: AttemptSource<'_>,
        plan: &BakePlan,
        texels: &encode::EncodedTexture,
        limits: &ErrorLimits,
        full: bool,
    ) -> PackedVertices {
        let geometry = source.geometry(plan.encoding);
        let range = range(&geometry.vertices);
        if plan.encoding.is_vertex() {
            return Arc::new(Self::fixed(geometry, range, plan.encoding.range_rows())).into();
        }
        let packed = |packing| source.packed.get(packing, || Self::new(geometry, range, packing));
        let eight = geometry.vertices.iter().any(|v| v.weights[4] > 0.0);
        if plan.encoding.is_exact() || full {
            return packed(if eight { Packing::Full8 } else { Packing::Full }).into();
        }
        // Vertices with one bone each have no weights that could lose precision.
        let rigid = geometry.vertices.iter().all(|v| v.weights[1] == 0.0);
        let packings: &[Packing] = match (rigid, eight) {
            (_, true) => &[Packing::Wide8, Packing::Full8],
            (true, false) => &[Packing::Narrow, Packing::Full],
            (false, false) => &[Packing::Narrow, Packing::Wide, Packing::Full],
        };
        let mut tried = Vec::new();
        for packing in packings {
            let mesh = packed(*packing);
            let errors = mesh.probe(source, plan, texels);
            let fits = limits.exceeded(&errors).is_none();
            let worst = worst_encoding(&errors);
            let vertices = PackedVertices { mesh, probed: Some(errors) };
            if fits {
                return vertices;
            }
            tried.push((worst, vertices));
        }
        // More precise vertices are wasted if they do not reduce the error.
        let least = tried.iter().fold(f32::INFINITY, |least, (worst, _)| least.min(*worst));
        let enough = tried.iter().position(|(worst, _)| *worst <= least * PACKING_MARGIN).unwrap_or(0);
        tried.swap_remove(enough).1
    }

    fn drawn<'a>(&'a self, source: AttemptSource<'a>, texels: &'a encode::EncodedTexture) -> DrawnModel<'a> {
        let Geometry { baked_of_source, morphs, .. } = source.geometry(texels.encoding);
        let morphs = MorphLists::new(&morphs.words);
        let (vertices, normals) = (&self.unpacked[..], source.normals);
        DrawnModel { texels: texels.view(), vertices, baked_of_source, morphs, normals }
    }

    fn probe(&self, source: AttemptSource<'_>, plan: &BakePlan, texels: &encode::EncodedTexture) -> Vec<ClipErrors> {
        let measured = self.measure(source, plan, texels, MeasuredTimes::Some(PROBES));
        measured.into_iter().map(|(errors, _)| errors).collect()
    }

    fn measure(
        &self,
        source: AttemptSource<'_>,
        plan: &BakePlan,
        texels: &encode::EncodedTexture,
        times: MeasuredTimes,
    ) -> Vec<(ClipErrors, ErrorCurve)> {
        let BakePlan { model, grids, records, .. } = plan;
        let drawn = self.drawn(source, texels);
        if plan.encoding.is_vertex() {
            return vertex_mode::measure(model, grids, records, &drawn, times);
        }
        measure::measure(model, self.measured(source, &drawn), grids, records, &drawn, times)
    }

    /// Returns the vertices for measuring. All attempts have the same model.
    fn measured(&self, source: AttemptSource<'_>, drawn: &DrawnModel<'_>) -> &MeasuredMesh {
        self.measured.get_or_init(|| MeasuredMesh::new(&source.outline.model, drawn))
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
