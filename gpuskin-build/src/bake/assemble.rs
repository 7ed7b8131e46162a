//! `ModelOutline -> BakedModel`: chooses an encoding per class of devices, and makes the files.

use std::collections::BTreeMap;

use gpuskin_rt::internals::morph::MAX_TEXELS;
use gpuskin_rt::internals::vertex::{MAX_INFLUENCES, Vertex};
use gpuskin_rt::internals::{Encoding, ErrorInfo, MAX_LODS, Normals};

use super::attempt::{Attempt, AttemptSource, ErrorLimits, PackedMeshes};
use super::baked_model::{BakedModel, Trace};
use super::budgets::ErrorBudgets;
use super::choose::{Choice, EncodingChoice, limits};
use super::files::{self, BakedMaterials, FileSet};
use super::options::{BakeOptions, Stage};
use super::plan::BakePlan;
use super::plan::ModelOutline;
use crate::color;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::geometry::influences::KeptInfluences;
use crate::geometry::lods::{self, BonePoses, LodSet};
use crate::geometry::{Dropped, Geometry};
use crate::manifest::{DeviceClass, InfluenceLimit, Lods, Manifest, ModelEntry, RestTime, Storage};
use crate::model::{Clip, Model};
use crate::units::length;
use crate::vertex_mode::{RestMesh, rest_mesh};

/// Bakes a model for all classes of devices. Also returns its files by path under `gpuskin/`.
/// Returns `None` after an error.
pub(super) fn assemble(
    manifest: &Manifest,
    entry: &ModelEntry,
    outline: &ModelOutline,
    options: &BakeOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(BakedModel, BTreeMap<String, Vec<u8>>)> {
    options.report(entry, Stage::Encode);
    let within = Label::model(&outline.model.name);
    let limits = limits(&entry.tolerances, outline.diagonal);
    let ErrorLimits { encoding: tolerance, normal, .. } = limits;
    let budgets = ErrorBudgets::new(&limits, &entry.tolerances);
    let kept = KeptInfluences::new(&outline.model, entry.influences, tolerance, normal);
    let geometry = Geometry::new(&outline.model, &kept);
    if geometry.morphs.words.len() > 4 * MAX_TEXELS {
        let message = format!(
            "its morph targets move vertices in {} places; at most {MAX_TEXELS} are supported",
            geometry.morphs.words.len() / 4
        );
        let diagnostic = Diagnostic::error(DiagnosticCode::LimitMorphs, message)
            .help("remove targets that no clip moves, set `morphs = false`, or use `mode = \"vertex\"`");
        diagnostics.push(diagnostic.within(&within).at(&manifest.source, entry.name.span.clone()));
        return None;
    }
    let packed = PackedMeshes::default();
    let source = AttemptSource { outline, bones: &geometry, normals: entry.normals, tolerance, packed: &packed };
    let choice = EncodingChoice { entry, source, options };
    let (materials, planned) = color::plan(&outline.model);
    let formats = options.textures.unwrap_or(&entry.textures);
    let (cache, mut of_textures, mut textures) = (options.cache, Diagnostics::default(), Vec::new());
    let mut detail =
        LodCache { source, lods: if options.skip_errors { Lods::Most(0) } else { entry.lods }, known: None };
    // Neither textures nor levels of detail in bone mode depend on the encoding: both are made while encodings are tried.
    let attempts = rayon::in_place_scope(|scope| {
        scope.spawn(|_| textures = color::bake(&outline.model, &planned, formats, cache, &mut of_textures));
        if outline.vertices.is_none() {
            scope.spawn(|_| {
                detail.levels(Encoding::LocalPacked);
            });
        }
        attempts(manifest, &choice, diagnostics)
    })?;
    let any_bones = attempts.iter().any(|made| !made.attempt.plan.encoding.is_vertex());
    if geometry.dropped.vertices > 0 && any_bones {
        diagnostics.push(dropped(&geometry.dropped, entry.influences).within(&within));
    }
    let any_vertices = attempts.iter().any(|made| made.attempt.plan.encoding.is_vertex());
    if let Some(rest) = entry.rest_frame.as_ref().filter(|_| !any_vertices) {
        let message = "`rest_frame` has no effect: bone mode was chosen because it is smaller, and it stores the mesh as modelled";
        let diagnostic = Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message)
            .help("set `mode = \"vertex\"`, or remove `rest_frame`");
        diagnostics.push(diagnostic.within(&within).at(&manifest.source, rest.clip.span.clone()));
    }
    if entry.normals == Normals::Plain && !any_bones {
        let message = "`normals = \"plain\"` has no effect in vertex mode, which stores baked normals";
        diagnostics.push(Diagnostic::warning(DiagnosticCode::ManifestNoEffect, message).within(&within));
    }
    diagnostics.extend(of_textures);
    let colors = BakedMaterials { materials, textures };
    let mut made = attempts.into_iter().enumerate().map(|(n, Choice { attempt, candidates, .. })| {
        for (clip, misfit) in &attempt.misfits {
            diagnostics.push(choice.misfit_diagnostic(&attempt, *clip, *misfit).within(&within));
        }
        check_errors(&attempt, outline.diagonal, entry.tolerances.encoding.is_some(), diagnostics);
        let still = rest_mesh_at_frame(outline, &attempt.plan).unwrap_or_else(|diagnostic| {
            let span = entry.rest_frame.as_ref().map_or(entry.name.span.clone(), |rest| rest.time.span.clone());
            diagnostics.push(diagnostic.within(&within).at(&manifest.source, span));
            None
        });
        let lods = detail.levels(attempt.plan.encoding);
        let (meta, FileSet { payloads, files }) =
            files::write(manifest.storage, source, &attempt, lods, still.as_ref(), &colors, n == 0);
        let copied: Vec<u32> = lods.copies.iter().map(|copy| copy.of).collect();
        let copies = lods.copies.iter().map(|copy| (copy.of, copy.vertex));
        let source_mesh = attempt.source_mesh(source, copies);
        let Attempt { plan, errors, mut curves, .. } = attempt;
        curves.iter_mut().for_each(|curve| curve.vertices.repeat(&copied));
        let sockets = if plan.encoding.is_vertex() { Vec::new() } else { sockets(&plan.model) };
        let geometry = source.geometry(plan.encoding);
        let drawn = geometry.vertices.iter().chain(lods.copies.iter().map(|copy| &copy.vertex));
        let part_vertices = part_vertices(drawn, meta.parts.len());
        let (dropped, baked_of_source) = (geometry.dropped, geometry.baked_of_source.clone());
        let trace = Some(Trace { plan, baked_of_source });
        let loops = outline.clips.iter().map(|clip| clip.loops).collect();
        let fetched = manifest.storage == Storage::Fetch;
        let others = Vec::new();
        let made = BakedModel {
            meta,
            payloads,
            fetched,
            errors,
            curves,
            source: source_mesh,
            sockets,
            part_vertices,
            budgets,
            loops,
            dropped,
            candidates,
            others,
            trace,
        };
        (made, files)
    });
    let (mut model, mut files) = made.next()?;
    for (other, its_files) in made {
        model.others.push(other);
        files.extend(its_files);
    }
    let FileSet { payloads, files: of_textures } = files::of_textures(manifest.storage, &model.meta, colors.textures);
    model.payloads.extend(payloads);
    files.extend(of_textures);
    let files = files::in_content_folder(&mut model, files);
    options.report(entry, Stage::Done);
    Some((model, files))
}

/// Returns the static mesh of vertex mode; `None` in bone mode.
fn rest_mesh_at_frame(outline: &ModelOutline, plan: &BakePlan) -> Result<Option<RestMesh>, Diagnostic> {
    let Some(mesh) = outline.vertices.as_ref().filter(|_| plan.encoding.is_vertex()) else { return Ok(None) };
    let Some((clip, time)) = outline.rest else { return Ok(Some(rest_mesh(&plan.model, mesh, None))) };
    let grid = &plan.grids[clip];
    let seconds = match time {
        RestTime::Seconds(seconds) => seconds,
        RestTime::Frame(frame) if frame <= grid.intervals => grid.time(frame),
        RestTime::Frame(frame) => {
            let (name, last) = (&plan.model.clips[clip].name, grid.intervals);
            let message = format!("`rest_frame` is frame {frame}, but the last frame of clip `{name}` is {last}");
            let help = "baked frames are counted from 0; `time` takes seconds, independent of the frame rate";
            return Err(Diagnostic::error(DiagnosticCode::ManifestValue, message).help(help).clip(name));
        }
    };
    Ok(Some(rest_mesh(&plan.model, mesh, Some((clip, grid, seconds)))))
}

/// Encodes a model for each class of devices, once per encoding. `None` if there is an error.
fn attempts<'a>(
    manifest: &Manifest,
    choice: &EncodingChoice<'a>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Choice>> {
    let EncodingChoice { entry, source, options } = *choice;
    let within = Label::model(&source.outline.model.name);
    let mut attempts: Vec<Choice> = Vec::new();
    let named = entry.encoding.as_ref().filter(|_| options.encoding.is_none());
    if let Some(at) = named.filter(|at| at.value.needs_compute() && entry.devices.contains(&DeviceClass::WebGl2)) {
        let message =
            format!("`encoding = \"{}\"` needs compute shaders, but `devices` contains \"webgl2\"", at.value.name());
        let help = "remove `encoding` to have one chosen per class of devices, or remove \"webgl2\" from `devices`";
        let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help).within(&within);
        diagnostics.push(diagnostic.at(&manifest.source, at.span.clone()));
        return None;
    }
    // A named encoding is the same for all classes.
    let classes = if named.is_some() || options.encoding.is_some() { &entry.devices[..1] } else { &entry.devices };
    for &class in classes {
        options.report(entry, Stage::Measure);
        match choice.make(class) {
            Ok(made) if attempts.iter().any(|other| other.attempt.plan.encoding == made.attempt.plan.encoding) => {}
            Ok(mut made) => {
                for warning in std::mem::take(&mut made.warnings) {
                    diagnostics.push(warning.within(&within).at(&manifest.source, entry.name.span.clone()));
                }
                attempts.push(made);
            }
            Err(diagnostic) => {
                let tolerance = entry.tolerances.encoding.as_ref().map(|at| &at.span);
                let at = entry.encoding.as_ref().map(|at| &at.span).or(tolerance).unwrap_or(&entry.name.span);
                diagnostics.push(diagnostic.within(&within).at(&manifest.source, at.clone()));
                return None;
            }
        }
    }
    Some(attempts)
}

/// Levels of detail, computed once for all encodings that share a mesh.
struct LodCache<'a> {
    source: AttemptSource<'a>,
    lods: Lods,
    /// Levels, and whether they belong to the mesh of vertex mode.
    known: Option<(bool, LodSet)>,
}

/// Levels of detail of a mesh that has none.
static NO_LEVELS: LodSet = LodSet { levels: Vec::new(), copies: Vec::new() };

impl LodCache<'_> {
    fn levels(&mut self, encoding: Encoding) -> &LodSet {
        let (most, fewest) = match self.lods {
            // Fields, which vertex mode is mostly for, are drawn in one level.
            Lods::Auto if encoding.is_vertex() => (0, lods::MIN_TRIANGLES),
            Lods::Auto => (MAX_LODS - 1, lods::MIN_TRIANGLES),
            Lods::Most(most) => (most, lods::FEWEST_TRIANGLES),
        };
        if most == 0 {
            return &NO_LEVELS;
        }
        let outline = self.source.outline;
        if self.known.as_ref().is_none_or(|(vertices, _)| *vertices != encoding.is_vertex()) {
            let geometry = self.source.geometry(encoding);
            let made = match &outline.vertices {
                // Normals are in the animation texture.
                Some(mesh) if encoding.is_vertex() => {
                    let poses = lods::of_vertices(&outline.model, mesh);
                    LodSet { levels: lods::levels(geometry, &poses, most, fewest), copies: Vec::new() }
                }
                _ => {
                    let bones = BonePoses::new(&outline.model, geometry.vertices.len());
                    // Morph targets have a word for each vertex.
                    let may_copy = geometry.morphs.words.len() + geometry.vertices.len() <= 4 * MAX_TEXELS;
                    LodSet::new(&outline.model, geometry, &bones, (most, fewest), may_copy)
                }
            };
            self.known = Some((encoding.is_vertex(), made));
        }
        self.known.as_ref().map_or(&NO_LEVELS, |(_, made)| made)
    }
}

/// Returns the number of vertices that are always visible, and of those of each part; nothing without parts.
fn part_vertices<'v>(vertices: impl Iterator<Item = &'v Vertex>, parts: usize) -> Vec<u32> {
    let mut counts = if parts > 0 { vec![0; parts + 1] } else { Vec::new() };
    for vertex in vertices {
        if let Some(count) = counts.get_mut(vertex.part as usize) {
            *count += 1;
        }
    }
    counts
}

/// Returns the bones of the sockets of a model, ascending.
fn sockets(model: &Model) -> Vec<u32> {
    let bones = (0..).zip(&model.bones);
    bones.filter(|(_, bone)| model.sockets.contains(&bone.node)).map(|(index, _)| index).collect()
}

fn dropped(dropped: &Dropped, influences: InfluenceLimit) -> Diagnostic {
    let influences = match influences {
        InfluenceLimit::Auto => MAX_INFLUENCES,
        InfluenceLimit::Most(most) => most,
    };
    let Dropped { vertices, weight } = dropped;
    let share = weight * 100.0;
    let message = format!(
        "{vertices} vertices have more than {influences} influences; up to {share:.1} % of the weight of a vertex was dropped"
    );
    let help = format!("limit influences to {influences} in the modelling tool (Blender: Weights > Limit Total)");
    Diagnostic::warning(DiagnosticCode::SkinInfluences, message).help(help)
}

/// Encoding error, relative to the diagonal of the rest pose, from which on a warning is given:
/// such an error is visible at a distance.
const VISIBLE_ERROR_RATIO: f64 = 0.01;

/// Reports an error for each clip with poses that are not finite, and a warning for the greatest of visible errors, if `accepted`:
/// the manifest sets a tolerance. Without one, the choice of the encoding warns of smaller errors.
fn check_errors(attempt: &Attempt, size: f64, accepted: bool, diagnostics: &mut Diagnostics) {
    let (plan, encoding) = (&attempt.plan, attempt.plan.encoding.name());
    let clips = || plan.model.clips.iter().zip(attempt.errors.iter().map(|errors| errors.encoding));
    let place = |clip: &Clip, error: &ErrorInfo| {
        let bone = &plan.model.bones[error.bone as usize].name;
        (bone, format!("clip `{}`, at {:.3} s, bone `{bone}`", clip.name, error.time))
    };
    let mut push = |diagnostic: Diagnostic, clip: &Clip, bone: &str| {
        diagnostics.push(diagnostic.clip(&clip.name).bone(bone).within(Label::model(&plan.model.name)));
    };
    for (clip, error) in clips().filter(|(_, error)| !error.max.is_finite()) {
        let (bone, place) = place(clip, &error);
        let message = format!("{place}: the pose is out of the range of {encoding}");
        push(Diagnostic::error(DiagnosticCode::EncodingRange, message), clip, bone);
    }
    let visible = |error: &ErrorInfo| error.max.is_finite() && f64::from(error.max) > size * VISIBLE_ERROR_RATIO;
    let visible = || clips().filter(|(_, error)| accepted && visible(error));
    let Some((clip, error)) = visible().max_by(|(_, a), (_, b)| a.max.total_cmp(&b.max)) else { return };
    let (bone, place) = place(clip, &error);
    let others = match visible().count() - 1 {
        0 => String::new(),
        1 => "; another clip has a visible error, too".to_owned(),
        count => format!("; {count} other clips have visible errors, too"),
    };
    let (length, diagonal) = (length(error.max), length(size as f32));
    let message =
        format!("{place}: {encoding} has an error of {length}, on a model with a diagonal of {diagonal}{others}");
    push(Diagnostic::warning(DiagnosticCode::EncodingCoarse, message), clip, bone);
}
