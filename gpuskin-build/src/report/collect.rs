//! `BakedModel -> ModelReport`.

use std::path::Path;

use gpuskin_rt::internals::{ClipInfo, ColorFormat, ErrorInfo, MeshInfo, MeshLod, MeshPart};

use super::data::{
    BudgetReport, BudgetsReport, CandidateErrors, CandidateReport, ClipReport, CurveReport, DataReport, EndsReport,
    ErrorReport, EventReport, FORMAT, FileReport, LevelReport, MaskReport, ModelReport, PartBytesReport, PointsReport,
    Report, TextureReport, VERSION,
};
use super::number::Number;
use crate::bake::{BakedModel, Candidate, ClipErrors, CurvePoint, ErrorBudget, LoopChange};
use crate::diagnostic::Diagnostics;
use crate::models_by_name::models_by_name;
use crate::units::texel_format;

impl Report {
    /// Creates the report of a successful bake.
    pub(crate) fn new(models: &[BakedModel], warnings: &Diagnostics) -> Self {
        let variants = |model| variants(model).enumerate().map(|(number, variant)| model_report(variant, number));
        Self { models: models.iter().flat_map(variants).collect(), ..Self::empty(warnings) }
    }

    /// Creates the report of a failed bake of a manifest, or of one model of it. It names the models
    /// if the manifest is TOML.
    pub(crate) fn of_failure(manifest: &Path, model: Option<&str>, diagnostics: &Diagnostics) -> Self {
        let names = models_by_name(manifest).into_iter().map(|model| model.name);
        let not_baked = names.filter(|name| model.is_none_or(|model| name == model)).collect();
        Self { failed: true, not_baked, ..Self::empty(diagnostics) }
    }

    fn empty(diagnostics: &Diagnostics) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            baker: concat!("gpuskin ", env!("CARGO_PKG_VERSION")).to_owned(),
            failed: false,
            not_baked: Vec::new(),
            models: Vec::new(),
            diagnostics: diagnostics.iter().map(crate::diagnostic::Diagnostic::to_raw_json).collect(),
        }
    }
}

fn variants(model: &BakedModel) -> impl Iterator<Item = &BakedModel> {
    std::iter::once(model).chain(&model.others)
}

fn model_report(model: &BakedModel, variant: usize) -> ModelReport {
    let meta = &model.meta;
    let texture = TextureReport {
        format: texel_format(meta.encoding).to_owned(),
        width: meta.texture.width,
        height: meta.texture.height,
        layers: meta.texture.layers,
        frames: meta.texture.frames,
    };
    let files: Vec<FileReport> = model.payloads.iter().map(|(name, payload)| file(name, payload.size)).collect();
    let names = |list: &[_]| list.iter().map(|name: &gpuskin_rt::internals::Str| name.to_string()).collect();
    let levels = (0..=meta.mesh.levels.len()).map(|level| LevelReport {
        triangles: meta.mesh.triangles(level),
        error: Number(level.checked_sub(1).map_or(0.0, |coarser| meta.mesh.levels[coarser].error)),
    });
    let masks = meta.masks.iter().map(|mask| MaskReport {
        name: mask.name.to_string(),
        bones: (0..meta.bones.len()).filter(|bone| mask.contains(*bone)).count(),
    });
    ModelReport {
        name: meta.name.to_string(),
        variant,
        encoding: meta.encoding.name().to_owned(),
        vertex_mode: meta.encoding.is_vertex(),
        vertices: meta.mesh.vertex_count,
        triangles: meta.mesh.triangles(0),
        texture,
        data: data(&files, &meta.mesh),
        files,
        gpu_bytes: meta.texture.byte_len(meta.encoding) + meta.mesh.vertices.len,
        budgets: BudgetsReport {
            encoding: budget(&model.budgets.encoding, "tolerance"),
            motion: budget(&model.budgets.motion, "motion_tolerance"),
            normal: budget(&model.budgets.normal, "normal_tolerance"),
        },
        clips: (0..meta.clips.len()).map(|clip| clip_report(model, clip)).collect(),
        bones: meta.bones.iter().map(|bone| bone.name.to_string()).collect(),
        levels: levels.collect(),
        candidates: model.candidates.iter().map(candidate).collect(),
        parts: names(&meta.parts),
        part_bytes: part_bytes(model),
        masks: masks.collect(),
    }
}

fn file(path: &str, bytes: u64) -> FileReport {
    let file = path.rsplit('/').next().unwrap_or(path).to_owned();
    let formats = ColorFormat::ALL.into_iter().map(ColorFormat::name);
    let format =
        formats.into_iter().find(|format| file.starts_with("color-") && file.ends_with(&format!("-{format}.ktx2")));
    let kind = match format {
        Some(_) => "texture",
        None if file.starts_with("anim-") => "animation",
        None => "mesh",
    };
    FileReport { kind: kind.to_owned(), format: format.map(str::to_owned), file, bytes }
}

/// Returns the bytes of the files by kind of data.
fn data(files: &[FileReport], mesh: &MeshInfo) -> Vec<DataReport> {
    let sum = |kind: &str| files.iter().filter(|file| file.kind == kind).map(|file| file.bytes).sum::<u64>();
    let index = if mesh.wide_indices { 4 } else { 2 };
    let indices = mesh.parts.iter().map(|part| u64::from(part.index_count)).sum::<u64>() * index;
    let levels = mesh.levels.iter().flat_map(|level| level.parts.iter());
    let levels = levels.map(|part| u64::from(part.index_count)).sum::<u64>() * index;
    let rest = mesh.rest.as_ref().map_or(0, |rest| rest.vertices.len);
    let known = mesh.vertices.len + indices + levels + mesh.morphs.len + rest;
    let mut data: Vec<DataReport> = [
        ("animation", sum("animation")),
        ("vertices", mesh.vertices.len),
        ("indices", indices),
        ("levels of detail", levels),
        ("morph targets", mesh.morphs.len),
        ("rest pose", rest),
        ("other", sum("mesh").saturating_sub(known)),
    ]
    .into_iter()
    .filter(|(_, bytes)| *bytes > 0)
    .map(|(kind, bytes)| DataReport { kind: kind.to_owned(), format: None, bytes })
    .collect();
    for format in ColorFormat::ALL.into_iter().map(ColorFormat::name) {
        let bytes = files.iter().filter(|file| file.format.as_deref() == Some(format)).map(|file| file.bytes).sum();
        if bytes > 0 {
            data.push(DataReport { kind: "textures".to_owned(), format: Some(format.to_owned()), bytes });
        }
    }
    data
}

/// Returns the bytes of the mesh by part: what is always visible, then the parts in their order.
fn part_bytes(model: &BakedModel) -> Vec<PartBytesReport> {
    let mesh = &model.meta.mesh;
    let stride = mesh.vertices.len.checked_div(u64::from(mesh.vertex_count)).unwrap_or(0);
    let index = if mesh.wide_indices { 4 } else { 2 };
    let of_part = |(number, vertices): (usize, &u32)| {
        let belongs = |part: &MeshPart| part.part.map_or(0, |part| usize::from(part) + 1) == number;
        let own = || mesh.parts.iter().enumerate().filter(|(_, part)| belongs(part));
        let coarser = |level: &MeshLod| -> u64 {
            own().filter_map(|(i, _)| level.parts.get(i)).map(|range| u64::from(range.index_count)).sum()
        };
        PartBytesReport {
            part: number.checked_sub(1).and_then(|part| model.meta.parts.get(part)).map(|name| name.to_string()),
            vertices: u64::from(*vertices) * stride,
            indices: own().map(|(_, part)| u64::from(part.index_count)).sum::<u64>() * index,
            levels: mesh.levels.iter().map(coarser).sum::<u64>() * index,
        }
    };
    model.part_vertices.iter().enumerate().map(of_part).collect()
}

fn budget(budget: &ErrorBudget, key: &str) -> BudgetReport {
    BudgetReport { limit: Number(budget.limit as f32), key: key.to_owned(), set: budget.set }
}

fn clip_report(model: &BakedModel, index: usize) -> ClipReport {
    let (meta, clip) = (&model.meta, &model.meta.clips[index]);
    let ends = &model.loops[index];
    let change = match ends.change {
        LoopChange::None => "none",
        LoopChange::FrameAdded => "frame added",
        LoopChange::Blended => "blended",
    };
    let event = |event: &gpuskin_rt::internals::ClipEvent| EventReport {
        name: meta.events[usize::from(event.event)].to_string(),
        seconds: clip.duration * f64::from(event.phase) / f64::from(u32::MAX),
    };
    ClipReport {
        name: clip.name.to_string(),
        source: clip.source.to_string(),
        frames: clip.stored,
        intervals: clip.intervals,
        fps: clip.frame_rate,
        seconds: clip.duration,
        ends: EndsReport {
            looped: ends.looped,
            guessed: ends.guessed,
            change: change.to_owned(),
            gap: Number(ends.source_gap as f32),
        },
        root_motion: clip.root_motion.is_some(),
        additive: clip.additive.is_some(),
        events: clip.events.iter().map(event).collect(),
        encoding: error(clip, &clip.encoding_error),
        motion: error(clip, &clip.motion_error),
        step_tracks: model.errors[index].step_tracks,
        curve: CurveReport {
            frames_per_point: model.curves[index].frames_per_point,
            at_frames: points(&model.curves[index].at_frames),
            between: points(&model.curves[index].between),
        },
    }
}

fn error(clip: &ClipInfo, error: &ErrorInfo) -> ErrorReport {
    let frame = f64::from(error.time) * clip.frame_rate;
    ErrorReport {
        max: Number(error.max),
        p9996: Number(error.p9996),
        normal_degrees: Number(error.normal_degrees),
        seconds: Number(error.time),
        // Times are rounded to `f32`.
        frame: (frame * 1000.0).round() / 1000.0,
        vertex: error.vertex,
        bone: error.bone,
    }
}

fn points(points: &[CurvePoint]) -> PointsReport {
    PointsReport {
        seconds: points.iter().map(|point| Number(point.seconds)).collect(),
        error: points.iter().map(|point| Number(point.error)).collect(),
        vertex: points.iter().map(|point| point.vertex).collect(),
        bone: points.iter().map(|point| point.bone).collect(),
    }
}

fn candidate(candidate: &Candidate) -> CandidateReport {
    let worst = |error: fn(&ClipErrors) -> f32| candidate.errors.iter().map(error).reduce(f32::max).map(Number);
    let errors = || {
        Some(CandidateErrors {
            encoding: worst(|e| e.encoding.max)?,
            encoding_p9996: worst(|e| e.encoding.p9996)?,
            motion: worst(|e| e.motion.max)?,
            motion_p9996: worst(|e| e.motion.p9996)?,
            normal_degrees: worst(|e| e.motion.normal_degrees)?,
        })
    };
    CandidateReport {
        encoding: candidate.encoding.name().to_owned(),
        gpu_bytes: candidate.gpu_bytes,
        bytes_per_sample: candidate.bytes_per_bone_sample,
        errors: errors(),
        chosen: candidate.refused.is_none(),
        reason: candidate.refused.clone(),
    }
}
