//! Helpers shared by the importer tests.
#![allow(dead_code, unreachable_pub, reason = "several test crates include this module and use a part of it")]

pub mod bake;
pub mod build;
pub mod manifest;
pub mod mutate;
pub mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpuskin_build::internals::import::{Pixels, import};
use gpuskin_build::internals::manifest::{AnimationEntry, At, ClipEntry, Fps, Limits, ModelEntry, Storage};
use gpuskin_build::internals::model::{Clip, Interpolation, Model};
use gpuskin_build::{Diagnostic, Diagnostics, Manifest};

/// Returns a value with an empty span.
pub fn at<T>(value: T) -> At<T> {
    At { value, span: 0..0 }
}

/// Returns a file of `animations` whose nodes are matched by name.
pub fn animation(path: &str) -> AnimationEntry {
    AnimationEntry { path: at(path.into()), retarget: None }
}

/// Returns a manifest entry: the default of every key, except for the encoding and the frame rate.
pub fn entry(path: &str) -> ModelEntry {
    ModelEntry {
        name: at("model".into()),
        path: at(path.into()),
        encoding: Some(at(gpuskin_rt::internals::Encoding::MatrixF32)),
        fps: Fps::Source,
        clips: None,
        ..default_entry()
    }
}

/// Returns a `[model.clips.<name>]` table with default settings.
pub fn clip(name: &str, source: Option<&str>) -> ClipEntry {
    let clip = default_entry().clips.expect("the manifest has a clip").remove(0);
    ClipEntry { name: at(name.into()), source: source.map(|s| at(s.into())), ..clip }
}

/// Returns the settings of a model that has required keys only, and one clip.
fn default_entry() -> ModelEntry {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("gpuskin.toml");
    let text = "[[model]]\nname = \"model\"\npath = \"Cargo.toml\"\nclips.run = {}\n";
    Manifest::parse(&path, text).expect("a valid manifest").models.remove(0)
}

/// Result of an import.
pub struct Outcome {
    pub model: Option<Model>,
    pub diagnostics: Diagnostics,
    pub inputs: BTreeSet<PathBuf>,
}

impl Outcome {
    /// Returns the model. Panics with the errors if the import failed.
    #[track_caller]
    pub fn model(&self) -> &Model {
        match &self.model {
            Some(model) => model,
            None => panic!("not imported: {:#?}", self.errors()),
        }
    }

    pub fn errors(&self) -> Vec<String> {
        self.diagnostics.iter().filter(|f| f.is_error()).map(Diagnostic::to_string).collect()
    }

    pub fn warnings(&self) -> Vec<String> {
        self.diagnostics.iter().filter(|f| !f.is_error()).map(Diagnostic::to_string).collect()
    }
}

/// Asserts that an import has an error that contains all parts.
#[track_caller]
pub fn refused(outcome: &Outcome, parts: &[&str]) {
    let errors = outcome.errors();
    assert!(errors.iter().any(|e| parts.iter().all(|p| e.contains(p))), "no error contains {parts:?}: {errors:#?}");
}

/// Asserts that an import has succeeded, with a warning that contains all parts.
#[track_caller]
pub fn warned(outcome: &Outcome, parts: &[&str]) {
    outcome.model();
    let warnings = outcome.warnings();
    assert!(
        warnings.iter().any(|e| parts.iter().all(|p| e.contains(p))),
        "no warning contains {parts:?}: {warnings:#?}"
    );
}

/// Imports an entry with paths relative to `folder`.
pub fn import_entry(folder: &Path, entry: &ModelEntry, pixels: Pixels) -> Outcome {
    import_within(folder, entry, pixels, Limits::default())
}

/// Imports an entry with the given limits.
pub fn import_within(folder: &Path, entry: &ModelEntry, pixels: Pixels, limits: Limits) -> Outcome {
    let manifest = Manifest {
        path: folder.join("gpuskin.toml"),
        folder: folder.to_owned(),
        source: Arc::new(miette::NamedSource::new("gpuskin.toml", String::new())),
        storage: Storage::Auto,
        limits,
        roots: vec![],
        models: vec![],
        environments: vec![],
    };
    let (mut diagnostics, mut inputs) = (Diagnostics::default(), BTreeSet::new());
    let model = import(&manifest, entry, pixels, &mut diagnostics, &mut inputs);
    assert_eq!(model.is_none(), diagnostics.has_errors(), "an import must return either a model or an error");
    if let Some(model) = &model {
        check(model);
    }
    Outcome { model, diagnostics, inputs }
}

/// Imports a file with default settings.
pub fn import_file(folder: &Path, path: &str) -> Outcome {
    import_entry(folder, &entry(path), Pixels::Decode)
}

/// Checks the invariants that are documented for `Model`.
pub fn check(model: &Model) {
    let nodes = model.nodes.len();
    let mut place = vec![usize::MAX; nodes];
    assert_eq!(model.order.len(), nodes);
    for (i, node) in model.order.iter().enumerate() {
        place[*node] = i;
    }
    for (i, node) in model.nodes.iter().enumerate() {
        assert!(place[i] < nodes);
        assert!(node.parent.is_none_or(|p| place[p] < place[i]), "node {i} comes before its parent");
    }
    assert!(model.bones.windows(2).all(|w| place[w[0].node] <= place[w[1].node]));
    let mut used = vec![false; model.bones.len()];
    assert!(!model.primitives.is_empty());
    assert!(model.primitives.windows(2).all(|w| (w[0].node, w[0].index) < (w[1].node, w[1].index)));
    for p in &model.primitives {
        let vertices = p.positions.len();
        assert!(p.positions.iter().all(|x| x.is_finite()));
        assert!(p.normals.as_ref().is_none_or(|n| n.len() == vertices && n.iter().all(|x| x.is_finite())));
        assert!(p.tangents.as_ref().is_none_or(|t| t.len() == vertices && t.iter().all(|x| x.is_finite())));
        assert!(p.uvs.is_empty() || p.uvs.len() == vertices);
        assert!(p.targets.len() <= model.nodes[p.node].weights.len());
        for target in &p.targets {
            let finite = |d: &Vec<glam::DVec3>| d.len() == vertices && d.iter().all(|x| x.is_finite());
            assert!(finite(&target.positions));
            assert!(target.normals.as_ref().is_none_or(|d| p.normals.is_some() && finite(d)));
            assert!(target.tangents.as_ref().is_none_or(|d| p.tangents.is_some() && finite(d)));
        }
        assert!(p.triangles.iter().flatten().all(|i| (*i as usize) < vertices));
        assert!(p.material < model.materials.len());
        assert_eq!(p.influences.len(), vertices);
        for v in 0..vertices {
            let list = p.influences.of(v);
            assert!(!list.is_empty());
            assert!(list.windows(2).all(|w| w[0].1 > w[1].1 || (w[0].1 == w[1].1 && w[0].0 < w[1].0)));
            assert!(list.iter().all(|(_, w)| *w > 0.0));
            assert!((list.iter().map(|x| x.1).sum::<f64>() - 1.0).abs() < 1e-12);
            list.iter().for_each(|(bone, _)| used[usize::from(*bone)] = true);
        }
    }
    let of_bones = model.bones.len() - model.morph_bones;
    for track in &model.morph_tracks {
        assert!(track.axis < 3 && track.bone >= of_bones && track.scale > 0.0);
        assert!(track.target < model.nodes[track.node].weights.len());
        used[track.bone] = true;
    }
    let needed = used.iter().zip(&model.bones).all(|(used, bone)| *used || model.sockets.contains(&bone.node));
    assert!(needed, "a bone has neither vertices nor a socket nor a morph target");
    for m in &model.materials {
        assert!(m.base_color_texture.is_none_or(|t| t.image < model.images.len()));
    }
    assert!(!model.clips.is_empty());
    for c in &model.clips {
        assert!(c.end.is_finite() && c.end >= 0.0 && c.start <= c.end);
        assert!(c.channels.windows(2).all(|w| (w[0].node, w[0].property) < (w[1].node, w[1].property)));
        assert!(c.morphs.windows(2).all(|w| w[0].node < w[1].node));
        for channel in &c.morphs {
            let curve = &channel.curve;
            let each = if curve.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
            assert!(curve.targets > 0 && curve.targets == model.nodes[channel.node].weights.len());
            assert!(!curve.times.is_empty() && curve.times.windows(2).all(|w| w[0] < w[1]));
            assert_eq!(curve.values.len(), curve.times.len() * curve.targets * each);
            assert!(curve.values.iter().all(|v| v.is_finite()));
        }
        for channel in &c.channels {
            let curve = &channel.curve;
            let each = if curve.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
            assert!(channel.node < nodes);
            assert!(!curve.times.is_empty());
            assert!(curve.times.windows(2).all(|w| w[0] < w[1]));
            assert_eq!(curve.values.len(), curve.times.len() * each);
            assert!(curve.values.iter().all(|v| v.is_finite()));
        }
    }
}

/// Returns the morph weights of a node at a time of a clip, or at rest.
pub fn morph_weights(model: &Model, clip: Option<&Clip>, node: usize, time: f64) -> Vec<f64> {
    let Some(channel) = clip.and_then(|c| c.morphs.iter().find(|m| m.node == node)) else {
        return model.nodes[node].weights.clone();
    };
    let curve = &channel.curve;
    let cubic = curve.interpolation == Interpolation::CubicSpline;
    // Row 0 is the value. In a cubic curve, row -1 is the in-tangent and row 1 the out-tangent.
    let at = |key: usize, target: usize, row: isize| {
        let row = if cubic { (3 * key + 1).strict_add_signed(row) } else { key };
        curve.values[row * curve.targets + target]
    };
    let last = curve.times.len() - 1;
    let key = curve.times.iter().rposition(|t| *t <= time).unwrap_or(0);
    (0..curve.targets)
        .map(|k| {
            if key == last || time <= curve.times[0] || curve.interpolation == Interpolation::Step {
                return at(key, k, 0);
            }
            let span = curve.times[key + 1] - curve.times[key];
            let u = (time - curve.times[key]) / span;
            let (a, b) = (at(key, k, 0), at(key + 1, k, 0));
            if !cubic {
                return a * (1.0 - u) + b * u;
            }
            // With Bézier control points instead of Hermite polynomials, to be independent of the
            // importer.
            let (c, d) = (a + at(key, k, 1) * span / 3.0, b - at(key + 1, k, -1) * span / 3.0);
            let v = 1.0 - u;
            a * v.powi(3) + 3.0 * c * v * v * u + 3.0 * d * v * u * u + b * u.powi(3)
        })
        .collect()
}

/// Returns the folder of the shared models and of the ground truth.
///
/// # Panics
/// Panics if the folder is missing: tests that need it are ignored unless they are asked for.
pub fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("GPUSKIN_SHARED").map_or(beside, PathBuf::from);
    assert!(folder.join("models").is_dir(), "no models in {}; set GPUSKIN_SHARED to their folder", folder.display());
    folder
}

/// Returns all glTF files below a folder, sorted, with paths relative to the folder.
pub fn models(folder: &Path) -> Vec<String> {
    let mut found = vec![];
    let mut stack = vec![folder.to_owned()];
    while let Some(next) = stack.pop() {
        for item in std::fs::read_dir(next).expect("readable").map(|e| e.expect("readable").path()) {
            if item.is_dir() {
                stack.push(item);
            } else if item.extension().is_some_and(|e| e == "glb" || e == "gltf") {
                found.push(item.strip_prefix(folder).expect("below").to_str().expect("UTF-8").to_owned());
            }
        }
    }
    found.sort();
    found
}
