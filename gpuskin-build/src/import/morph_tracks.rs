//! Morph targets in bone mode: the weights of three targets become the translation of a bone of its own, so that they
//! are encoded, blended and layered as bones are.

use glam::{DMat4, DVec3, DVec4};

use super::file::File;
use super::target_names::TargetNames;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::model::{Bone, Channel, Curve, Interpolation, Local, Model, MorphTrack, Node, Primitive, Property, Trs};
use crate::pose_extent::rest_diagonal;

/// Turn of a normal, in radians, that counts as much as a movement of the vertex by [`MOVE`].
const TURN: f64 = 0.0175;
/// Movement of a vertex relative to the diagonal of the model: both are about the default tolerances.
const MOVE: f64 = 5e-4;

/// Adds the bones of the morph targets, with their curves. `most`: greatest number of bones.
pub(super) fn add(model: &mut Model, file: &File<'_>, most: u64) -> Result<(), Diagnostic> {
    let mut tracks = tracks(model);
    if tracks.is_empty() {
        return Ok(());
    }
    let names = TargetNames::read(file.json());
    let several = tracks.iter().any(|track| track.node != tracks[0].node);
    for track in &mut tracks {
        let mesh = model.primitives.iter().find(|p| p.node == track.node).map_or(0, |p| p.mesh);
        let own = names.of(mesh, track.target).map_or_else(|| format!("target {}", track.target), str::to_owned);
        track.name = if several { format!("{} {own}", model.nodes[track.node].name) } else { own };
    }
    let added = tracks.last().map_or(0, |track| track.bone + 1);
    let bones = model.bones.len() + added;
    if bones as u64 > most {
        let message = format!(
            "{bones} bones with those that have the weights of {} morph targets; at most {most} are supported",
            tracks.len()
        );
        let diagnostic = Diagnostic::error(DiagnosticCode::LimitBones, message);
        return Err(diagnostic.help("set `morphs = false`, or remove targets that no clip moves"));
    }
    let (first_node, first_bone) = (model.nodes.len(), model.bones.len());
    for bone in 0..added {
        let of_bone: Vec<&MorphTrack> = tracks.iter().filter(|track| track.bone == bone).collect();
        let owner = of_bone[0].node;
        let name = format!("{} morph targets {}", model.nodes[owner].name, of_bone[0].target);
        let rest = placed(&of_bone, &model.nodes[owner].weights).truncate();
        let local = Local::Trs(Trs { translation: rest, ..Trs::IDENTITY });
        model.order.push(model.nodes.len());
        model.nodes.push(Node { name: name.clone(), parent: None, local, weights: Vec::new() });
        model.bones.push(Bone { name, node: first_node + bone, inverse_bind: DMat4::IDENTITY });
        model.masks.iter_mut().for_each(|mask| mask.nodes.push(mask.nodes[owner]));
        for clip in &mut model.clips {
            let Some(weights) = clip.morphs.iter().find(|channel| channel.node == owner).map(|channel| &channel.curve)
            else {
                continue;
            };
            let values =
                weights.values.chunks_exact(weights.targets).map(|weights| placed(&of_bone, weights)).collect();
            let curve = Curve { times: weights.times.clone(), values, interpolation: weights.interpolation };
            if curve.interpolation == Interpolation::CubicSpline || curve.values.iter().any(|v| v.truncate() != rest) {
                clip.channels.push(Channel { node: first_node + bone, property: Property::Translation, curve });
            }
        }
    }
    tracks.iter_mut().for_each(|track| track.bone += first_bone);
    (model.morph_tracks, model.morph_bones) = (tracks, added);
    Ok(())
}

/// Returns the translation for the weights of a node's targets.
fn placed(tracks: &[&MorphTrack], weights: &[f64]) -> DVec4 {
    let mut translation = DVec4::ZERO;
    for track in tracks {
        translation[track.axis] = weights.get(track.target).map_or(0.0, |weight| weight * track.scale);
    }
    translation
}

/// Lists the targets that move vertices, three per bone, without their names. Bones count from 0. Targets of different
/// nodes have different bones, so that masks can tell them apart.
fn tracks(model: &Model) -> Vec<MorphTrack> {
    if model.primitives.iter().all(|primitive| primitive.targets.is_empty()) {
        return Vec::new();
    }
    let diagonal = rest_diagonal(model);
    // Metres per unit of the space before skinning.
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    model.primitives.iter().flat_map(|p| &p.positions).for_each(|p| (low, high) = (low.min(*p), high.max(*p)));
    let units = (high - low).length();
    let unit = if units > 0.0 && diagonal > 0.0 { diagonal / units } else { 1.0 };
    let mut tracks = Vec::new();
    let mut next = 0;
    for node in 0..model.nodes.len() {
        let own: Vec<&Primitive> =
            model.primitives.iter().filter(|p| p.node == node && !p.targets.is_empty()).collect();
        let targets = own.iter().map(|p| p.targets.len()).max().unwrap_or(0);
        let mut count = 0;
        for target in 0..targets {
            let (mut moved, mut turned) = (0.0_f64, 0.0_f64);
            for target in own.iter().filter_map(|p| p.targets.get(target)) {
                let longest = |deltas: &[DVec3]| deltas.iter().fold(0.0, |most: f64, delta| most.max(delta.length()));
                moved = moved.max(longest(&target.positions));
                for others in [&target.normals, &target.tangents].into_iter().flatten() {
                    turned = turned.max(longest(others));
                }
            }
            let scale = (moved * unit).max(turned * diagonal * MOVE / TURN);
            if !(scale > 0.0 && scale.is_finite()) {
                continue;
            }
            let (bone, axis) = (next + count / 3, count % 3);
            tracks.push(MorphTrack { name: String::new(), node, target, bone, axis, scale });
            count += 1;
        }
        next += count.div_ceil(3);
    }
    tracks
}
