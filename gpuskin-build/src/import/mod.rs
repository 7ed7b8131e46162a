//! Manifest + glTF -> [`Model`]: read, checked and put together.
//!
//! A glTF file is not trusted: indices, counts, sizes, links and the shape of the hierarchy are checked before they are
//! used, nothing recurses, and what a file can unfold to is bounded. All that is wrong with a model is reported at once.
//! A clip lasts from 0 to its last key.
//!
//! # What is repaired, and what is refused
//!
//! Where a file is wrong, it is read as other programs read it, and a warning says so with file, clip, node and accessor;
//! what has no reading that somebody could mean is an error. Nothing that is not finite leaves the importer.
//!
//! | in the file | |
//! |---|---|
//! | NaN or infinite keys, positions, weights, matrices, displacements of morph targets | error |
//! | NaN or infinite normals, tangents, texture coordinates, colours | zero, with a warning |
//! | key times that go back | error |
//! | several keys at one time | the curve comes in to the first and goes on from the last, with a warning |
//! | key times below zero | not played, with a warning |
//! | clips without channels, or whose channels move nothing that is drawn | baked as they are, with a warning |
//! | clips of one key, or of length zero | one frame |
//! | two channels for one property of a node | the last, with a warning |
//! | channels without a node, of other paths, or for weights where there are no morph targets | left out, with a warning |
//! | a number of values that does not fit the keys | error |
//! | quaternions not of unit length | brought to it |
//! | quaternions of length zero | no rotation, with a warning |
//! | skin weights that do not sum to one | divided by their sum; with a warning where it is more than 2 % off |
//! | negative skin weights | zero, with a warning |
//! | vertices without skin weights | move with their first joint, with a warning |
//! | joints out of range of their skin | error; no matter where their weight is zero |
//! | singular inverse bind matrices of joints in use | kept: what they move is flattened, with a warning |
//! | matrices whose last row is not 0 0 0 1 | taken as if it were, with a warning |
//! | joints that mirror a whole skinned mesh | the mesh is mirrored once, so that it is seen from outside |
//! | joints of which some mirror a mesh and some do not | kept, with a warning |
//! | morph weights too few or too many | zeros for those that are missing, the others left out, with a warning |
//! | integers for vertices without `KHR_mesh_quantization` | read as if it were declared, with a warning |
//! | indices that are not whole triangles | the last are left out, with a warning |
//! | triangles of fewer than three different vertices | left out |
//! | points and lines, extensions that are not drawn, scenes beside the default | left out, with a warning |
//! | events in `extras` that are none, or that the clip never reaches | left out, with a warning |
//! | accessors, views and buffers past their ends, counts beyond the limits of the importer | error |

mod accessor;
mod bones;
mod clips;
mod color;
mod curve;
mod document;
mod events;
mod file;
mod glb;
mod hierarchy;
mod inputs;
mod lint;
mod material;
mod mesh;
mod meshopt;
mod meshopt_filter;
mod morph;
mod morph_loss;
mod noted;
mod play;
mod report;
mod select;
mod surface;
mod tamed;
mod topology;
mod uri;
mod weights;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use glam::{DMat4, DVec3, DVec4};

use crate::finding::{Code, Finding, Findings, Label};
use crate::manifest::{At, Manifest, ModelEntry, UpAxis};
use crate::model::Model;
use bones::Bones;
use file::{File, Purpose, Shared};
use hierarchy::Hierarchy;
use material::Materials;
use report::Report;
use select::Source;

pub(crate) use inputs::Inputs;
pub use material::Pixels;

/// Imports a model of a manifest.
///
/// `None` when something stops the bake; `findings` then has an error, and in any case all that is wrong or odd, not only
/// the first of it. Every file that was read, or that should have been, is added to `inputs`: buffers and images, too, and
/// also when the import fails.
pub fn import(
    manifest: &Manifest,
    entry: &ModelEntry,
    pixels: Pixels,
    findings: &mut Findings,
    inputs: &mut BTreeSet<PathBuf>,
) -> Option<Model> {
    let mut read = Inputs::without_digests();
    let model = import_seen(manifest, entry, pixels, findings, &mut read);
    inputs.extend(read.paths().cloned());
    model
}

/// As [`import`], with what stood in the files that were read.
pub(crate) fn import_seen(
    manifest: &Manifest,
    entry: &ModelEntry,
    pixels: Pixels,
    findings: &mut Findings,
    inputs: &mut Inputs,
) -> Option<Model> {
    let mut report = Report::new(manifest, entry, findings);
    let shared = Shared::new(inputs);
    let mut open = |path: &At<String>, purpose| {
        let file = File::open(&manifest.folder.join(&path.value), &path.value, purpose, &shared);
        let refused = |findings: Vec<Finding>| findings.into_iter().for_each(|f| report.error_at(&path.span, f));
        file.map_err(refused).ok()
    };
    let model = open(&entry.path, Purpose::Model);
    let others: Vec<_> = entry.animations.iter().map(|path| (open(path, Purpose::Clips), path)).collect();
    let model = read(model.as_ref()?, &others, entry, pixels, &mut report);
    model.filter(|_| !report.failed())
}

fn read<'f>(
    file: &File<'f>,
    others: &[(Option<File<'f>>, &At<String>)],
    entry: &ModelEntry,
    pixels: Pixels,
    report: &mut Report<'_>,
) -> Option<Model> {
    let hierarchy = Hierarchy::read(file, report)?;
    let errors = report.errors();
    let taking_part = hierarchy.taking_part(file, entry, report);

    let mut sources = vec![Source { file, path: &entry.path, other: false }];
    for (file, path) in others {
        sources.extend(file.as_ref().map(|file| Source { file, path, other: true }));
    }
    let choices = select::choose(&sources, entry, report);
    let mut clips = clips::read(&choices, &sources, &hierarchy, report);
    let events = events::read(&choices, &sources, entry, &mut clips, report);
    play::references(entry, &mut clips);

    let (skins, materials) = (BTreeMap::new(), Materials::new(pixels));
    let mut reader = mesh::Reader { file, materials, bones: Bones::default(), skins, vertices: 0 };
    let mut drafts = reader.read(&taking_part, report);
    let mesh::Reader { mut materials, mut bones, skins, .. } = reader;
    skins.values().flatten().for_each(|skin| skin.warn(&hierarchy.nodes, report));
    if drafts.is_empty() && report.errors() == errors {
        let finding = Finding::error(Code::SceneEmpty, "the scene has no mesh to draw");
        report.error(finding.within(Label::file(&file.shown)));
    }

    noted::other_scenes(file, report);
    noted::unknown_extensions(file, report);
    noted::material_extensions(file, materials.used(), report);

    bones.unmirror(&hierarchy, &mut drafts, |node| hierarchy::node_label(file, node), report);
    bones.bind_rigid(&hierarchy, &clips::moved(&clips, hierarchy.nodes.len()), &mut drafts);
    bones.sockets = play::sockets(file, entry, &hierarchy, report);
    let sockets = bones.sockets.clone();
    let (bones, places) =
        report.take(bones.finish(&hierarchy, &drafts).map_err(|e| e.within(Label::file(&file.shown))))?;
    let mut primitives: Vec<_> = drafts.into_iter().map(|draft| draft.finish(&places)).collect();
    color::fold(&mut primitives, &mut materials.list);
    play::parts(file, entry, &hierarchy, &mut primitives, report);
    let masks = play::masks(file, entry, &hierarchy, &bones, report);
    play::roots(file, entry, &hierarchy, &bones, &mut clips, report);
    for primitive in &primitives {
        let targets = primitive.targets.iter().map(|target| &target.positions);
        let at =
            std::iter::once(&primitive.positions).chain(targets).find_map(|p| p.iter().position(|p| !p.is_finite()));
        if let Some(at) = at {
            let label = hierarchy::node_label(file, primitive.node);
            report.error(
                Finding::error(Code::GltfNotFinite, format!("vertex {at} is not finite in the scene")).within(label),
            );
        }
    }

    let Hierarchy { nodes, order, .. } = hierarchy;
    // Nodes that bones hang on; those whose morph weights move vertices.
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
    let model = Model {
        name: entry.name.value.clone(),
        nodes,
        order,
        root: root(entry),
        bones,
        sockets,
        masks,
        parts: entry.parts.iter().map(|part| part.name.value.clone()).collect(),
        primitives,
        materials: materials.list,
        images: materials.images,
        clips,
        events,
    };
    if !report.failed() {
        lint::lint(&model, &file.shown, &moves, report);
    }
    let lossy = !report.failed() && !entry.wants_vertices();
    if let Some(finding) = lossy.then(|| morph_loss::in_bone_mode(&model)).flatten() {
        report.warn(finding.within(Label::file(&file.shown)));
    }
    Some(model)
}

/// From the file's scene to the scene as baked: metres, y up.
///
/// ```text
/// up = "z":  | x |   | 1  0  0 |   | x |
///            | y | = | 0  0  1 | * | y | * scale
///            | z |   | 0 -1  0 |   | z |
/// ```
fn root(entry: &ModelEntry) -> DMat4 {
    let s = entry.scale;
    let (y, z) = match entry.up {
        UpAxis::Y => (DVec3::Y * s, DVec3::Z * s),
        UpAxis::Z => (DVec3::NEG_Z * s, DVec3::Y * s),
    };
    DMat4::from_cols((DVec3::X * s).extend(0.0), y.extend(0.0), z.extend(0.0), DVec4::W)
}
