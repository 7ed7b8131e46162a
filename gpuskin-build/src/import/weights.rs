//! Skin weights: the joints that move each vertex of a primitive.

use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::Semantic;

use super::accessor::AllowedComponents;
use super::attributes::{accessor, same_count};
use super::bones::{Bones, Skin};
use super::document::GltfPrimitive;
use super::file::File;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::Influences;

/// Maximum number of pairs of `JOINTS_n` and `WEIGHTS_n`: 32 influences per vertex. Exporters write
/// up to two pairs.
const MAX_SETS: usize = 8;
/// Tolerance of the sum of weights, without a warning: eight weights, each rounded to 1/255.
const WEIGHT_SLACK: f64 = 0.02;

/// Bones and weights of all vertices in one list, with the end index of each vertex.
#[derive(Default)]
pub(super) struct Weights {
    ends: Vec<u32>,
    list: Vec<(u32, f64)>,
}

impl Weights {
    /// Reads the weights of a skinned primitive.
    pub(super) fn read(
        file: &File<'_>,
        source: &GltfPrimitive,
        skin: &mut Skin,
        bones: &mut Bones,
        vertices: usize,
        label: &Label,
        report: &mut Report<'_>,
    ) -> Result<Self, Diagnostic> {
        let mut sets = Vec::new();
        loop {
            let (joints, weights) = (Semantic::Joints(sets.len() as u32), Semantic::Weights(sets.len() as u32));
            let (joint_accessor, weight_accessor) =
                (accessor(source, joints.clone()), accessor(source, weights.clone()));
            let (joints, weights) = (joints.to_string(), weights.to_string());
            let Some(joint_accessor) = joint_accessor else { break };
            let Some(weight_accessor) = weight_accessor else {
                return Err(Diagnostic::error(
                    DiagnosticCode::SkinJoint,
                    format!("the primitive has {joints} but no {weights}"),
                ));
            };
            if sets.len() == MAX_SETS {
                return Err(Diagnostic::error(
                    DiagnosticCode::LimitInfluences,
                    format!("more than {} influences per vertex are not supported", MAX_SETS * 4),
                ));
            }
            let joint = file.integers(joint_accessor, Shape::Vec4).map_err(|e| e.within(&joints))?;
            let weight = file
                .numbers(weight_accessor, Shape::Vec4, AllowedComponents::Weights)
                .map_err(|e| e.within(&weights))?;
            same_count(&joints, joint.len() / 4, vertices)?;
            same_count(&weights, weight.len() / 4, vertices)?;
            sets.push((joint, weight, joint_accessor));
        }

        let (next, left_out) = (sets.len() as u32, sets.len() as u32 + 1..=MAX_SETS as u32);
        if let Some(set) = left_out.into_iter().find(|set| accessor(source, Semantic::Joints(*set)).is_some()) {
            let message = format!("the primitive has JOINTS_{set} but no JOINTS_{next}; JOINTS_{set} is ignored");
            report.warn(Diagnostic::warning(DiagnosticCode::SkinInfluences, message).collected().within(label));
        }

        let mut result = Weights::default();
        let (mut off, mut least, mut most) = (0, f64::MAX, 0.0_f64);
        let (mut zero, mut negative, mut not_finite) = (0, 0, 0);
        for vertex in 0..vertices {
            let start = result.list.len();
            let mut sum = 0.0;
            for (joints, weights, accessor) in &sets {
                for k in vertex * 4..vertex * 4 + 4 {
                    let weight = weights[k];
                    // Exporters divide the weights of a vertex without any by their sum.
                    if !weight.is_finite() {
                        not_finite += 1;
                        continue;
                    }
                    if weight <= 0.0 {
                        negative += usize::from(weight < 0.0);
                        continue;
                    }
                    let joint = joints[k] as usize;
                    if joint >= skin.len() {
                        let message = format!(
                            "accessor {accessor}: vertex {vertex}: joint {joint} does not exist; the skin has {} joints",
                            skin.len()
                        );
                        return Err(Diagnostic::error(DiagnosticCode::SkinJoint, message)
                            .help("the file is damaged: export it again"));
                    }
                    let bone = skin.bone(joint, bones);
                    match result.list[start..].iter_mut().find(|(b, _)| *b == bone) {
                        Some((_, w)) => *w += weight,
                        None => result.list.push((bone, weight)),
                    }
                    sum += weight;
                }
            }
            if sum > 0.0 {
                for (_, weight) in &mut result.list[start..] {
                    *weight /= sum;
                }
                if (sum - 1.0).abs() > WEIGHT_SLACK {
                    off += 1;
                    least = least.min(sum);
                    most = most.max(sum);
                }
            } else {
                zero += 1;
                // As in three.js. The formula of glTF would put the vertex at the origin, which is
                // never intended.
                let joint = sets.first().map_or(0, |(joints, ..)| joints[vertex * 4] as usize);
                let bone = skin.bone(if joint < skin.len() { joint } else { 0 }, bones);
                result.list.push((bone, 1.0));
            }
            result.ends.push(result.list.len() as u32);
        }
        let mut warn = |fact: &str, message: String| {
            let diagnostic = Diagnostic::warning(DiagnosticCode::SkinWeights, message);
            report.warn(diagnostic.collected_as(fact).within(label));
        };
        if off > 0 {
            let message = format!(
                "the weights of {off} of {vertices} vertices sum to {least:.3} to {most:.3}; they are divided by their sum"
            );
            warn("weights do not sum to one", message);
        }
        if zero > 0 {
            warn("no weights", format!("vertices without weights follow their first joint: {zero} of {vertices}"));
        }
        if not_finite > 0 {
            warn("weights are not finite", format!("weights that are infinite or NaN are set to zero: {not_finite}"));
        }
        if negative > 0 {
            warn("negative weights", format!("negative weights are set to zero: {negative}"));
        }
        Ok(result)
    }

    /// Returns the bone of each entry.
    pub(super) fn bones(&self) -> impl Iterator<Item = u32> {
        self.list.iter().map(|(bone, _)| *bone)
    }

    /// Returns the bone of each entry, mutable.
    pub(super) fn bones_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.list.iter_mut().map(|(bone, _)| bone)
    }

    /// Replaces bone indices by final ones: `places[i]` is the final index of bone `i`.
    pub(super) fn finish(self, places: &[u16]) -> Influences {
        let mut influences = Influences::default();
        let mut start = 0;
        let mut sorted: Vec<(u16, f64)> = Vec::new();
        for end in self.ends {
            sorted.clear();
            for &(bone, weight) in &self.list[start..end as usize] {
                sorted.push((places[bone as usize], weight));
            }
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            influences.push(sorted.iter().copied());
            start = end as usize;
        }
        influences
    }
}
