//! `pose`: evaluates all source vertices at given times, in the order and space of the source file,
//! for comparison with an independent reference.

use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use glam::{DMat3, DMat4, DVec3};
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::skin::skin_vertices;
use gpuskin_rt::internals::{Encoding, InstanceRecord, Playback, Time};
use serde_json::json;

use crate::bake::{BakeOptions, BakedModel, Imported, import_one};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::displacement::Displacement;
use crate::frames::FrameGrid;
use crate::import::Pixels;
use crate::manifest::Manifest;
use crate::measure::playback_at;
use crate::model::{Clip, Model};
use crate::output;
use crate::suggest::{instead, quoted};
use crate::vertex_mode::Evaluator;

/// Implementation that evaluates a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PosePath {
    /// The source's curves in `f64` with all influences; no baked data.
    Source,
    /// The baked texture and vertices, with the CPU reference implementation of the shaders.
    Cpu,
    /// The baked texture and vertices, with the vertex shader of `Crowd::draw` on the GPU.
    Gpu,
}

/// Times to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub enum PoseTimes {
    /// Seconds from the start of the clip; clamped to the clip, never wrapped.
    Seconds(Vec<f64>),
    /// Baked frames, by number.
    Frames(Vec<u32>),
    /// All baked frames, including each frame of a held interval.
    AllFrames,
}

/// Request of [`pose()`].
#[derive(Clone, Debug)]
pub struct PoseRequest {
    /// Name of the model in the manifest.
    pub model: String,
    /// Name or index of the clip in the glTF file, or its name in the manifest.
    pub clip: String,
    /// Times to evaluate.
    pub times: PoseTimes,
    /// Implementation to use.
    pub path: PosePath,
    /// Overrides the manifest's encoding.
    pub encoding: Option<Encoding>,
}

/// Positions and normals of all source vertices at several times, in the space of the source file.
#[derive(Clone, Debug)]
pub struct EvaluatedPoses {
    model: Arc<Model>,
    clip: usize,
    /// Requested times in seconds.
    pub times: Vec<f64>,
    /// Position in the source's units and unit normal: `[time][vertex]`, vertices primitive by
    /// primitive.
    pub frames: Vec<Vec<(DVec3, DVec3)>>,
    /// Warnings about the model.
    pub warnings: Diagnostics,
    double: bool,
}

/// Evaluates a clip of a model.
///
/// # Errors
/// If the model cannot be baked, or does not have the clip or frame.
pub fn pose(manifest: &Manifest, request: &PoseRequest) -> Result<EvaluatedPoses, Diagnostics> {
    PoseSource::open(manifest, &request.model, request.encoding)?.pose(&request.clip, &request.times, request.path)
}

/// A model whose clips are evaluated. Its file is read once, and it is baked once if a request needs that.
pub struct PoseSource<'a> {
    imported: Imported<'a>,
    options: BakeOptions<'a>,
    /// Frames of each clip, if the manifest determines them.
    grids: Option<Vec<FrameGrid>>,
    baked: OnceCell<Baked>,
    warnings: Diagnostics,
}

struct Baked {
    model: BakedModel,
    runtime: gpuskin_rt::internals::Model,
    warnings: Diagnostics,
}

impl<'a> PoseSource<'a> {
    /// Reads a model of the manifest. `encoding` overrides the manifest's.
    ///
    /// # Errors
    /// If the model cannot be read.
    pub fn open(manifest: &'a Manifest, model: &'a str, encoding: Option<Encoding>) -> Result<Self, Diagnostics> {
        let options = BakeOptions { model: Some(model), encoding, skip_errors: true, ..Default::default() };
        let (imported, warnings) = import_one(manifest, &options, Pixels::SizeOnly)?;
        let grids = imported.grids(&options);
        Ok(Self { imported, options, grids, baked: OnceCell::new(), warnings })
    }

    fn baked(&self) -> Result<&Baked, Diagnostics> {
        if let Some(baked) = self.baked.get() {
            return Ok(baked);
        }
        let mut warnings = Diagnostics::default();
        let (model, runtime) = self.imported.bake(&self.options, &mut warnings)?;
        Ok(self.baked.get_or_init(|| Baked { model, runtime, warnings }))
    }

    /// Evaluates a clip, which is named as in [`PoseRequest::clip`].
    ///
    /// # Errors
    /// If the model cannot be baked, or does not have the clip or frame.
    pub fn pose(&self, clip: &str, times: &PoseTimes, path: PosePath) -> Result<EvaluatedPoses, Diagnostics> {
        let mut warnings = self.warnings.clone();
        let model = self.imported.model().clone();
        let clip = find_clip(&model, clip)?;
        // The source can be evaluated without a bake, unless the times of frames depend on the bake.
        let known = self.grids.as_ref().filter(|_| path == PosePath::Source);
        let baked = if known.is_none() { Some(self.baked()?) } else { None };
        warnings.extend(baked.map(|baked| baked.warnings.clone()).unwrap_or_default());
        let grids = known.or(baked.map(|baked| &baked.model.trace().plan.grids));
        let grid = grids.expect("the model is baked if its frames are not known")[clip];
        let times = seconds(times, &grid, &model.clips[clip])?;
        let held: Vec<f64> = times.iter().map(|t| t.clamp(0.0, grid.duration)).collect();
        let frames = match (path, baked) {
            (PosePath::Cpu, Some(Baked { model, runtime, .. })) => {
                held.iter().map(|&t| on_cpu(model, runtime, clip, t)).collect()
            }
            (PosePath::Gpu, Some(Baked { model, runtime, .. })) => on_gpu(model, runtime, clip, &held)?,
            _ => source(&model, &model.clips[clip], &held),
        };
        // Baked poses do not contain the root motion, so it is added here.
        let displacement = Displacement::new(&model, &model.clips[clip], &grid).filter(|_| path != PosePath::Source);
        let placed = |(frame, time): (Vec<(DVec3, DVec3)>, &f64)| match &displacement {
            None => frame,
            Some(displacement) => {
                let at = displacement.at(*time);
                frame.into_iter().map(|(p, n)| (at.transform_point3(p), at.transform_vector3(n))).collect()
            }
        };
        let undo = SourceSpace::new(&model.root);
        let undone =
            |frame: Vec<(DVec3, DVec3)>| frame.into_iter().map(|(p, n)| (undo.point(p), undo.normal(n))).collect();
        let frames = frames.into_iter().zip(&held).map(placed).map(undone).collect();
        Ok(EvaluatedPoses { model, clip, times, frames, warnings, double: path == PosePath::Source })
    }
}

/// Finds a clip by its name or index in the glTF file, or by its name in the manifest.
fn find_clip(model: &Model, wanted: &str) -> Result<usize, Diagnostic> {
    let index = wanted.parse::<usize>().ok();
    let by = |test: &dyn Fn(&Clip) -> bool| model.clips.iter().position(test);
    by(&|c| c.source == wanted)
        .or_else(|| by(&|c| Some(c.index) == index && c.file.is_none()))
        .or_else(|| by(&|c| c.name == wanted))
        .ok_or_else(|| {
            let names = model.clips.iter().map(|c| c.source.as_str());
            Diagnostic::error(DiagnosticCode::ClipNotFound, format!("clip {} not found", quoted(wanted)))
                .within(Label::model(&model.name))
                .clip(wanted)
                .help(instead(wanted, names))
        })
}

fn seconds(times: &PoseTimes, grid: &FrameGrid, clip: &Clip) -> Result<Vec<f64>, Diagnostic> {
    match times {
        PoseTimes::Seconds(seconds) => Ok(seconds.clone()),
        PoseTimes::AllFrames => Ok((0..grid.frames()).map(|frame| grid.time(frame)).collect()),
        PoseTimes::Frames(frames) => match frames.iter().find(|&&i| i > grid.intervals) {
            Some(frame) => Err(Diagnostic::error(
                DiagnosticCode::ClipFrame,
                format!("clip `{}` has no frame {frame}: its last is {}", clip.source, grid.intervals),
            )),
            None => Ok(frames.iter().map(|&i| grid.time(i)).collect()),
        },
    }
}

/// Evaluates the source in the space of the baked model.
fn source(model: &Model, clip: &Clip, times: &[f64]) -> Vec<Vec<(DVec3, DVec3)>> {
    let evaluator = Evaluator::new(model, Some(clip));
    let frame = |&time: &f64| {
        let posed = evaluator.at(time);
        let mut vertices = Vec::new();
        for (p, primitive) in model.primitives.iter().enumerate() {
            vertices.extend((0..primitive.positions.len()).map(|v| {
                let matrix = posed.matrix(p, v);
                (posed.transformed_position(&matrix, p, v), posed.normal(&matrix, p, v))
            }));
        }
        vertices
    };
    times.iter().map(frame).collect()
}

/// Returns an instance at the origin that shows one time of a clip and does not advance.
fn static_pose(grid: &FrameGrid, clip: usize, seconds: f64) -> InstanceRecord {
    let playback = playback_at(grid, seconds);
    let playback = Playback { clip: playback.clip | clip as u32, ..playback };
    InstanceRecord::playing(playback)
}

fn on_cpu(baked: &BakedModel, model: &gpuskin_rt::internals::Model, clip: usize, seconds: f64) -> Vec<(DVec3, DVec3)> {
    let (texels, vertices) = (baked.texels(model), baked.vertices(model));
    let instance = static_pose(&baked.trace().plan.grids[clip], clip, seconds);
    let (records, morphs) = (&baked.trace().plan.records, baked.morphs(model));
    let mesh = (&vertices[..], &MorphLists::new(&morphs));
    let skinned = skin_vertices(&texels, records, &instance, Time::ZERO, mesh, model.meta.normals);
    let of_source = |&i: &u32| (skinned[i as usize].position.as_dvec3(), skinned[i as usize].normal.as_dvec3());
    baked.trace().baked_of_source.iter().map(of_source).collect()
}

#[cfg(feature = "gpu")]
fn on_gpu(
    baked: &BakedModel,
    model: &gpuskin_rt::internals::Model,
    clip: usize,
    times: &[f64],
) -> Result<Vec<Vec<(DVec3, DVec3)>>, Diagnostic> {
    let crate::gpu::Gpu { device, queue } = crate::gpu::open()?;
    let failed = |e: gpuskin_rt::internals::Error| {
        Diagnostic::error(DiagnosticCode::GpuFailed, e.to_string()).within(Label::model(&baked.meta.name))
    };
    let capture = gpuskin_rt::internals::render::Capture::new(&device, &queue, model).map_err(failed)?;
    let grid = &baked.trace().plan.grids[clip];
    let instances: Vec<_> = times.iter().map(|&t| (static_pose(grid, clip, t), Time::ZERO)).collect();
    let frames = capture.frames(&instances).map_err(failed)?;
    let vertex = |v: &gpuskin_rt::internals::render::CapturedVertex| {
        (v.position.map(f64::from).into(), v.normal.map(f64::from).into())
    };
    Ok(frames
        .iter()
        .map(|frame| baked.trace().baked_of_source.iter().map(|&i| vertex(&frame[i as usize])).collect())
        .collect())
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(
    _: &BakedModel,
    _: &gpuskin_rt::internals::Model,
    _: usize,
    _: &[f64],
) -> Result<Vec<Vec<(DVec3, DVec3)>>, Diagnostic> {
    Err(Diagnostic::error(DiagnosticCode::GpuMissing, "gpuskin-build was compiled without the feature `gpu`")
        .help("add the feature `gpu`"))
}

/// Inverse of the manifest's scale and up axis.
struct SourceSpace {
    root: DMat4,
    normals: DMat3,
}

impl SourceSpace {
    fn new(root: &DMat4) -> Self {
        Self { root: root.inverse(), normals: DMat3::from_mat4(*root).transpose() }
    }

    fn point(&self, p: DVec3) -> DVec3 {
        self.root.transform_point3(p)
    }

    /// The root is a rotation with a uniform scale, so its transpose rotates normals back.
    fn normal(&self, n: DVec3) -> DVec3 {
        (self.normals * n).normalize_or_zero()
    }
}

impl EvaluatedPoses {
    /// Writes `frames.json` and `frames.bin`. The binary file has per frame, per primitive all
    /// positions, then all normals if the source has some; little-endian, `f64` for
    /// [`PosePath::Source`], else `f32`.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let width = if self.double { 8 } else { 4 };
        let mut offset = 0;
        let mut primitives = Vec::new();
        for p in &self.model.primitives {
            let block = p.positions.len() * 3 * width;
            let normals = p.normals.as_ref().map(|_| offset + block);
            primitives.push(json!({
                "node": p.node, "nodeName": self.model.nodes[p.node].name, "mesh": p.mesh, "primitive": p.index,
                "skin": p.skin, "vertices": p.positions.len(), "positionOffset": offset, "normalOffset": normals,
            }));
            offset += block * if p.normals.is_some() { 2 } else { 1 };
        }
        let (mut least, mut greatest) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let mut bytes = Vec::with_capacity(offset * self.frames.len());
        for frame in &self.frames {
            let mut rest = &frame[..];
            for p in &self.model.primitives {
                let (vertices, after) = rest.split_at(p.positions.len());
                rest = after;
                vertices.iter().for_each(|(p, _)| {
                    (least, greatest) = (least.min(*p), greatest.max(*p));
                    self.put(&mut bytes, *p);
                });
                if p.normals.is_some() {
                    vertices.iter().for_each(|(_, n)| self.put(&mut bytes, *n));
                }
            }
        }
        let clip = &self.model.clips[self.clip];
        let frames = self.times.iter().enumerate().map(|(i, time)| json!({ "time": time, "offset": i * offset }));
        let head = json!({
            "tool": concat!("gpuskin ", env!("CARGO_PKG_VERSION")),
            "model": self.model.name,
            "clip": { "index": clip.index, "name": clip.source, "start": clip.start, "end": clip.end },
            "dtype": if self.double { "f64" } else { "f32" },
            "frameBytes": offset,
            "size": if least.x <= greatest.x { (greatest - least).length() } else { 0.0 },
            "primitives": primitives,
            "frames": frames.collect::<Vec<_>>(),
        });
        let mut text = serde_json::to_vec_pretty(&head).expect("plain data always serialises");
        writeln!(text).expect("writing to memory does not fail");
        for (name, bytes) in [("frames.bin", bytes), ("frames.json", text)] {
            let path = folder.join(name);
            output::replace_file(&path, &bytes).map_err(|e| {
                Diagnostic::error(DiagnosticCode::OutputFailed, format!("cannot write {}: {e}", path.display()))
            })?;
        }
        Ok(())
    }

    fn put(&self, bytes: &mut Vec<u8>, v: DVec3) {
        for c in v.to_array() {
            if self.double {
                bytes.extend(c.to_le_bytes());
            } else {
                bytes.extend((c as f32).to_le_bytes());
            }
        }
    }
}
