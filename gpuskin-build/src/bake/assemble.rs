//! `Outline -> BakedModel`: an encoding for each class of devices, and the files.

use std::collections::BTreeMap;

use gpuskin_rt::vertex::{self, Vertex};
use gpuskin_rt::{Data, Encoding, ErrorInfo, MAX_LEVELS, MeshInfo, Metadata, Model, Normals, Payload, Texels};

use super::attempt::{Attempt, AttemptSource};
use super::choose::{Candidate, EncodingChoice, limits};
use super::files::{self, BakedMaterials, FileSet};
use super::plan::ModelOutline;
use super::{BakeOptions, BakePlan, Stage};
use crate::color;
use crate::diagnostic::{DiagnosticCode, Diagnostic, Diagnostics, Label};
use crate::geometry::lods::{self, LodMesh};
use crate::geometry::{Dropped, Geometry};
use crate::manifest::{DeviceClass, Lods, Manifest, ModelEntry, RestMoment};
use crate::measure::ClipErrors;
use crate::units::length;
use crate::vertex_mode::{StillMesh, still};

/// A baked model: the constants and files for the game, and what is needed to look back at the source.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
    /// Encodings that were looked at: none where one was named, all of them with [`BakeOptions::explain`].
    pub candidates: Vec<Candidate>,
    /// The same model for other classes of devices.
    #[serde(skip)]
    pub others: Vec<BakedModel>,
    /// Where it comes from; `None` where it was taken from a cache.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

/// The way back from a baked model to its source.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The source, its frames and where each stands.
    pub plan: BakePlan,
    /// For each vertex of each primitive of the source, in their order: its vertex in the mesh.
    pub baked_of_source: Vec<u32>,
}

impl BakedModel {
    /// The way back to its source.
    ///
    /// # Panics
    /// Where it was taken from a cache; [`bake`](super::bake()) takes none from there.
    pub fn trace(&self) -> &Trace {
        self.trace.as_ref().expect("it was baked just now")
    }

    /// The model as the runtime takes it, with its files' bytes in memory. `file`: the bytes of a payload.
    pub(crate) fn runtime(&self, mut file: impl FnMut(&str) -> Vec<u8>) -> Model {
        self.runtime_with(&mut file)
    }

    fn runtime_with(&self, file: &mut dyn FnMut(&str) -> Vec<u8>) -> Model {
        let load = |(name, payload): &(String, Payload)| {
            let data = Data::Bytes(file(name).into());
            Payload { data, ..payload.clone() }
        };
        let mut loaded = self.payloads.iter().map(load);
        let mut next = || loaded.next().expect("a model has an animation and a mesh");
        let (animation, mesh) = (next(), next());
        let textures = loaded.collect();
        let others = self.others.iter().map(|other| other.runtime_with(file)).collect();
        Model { meta: self.meta.clone(), animation, mesh, textures, others }
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

/// Bakes a model for all classes of devices; its files by their paths under `gpuskin/`. `None`: an error was found.
pub(super) fn assemble(
    manifest: &Manifest,
    entry: &ModelEntry,
    outline: &ModelOutline,
    options: &BakeOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(BakedModel, BTreeMap<String, Vec<u8>>)> {
    options.report(entry, Stage::Encode);
    let within = Label::model(&outline.model.name);
    let geometry = Geometry::new(&outline.model, entry.influences);
    let tolerance = limits(&entry.tolerances, outline.diagonal).encoding;
    let source = AttemptSource { outline, bones: &geometry, normals: entry.normals, tolerance };
    let choice = EncodingChoice { entry, source, options };
    let mut attempts: Vec<(Attempt, Vec<Candidate>)> = Vec::new();
    let named = entry.encoding.as_ref().filter(|_| options.encoding.is_none());
    if let Some(at) = named.filter(|at| at.value.needs_compute() && entry.devices.contains(&DeviceClass::WebGl2)) {
        let message = format!("{} needs compute shaders, and `devices` names \"webgl2\"", at.value.name());
        let help = "leave `encoding` out: one is chosen for each class of devices; or take \"webgl2\" away";
        let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help).within(&within);
        diagnostics.push(diagnostic.at(&manifest.source, at.span.clone()));
        return None;
    }
    // What is named is the same for all.
    let classes = if named.is_some() || options.encoding.is_some() { &entry.devices[..1] } else { &entry.devices };
    for &class in classes {
        options.report(entry, Stage::Measure);
        match choice.make(class) {
            Ok(made) if attempts.iter().any(|(a, _)| a.plan.encoding == made.0.plan.encoding) => {}
            Ok(made) => attempts.push(made),
            Err(diagnostic) => {
                let tolerance = entry.tolerances.encoding.as_ref().map(|at| &at.span);
                let at = entry.encoding.as_ref().map(|at| &at.span).or(tolerance).unwrap_or(&entry.name.span);
                diagnostics.push(diagnostic.within(&within).at(&manifest.source, at.clone()));
                return None;
            }
        }
    }
    let any_bones = attempts.iter().any(|(attempt, _)| !attempt.plan.encoding.is_vertex());
    if geometry.dropped.vertices > 0 && any_bones {
        diagnostics.push(dropped(&geometry.dropped, entry.influences).within(&within));
    }
    let any_vertices = attempts.iter().any(|(attempt, _)| attempt.plan.encoding.is_vertex());
    if let Some(rest) = entry.rest_frame.as_ref().filter(|_| !any_vertices) {
        let message =
            "`rest_frame` has no effect: bones were found to be smaller, and their mesh stands as it was modelled";
        let diagnostic =
            Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message).help("write `mode = \"vertex\"`, or leave it out");
        diagnostics.push(diagnostic.within(&within).at(&manifest.source, rest.clip.span.clone()));
    }
    if entry.normals == Normals::Plain && !any_bones {
        let message = "`normals = \"plain\"` has no effect in vertex mode: normals are baked, not turned";
        diagnostics.push(Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message).within(&within));
    }
    let (materials, planned) = color::plan(&outline.model);
    let formats = options.textures.unwrap_or(&entry.textures);
    let textures = color::bake(&outline.model, &planned, formats, options.cache, diagnostics);
    let colors = BakedMaterials { materials, textures };
    let mut detail = LodCache { source, lods: if options.skip_errors { Lods::Most(0) } else { entry.lods }, known: None };
    let mut made = attempts.into_iter().enumerate().map(|(n, (attempt, candidates))| {
        for (clip, misfit) in &attempt.misfits {
            diagnostics.push(choice.misfit(&attempt, *clip, *misfit).within(&within));
        }
        judge(&attempt, outline.diagonal, diagnostics);
        let still = still_mesh(outline, &attempt.plan).unwrap_or_else(|diagnostic| {
            let span = entry.rest_frame.as_ref().map_or(entry.name.span.clone(), |rest| rest.moment.span.clone());
            diagnostics.push(diagnostic.within(&within).at(&manifest.source, span));
            None
        });
        let FileSet { meta, payloads, files } = {
            let levels = detail.levels(attempt.plan.encoding);
            files::write(manifest.storage, source, &attempt, levels, still.as_ref(), &colors, n == 0)
        };
        let Attempt { plan, errors, .. } = attempt;
        let geometry = source.geometry(plan.encoding);
        let (dropped, baked_of_source) = (geometry.dropped, geometry.baked_of_source.clone());
        let trace = Some(Trace { plan, baked_of_source });
        (BakedModel { meta, payloads, errors, dropped, candidates, others: Vec::new(), trace }, files)
    });
    let (mut model, mut files) = made.next()?;
    for (other, its_files) in made {
        model.others.push(other);
        files.extend(its_files);
    }
    options.report(entry, Stage::Done);
    Some((model, files))
}

/// The mesh as it stands still, where vertices are baked.
fn still_mesh(outline: &ModelOutline, plan: &BakePlan) -> Result<Option<StillMesh>, Diagnostic> {
    let Some(mesh) = outline.vertices.as_ref().filter(|_| plan.encoding.is_vertex()) else { return Ok(None) };
    let Some((clip, moment)) = outline.rest else { return Ok(Some(still(&plan.model, mesh, None))) };
    let grid = &plan.grids[clip];
    let seconds = match moment {
        RestMoment::Seconds(seconds) => seconds,
        RestMoment::Frame(frame) if frame <= grid.intervals => grid.time(frame),
        RestMoment::Frame(frame) => {
            let (name, last) = (&plan.model.clips[clip].name, grid.intervals);
            let message = format!("`rest_frame` is frame {frame} of clip `{name}`, whose last is {last}");
            let help = "frames are those that are baked, from 0; `time` takes seconds, whatever the rate";
            return Err(Diagnostic::error(DiagnosticCode::ManifestValue, message).help(help).clip(name));
        }
    };
    Ok(Some(still(&plan.model, mesh, Some((clip, grid, seconds)))))
}

/// Levels of detail, found once for encodings that share a mesh.
struct LodCache<'a> {
    source: AttemptSource<'a>,
    lods: Lods,
    /// Of the mesh of vertex mode, or of the other.
    known: Option<(bool, Vec<LodMesh>)>,
}

impl LodCache<'_> {
    fn levels(&mut self, encoding: Encoding) -> &[LodMesh] {
        let most = match self.lods {
            Lods::Auto if encoding.needs_compute() => MAX_LEVELS - 1,
            Lods::Auto => 0,
            Lods::Most(most) => most,
        };
        if most == 0 {
            return &[];
        }
        let outline = self.source.outline;
        if self.known.as_ref().is_none_or(|(vertices, _)| *vertices != encoding.is_vertex()) {
            let geometry = self.source.geometry(encoding);
            let poses = match &outline.vertices {
                Some(mesh) if encoding.is_vertex() => lods::of_vertices(&outline.model, mesh),
                _ => lods::of_bones(&outline.model, geometry),
            };
            self.known = Some((encoding.is_vertex(), lods::levels(geometry, &poses, most)));
        }
        self.known.as_ref().map_or(&[], |(_, levels)| levels)
    }
}

fn dropped(dropped: &Dropped, influences: usize) -> Diagnostic {
    let Dropped { vertices, weight } = dropped;
    let share = weight * 100.0;
    let message = format!(
        "{vertices} vertices have more than {influences} influences; up to {share:.1} % of a weight was dropped"
    );
    let help = format!("limit influences to {influences} in the modelling tool (Blender: Weights > Limit Total)");
    Diagnostic::warning(DiagnosticCode::SkinInfluences, message).help(help)
}

/// An encoding error beyond this share of the rest pose's diagonal is seen from afar.
const COARSE: f64 = 0.01;

/// Refuses clips that would not be seen at all, and tells of those that would be seen wrong.
fn judge(attempt: &Attempt, size: f64, diagnostics: &mut Diagnostics) {
    let plan = &attempt.plan;
    for (clip, errors) in plan.model.clips.iter().zip(&attempt.errors) {
        let ErrorInfo { max, time, bone, .. } = errors.encoding;
        let (bone, encoding) = (&plan.model.bones[bone as usize].name, plan.encoding.name());
        let place = format!("clip `{}`, at {time:.3} s, bone `{bone}`", clip.name);
        let diagnostic = if !max.is_finite() {
            Diagnostic::error(DiagnosticCode::EncodingRange, format!("{place}: the pose is out of the range of {encoding}"))
        } else if f64::from(max) > size * COARSE {
            let message = format!("{place}: {encoding} is {} off, on a model of {}", length(max), length(size as f32));
            Diagnostic::warning(DiagnosticCode::EncodingCoarse, message)
        } else {
            continue;
        };
        diagnostics.push(diagnostic.clip(&clip.name).bone(bone).within(Label::model(&plan.model.name)));
    }
}
