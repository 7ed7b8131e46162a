//! Import of a model: reads a glTF file and the settings of the manifest into a checked [`Model`].
//!
//! glTF files are not trusted. Indices, counts, sizes, links and the shape of the hierarchy are
//! checked before use, no function is recursive, and the size of the decoded data is bounded. All
//! errors of a model are reported together. A clip lasts from 0 s to its last key.
//!
//! # Repairs and errors
//!
//! Invalid data that other programs accept is read in the same way as they do, with a warning that
//! names file, clip, node and accessor. Data without a plausible meaning is an error. The importer
//! returns finite numbers only.
//!
//! | data in the file | result |
//! |---|---|
//! | NaN or infinite keys, positions, weights, matrices, morph target deltas | error |
//! | NaN or infinite normals, tangents, texture coordinates, colours | set to zero, with a warning |
//! | descending key times | error |
//! | several keys at one time | the curve jumps from the first of them to the last, with a warning |
//! | key times below zero | not played, with a warning |
//! | clips with equal names, or whose names are equal in Rust | all but one get a number, with a warning |
//! | clips without channels, or whose channels move nothing that is drawn | baked unchanged, with a warning |
//! | clips with one key, or of length zero | one frame |
//! | two channels for one property of a node | the last one is used, with a warning |
//! | channels for a node with a matrix | played instead of the matrix, with a warning; those of another file instead of its translation, rotation or scale |
//! | channels without a node, of unknown paths, or for weights of a node without morph targets | ignored, with a warning |
//! | a number of values that does not match the keys | error |
//! | quaternions that are not of unit length | normalised, with a warning if the length is more than 2 % off |
//! | quaternions of length zero | identity, with a warning |
//! | skin weights that do not sum to one | divided by their sum; with a warning if the sum is more than 2 % off |
//! | negative skin weights | set to zero, with a warning |
//! | vertices without skin weights | follow their first joint, with a warning |
//! | joint indices that the skin does not have | error, unless their weight is zero |
//! | singular inverse bind matrices of joints in use | kept, so that vertices are flattened, with a warning |
//! | matrices whose last row is not 0 0 0 1 | read as if it were, with a warning |
//! | joints that all mirror a skinned mesh | the mesh is mirrored once, so that its outside is visible |
//! | joints of which some mirror a mesh and some do not | kept, with a warning |
//! | too few or too many morph weights | padded with zeros or truncated, with a warning |
//! | integer vertex attributes without `KHR_mesh_quantization` | read as if it were declared, with a warning |
//! | a number of indices that is not a multiple of three | the remainder is ignored, with a warning |
//! | indices that mean a restart of the primitive | read as vertices, with a warning |
//! | byte order marks, chunks that are repeated or in the wrong order, a default scene or skeleton that does not exist | ignored, with a warning |
//! | triangles with fewer than three different vertices | removed |
//! | textures without an image | left out, with a warning |
//! | a variant of the file with other properties than base colours, or with a base colour of another size | the rest is baked, with a warning |
//! | a primitive with two materials in one variant | the first is used, with a warning |
//! | points and lines, extensions that are not drawn, scenes other than the default one | ignored, with a warning |
//! | invalid events in `extras`, or events after the end of the clip | ignored, with a warning |
//! | accessors, views and buffers beyond their data, counts above the limits of the importer | error |

mod accessor;
mod attributes;
mod binding;
mod bones;
mod broken_rules;
mod clips;
mod color;
mod color_factor;
mod coordinates;
mod curve;
mod document;
mod draco;
mod events;
mod file;
mod file_variants;
mod glb;
mod hierarchy;
mod ignored_content;
mod inputs;
mod json_budget;
mod lint;
mod looks;
mod material;
mod mesh;
mod meshopt;
mod meshopt_filter;
mod morph;
mod morph_loss;
mod morph_tracks;
mod node_names;
#[cfg(feature = "cli")]
mod outline;
mod pixels;
mod references;
mod repeated_clips;
mod repeated_files;
mod report;
mod retarget;
mod select;
mod surface;
mod surface_layers;
mod target_match;
mod target_names;
mod textures;
mod topology;
mod unbound;
mod untrusted;
mod uri;
mod variants;
mod vrm;
mod weights;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use glam::{DMat4, DVec3, DVec4};

use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::manifest::{AnimationEntry, At, Manifest, ModelEntry};
use crate::model::{Clip, Model};
use bones::Bones;
use file::{File, ImportContext};
use hierarchy::Hierarchy;
use material::Materials;
use report::Report;
use select::{ClipFile, ClipNodes};
pub use textures::Pixels;
use variants::VariantNames;

#[cfg(feature = "cli")]
pub(crate) use glb::other_format;
pub(crate) use inputs::Inputs;
#[cfg(feature = "cli")]
pub(crate) use outline::{FileOutline, import_with_or_without_clips, outline};

/// Imports a model of a manifest.
///
/// Returns `None` if an error stops the bake; `diagnostics` then has at least one error. It
/// receives all errors and warnings of the model, not only the first. `inputs` receives every file
/// that was read or should have been read, including buffers and images, also when the import
/// fails.
pub fn import(
    manifest: &Manifest,
    entry: &ModelEntry,
    pixels: Pixels,
    diagnostics: &mut Diagnostics,
    inputs: &mut BTreeSet<PathBuf>,
) -> Option<Model> {
    let mut read = Inputs::without_digests();
    let model = import_with_inputs(manifest, entry, pixels, diagnostics, &mut read);
    inputs.extend(read.paths().cloned());
    model
}

/// Imports a model like [`import`], and also records the fingerprints of the files that were read.
pub(crate) fn import_with_inputs(
    manifest: &Manifest,
    entry: &ModelEntry,
    pixels: Pixels,
    diagnostics: &mut Diagnostics,
    inputs: &mut Inputs,
) -> Option<Model> {
    let mut report = Report::new(manifest, entry, diagnostics);
    let animations = repeated_files::without(entry, &mut report);
    let shared = ImportContext::new(manifest, inputs);
    let mut open = |path: &At<String>| {
        let file = File::open(&manifest.folder.join(&path.value), &path.value, &shared);
        let refused =
            |diagnostics: Vec<Diagnostic>| diagnostics.into_iter().for_each(|f| report.error_at(&path.span, f));
        file.map_err(refused).ok()
    };
    let model = open(&entry.path);
    let others: Vec<_> = animations.into_iter().map(|animation| (open(&animation.path), animation)).collect();
    let model = read(model.as_ref()?, &others, entry, pixels, &mut report);
    model.filter(|_| !report.failed())
}

/// Returns the error for a scene without a mesh. Files with clips only are common.
fn nothing_to_draw(file: &File<'_>) -> Diagnostic {
    if !file.document.meshes.is_empty() {
        return Diagnostic::error(DiagnosticCode::SceneEmpty, "the scene has no mesh to draw");
    }
    if file.document.animations.is_empty() {
        return Diagnostic::error(DiagnosticCode::SceneEmpty, "the file has no mesh to draw")
            .help("export the file together with its meshes");
    }
    Diagnostic::error(DiagnosticCode::SceneEmpty, "the file has clips, but no mesh to draw").help(format!(
        "set `path` to a file of the same skeleton with meshes, and write `animations = [{:?}]`",
        file.shown
    ))
}

fn read<'f>(
    file: &File<'f>,
    others: &[(Option<File<'f>>, &AnimationEntry)],
    entry: &ModelEntry,
    pixels: Pixels,
    report: &mut Report<'_>,
) -> Option<Model> {
    let mut hierarchy = Hierarchy::read(file, report)?;
    let errors = report.errors();
    let taking_part = hierarchy.taking_part(file, entry, report);

    let mut sources = vec![ClipFile { file, path: &entry.path, nodes: ClipNodes::OfModel }];
    for (file, AnimationEntry { path, retarget }) in others {
        let Some(file) = file else { continue };
        let nodes = match retarget {
            None => ClipNodes::ByName,
            Some(bones) => {
                let Some(hierarchy) = Hierarchy::read(file, report) else { continue };
                ClipNodes::Retargeted(Box::new(hierarchy), bones)
            }
        };
        sources.push(ClipFile { file, path, nodes });
    }
    let complete = sources.len() == 1 + others.len();
    let choices = select::choose(&sources, entry, complete, report);
    let mut clips = clips::read(&choices, &sources, &hierarchy, entry, report);
    hierarchy.take_apart(file, &clips, report);
    let events = events::read(&choices, &sources, entry, &mut clips, report);
    references::references(entry, &mut clips);

    let (skins, materials) = (BTreeMap::new(), Materials::new(pixels));
    let variants = VariantNames::read(file, entry, report);
    let mut reader = mesh::MeshReader {
        file,
        file_variants: variants.of_file,
        materials,
        bones: Bones::default(),
        skins,
        unpacked: BTreeMap::new(),
        vertices: 0,
    };
    let mut unbound_primitives = reader.read(&taking_part, report);
    let mesh::MeshReader { mut materials, mut bones, skins, .. } = reader;
    if let Some(diagnostic) = materials.textures.images_in_extensions() {
        report.error(diagnostic.within(Label::file(&file.shown)));
    }
    skins.values().flatten().for_each(|skin| skin.warn(&hierarchy.nodes, report));
    if unbound_primitives.is_empty() && report.errors() == errors {
        report.error(nothing_to_draw(file).within(Label::file(&file.shown)));
    }

    variants::read(file, entry, &variants, &mut materials, report);
    sources.iter().for_each(|source| broken_rules::warn(source.file, report));
    ignored_content::other_scenes(file, report);
    ignored_content::unknown_extensions(file, report);
    ignored_content::material_extensions(file, materials.used(), report);

    bones.unmirror(&hierarchy, &mut unbound_primitives, |node| hierarchy::node_label(file, node), report);
    bones.bind_rigid(&hierarchy, &clips::moved(&clips, hierarchy.nodes.len()), &mut unbound_primitives);
    bones.sockets = references::sockets(file, entry, &hierarchy, report);
    let sockets = bones.sockets.clone();
    let (bones, places) = report.take(
        bones
            .finish(&hierarchy, &unbound_primitives, file.limits().bones)
            .map_err(|e| e.within(Label::file(&file.shown))),
    )?;
    let mut primitives: Vec<_> = unbound_primitives.into_iter().map(|unbound| unbound.finish(&places)).collect();
    color::fold(&mut primitives, &mut materials.list);
    references::parts(file, entry, &hierarchy, &mut primitives, report);
    let masks = references::masks(file, entry, &hierarchy, (&bones, &primitives), report);
    references::roots(file, entry, &hierarchy, &bones, &mut clips, report);
    for primitive in &primitives {
        let targets = primitive.targets.iter().map(|target| &target.positions);
        let at =
            std::iter::once(&primitive.positions).chain(targets).find_map(|p| p.iter().position(|p| !p.is_finite()));
        if let Some(at) = at {
            let label = hierarchy::node_label(file, primitive.node);
            report.error(
                Diagnostic::error(
                    DiagnosticCode::GltfNotFinite,
                    format!("the position of vertex {at} in the scene is not finite"),
                )
                .within(label),
            );
        }
    }

    let Hierarchy { nodes, order, .. } = hierarchy;
    // Whether a node has a bone at or below it, or has morph weights that move vertices.
    let mut moves = vec![false; nodes.len()];
    bones.iter().for_each(|bone| moves[bone.node] = true);
    for &i in order.iter().rev() {
        if let (true, Some(parent)) = (moves[i], nodes[i].parent) {
            moves[parent] = true;
        }
    }
    primitives.iter().filter(|p| !p.targets.is_empty()).for_each(|p| moves[p.node] = true);
    if !bones.is_empty() {
        clips::warn_of_idle(&clips, &moves, report);
    }
    if clips.is_empty() && !report.failed() {
        clips.push(still());
    }
    let mut model = Model {
        name: entry.name.value.clone(),
        nodes,
        order,
        root: root(entry),
        bones,
        sockets,
        masks,
        parts: entry.parts.iter().map(|part| part.name.value.clone()).collect(),
        variants: variants.names,
        primitives,
        morph_tracks: Vec::new(),
        morph_bones: 0,
        materials: materials.list,
        images: materials.textures.images,
        clips,
        events,
    };
    if !report.failed() {
        lint::lint(&model, &file.shown, &moves, report);
    }
    if report.failed() || entry.wants_vertices() && !entry.wants_bones() {
        return Some(model);
    }
    if entry.morphs {
        let added = morph_tracks::add(&mut model, file, file.limits().bones);
        report.take(added.map_err(|e| e.within(Label::file(&file.shown))));
    } else if let Some(diagnostic) = morph_loss::in_bone_mode(&model).filter(|_| !entry.wants_vertices()) {
        report.warn(diagnostic.within(Label::file(&file.shown)));
    }
    Some(model)
}

/// Returns the only clip of a model without animation, such as a sword: the pose of the file, of length
/// zero.
fn still() -> Clip {
    Clip { name: "still".to_owned(), source: "pose of the file".to_owned(), ..Clip::default() }
}

/// Returns the transform from the file's scene to the baked scene, which is in metres with y up,
/// and in which models look along +z. Its rows are the axes of the file:
///
/// ```text
/// | x |   | up x forward |   | x |
/// | y | = | up           | * | y | * scale
/// | z |   | forward      |   | z |
/// ```
fn root(entry: &ModelEntry) -> DMat4 {
    let (up, forward) = (entry.up.vector(), entry.forward.vector());
    let right = up.cross(forward);
    // Adding 0 turns -0 into 0.
    let column = |axis: usize| (DVec3::new(right[axis], up[axis], forward[axis]) * entry.scale + 0.0).extend(0.0);
    DMat4::from_cols(column(0), column(1), column(2), DVec4::W)
}
