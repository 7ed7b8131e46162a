//! Skin weights: which joints move the vertices of a primitive.

use gltf::json::accessor::Type as Shape;
use gltf::json::mesh::Semantic;

use super::accessor::Allowed;
use super::bones::{Bones, Skin};
use super::document::GltfPrimitive;
use super::file::File;
use super::mesh::{accessor, same_count};
use super::report::Report;
use crate::diagnostic::{DiagnosticCode, Diagnostic, Label};
use crate::model::Influences;

/// Most pairs of `JOINTS_n` and `WEIGHTS_n`: 32 influences a vertex. Exporters write up to two.
const MAX_SETS: usize = 8;
/// A sum of weights may be this far from one without a word: eight weights, rounded to 1/255.
const WEIGHT_SLACK: f64 = 0.02;

/// Bones and weights of vertices, each with the end of its list.
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
                return Err(Diagnostic::error(DiagnosticCode::SkinJoint, format!("it has {joints} and no {weights}")));
            };
            if sets.len() == MAX_SETS {
                return Err(Diagnostic::error(
                    DiagnosticCode::LimitInfluences,
                    format!("more than {} influences a vertex are not supported", MAX_SETS * 4),
                ));
            }
            let joint = file.integers(joint_accessor, Shape::Vec4).map_err(|e| e.within(&joints))?;
            let weight = file.finite(weight_accessor, Shape::Vec4, Allowed::Weights).map_err(|e| e.within(&weights))?;
            same_count(&joints, joint.len() / 4, vertices)?;
            same_count(&weights, weight.len() / 4, vertices)?;
            sets.push((joint, weight, joint_accessor));
        }

        let (next, left_out) = (sets.len() as u32, sets.len() as u32 + 1..=MAX_SETS as u32);
        if let Some(set) = left_out.into_iter().find(|set| accessor(source, Semantic::Joints(*set)).is_some()) {
            let message = format!("it has JOINTS_{set} and no JOINTS_{next}: the former is left out");
            report.warn(Diagnostic::warning(DiagnosticCode::SkinInfluences, message).within(label));
        }

        let mut result = Weights::default();
        let (mut off, mut least, mut most) = (0, f64::MAX, 0.0_f64);
        let (mut zero, mut negative) = (0, 0);
        for vertex in 0..vertices {
            let start = result.list.len();
            let mut sum = 0.0;
            for (joints, weights, accessor) in &sets {
                for k in vertex * 4..vertex * 4 + 4 {
                    let weight = weights[k];
                    if weight <= 0.0 {
                        negative += usize::from(weight < 0.0);
                        continue;
                    }
                    let joint = joints[k] as usize;
                    if joint >= skin.len() {
                        let message = format!(
                            "accessor {accessor}: vertex {vertex}: joint {joint}; the skin has {} joints",
                            skin.len()
                        );
                        return Err(Diagnostic::error(DiagnosticCode::SkinJoint, message).help("export it again"));
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
                // As three.js does. The origin, where the formula would put it, is nobody's intention.
                let joint = sets.first().map_or(0, |(joints, ..)| joints[vertex * 4] as usize);
                let bone = skin.bone(if joint < skin.len() { joint } else { 0 }, bones);
                result.list.push((bone, 1.0));
            }
            result.ends.push(result.list.len() as u32);
        }
        let mut warn = |message: String| report.warn(Diagnostic::warning(DiagnosticCode::SkinWeights, message).within(label));
        if off > 0 {
            warn(format!(
                "the weights of {off} of {vertices} vertices sum to {least:.3} to {most:.3}: divided by their sum"
            ));
        }
        if zero > 0 {
            warn(format!("{zero} of {vertices} vertices have no weights: they move with their first joint"));
        }
        if negative > 0 {
            warn(format!("{negative} weights are negative: taken as zero"));
        }
        Ok(result)
    }

    /// The bone of every entry.
    pub(super) fn bones(&self) -> impl Iterator<Item = u32> {
        self.list.iter().map(|(bone, _)| *bone)
    }

    /// The same, to be changed.
    pub(super) fn bones_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.list.iter_mut().map(|(bone, _)| bone)
    }

    /// Numbers the bones: `places` says where each went.
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
