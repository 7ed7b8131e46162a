//! Matches the morph targets of animation files with those of the model, by name.

use std::collections::{BTreeMap, BTreeSet};

use super::file::File;
use super::target_names::TargetNames;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::model::{Interpolation, WeightCurve};
use crate::suggest::list;

/// Maximum number of morph targets that a warning lists.
const LISTED: usize = 5;

/// Matches the morph targets of an animation file with those of the model.
pub(super) struct TargetMatcher {
    of_file: TargetNames,
    of_model: TargetNames,
    /// Names of the file's targets that move in a clip, and that the model does not have.
    strangers: BTreeSet<String>,
}

/// Place of the weights of a node's morph targets in an animation file.
pub(super) enum TargetMatch {
    /// In the same order.
    InOrder,
    /// By target of the model, the target of the file; `None` if the file has none of this name.
    ByName(Vec<Option<usize>>),
    /// Neither names nor numbers of targets tell.
    None,
}

impl TargetMatcher {
    pub(super) fn new(file: &File<'_>, model: &File<'_>) -> Self {
        let (of_file, of_model) = (TargetNames::read(file.json()), TargetNames::read(model.json()));
        Self { of_file, of_model, strangers: BTreeSet::new() }
    }

    /// Matches the targets of a mesh of the file with those of a mesh of the model. `counts`: numbers of their targets.
    pub(super) fn matched(&self, meshes: [usize; 2], counts: [usize; 2]) -> TargetMatch {
        let [of_file, of_model] =
            [(&self.of_file, 0), (&self.of_model, 1)].map(|(all, i)| names(all, meshes[i], counts[i]));
        if let (Some(of_file), Some(of_model)) = (of_file, of_model) {
            let places: BTreeMap<&str, usize> = of_file.into_iter().zip(0..).collect();
            let found: Vec<Option<usize>> = of_model.iter().map(|name| places.get(name).copied()).collect();
            if found.iter().any(Option::is_some) {
                return TargetMatch::ByName(found);
            }
        }
        if counts[0] == counts[1] { TargetMatch::InOrder } else { TargetMatch::None }
    }

    /// Puts the weights of a curve into the order of the model's targets. `rest`: weights of the model's node, for targets
    /// that the curve does not have.
    pub(super) fn arrange(
        &mut self,
        curve: WeightCurve,
        file_mesh: usize,
        places: &[Option<usize>],
        rest: &[f64],
    ) -> WeightCurve {
        let cubic = curve.interpolation == Interpolation::CubicSpline;
        let kept: BTreeSet<usize> = places.iter().flatten().copied().collect();
        for target in (0..curve.targets).filter(|target| !kept.contains(target)) {
            if curve.values.iter().skip(target).step_by(curve.targets).any(|weight| *weight != 0.0)
                && let Some(name) = self.of_file.of(file_mesh, target)
            {
                self.strangers.insert(name.to_owned());
            }
        }
        let rows = curve.values.chunks_exact(curve.targets).enumerate();
        let values = rows.flat_map(|(i, row)| {
            let is_tangent = cubic && i % 3 != 1;
            let other = move |rest: f64| if is_tangent { 0.0 } else { rest };
            places.iter().zip(rest).map(move |(place, rest)| place.map_or_else(|| other(*rest), |at| row[at]))
        });
        WeightCurve { values: values.collect(), targets: places.len(), ..curve }
    }

    /// Returns a warning about targets that the model does not have.
    pub(super) fn warning(&self) -> Option<Diagnostic> {
        if self.strangers.is_empty() {
            return None;
        }
        let names = list(self.strangers.iter().map(String::as_str), LISTED);
        let message = format!("the model has no morph targets of these names, which the clips move: {names}");
        let help = "morph targets of animation files are matched by name: rename them in one of the two files";
        Some(Diagnostic::warning(DiagnosticCode::ClipChannel, message).help(help))
    }
}

/// Returns the names of all targets of a mesh; `None` if one has none, or the name of another.
fn names(names: &TargetNames, mesh: usize, count: usize) -> Option<Vec<&str>> {
    let all: Vec<&str> = (0..count).map(|target| names.of(mesh, target)).collect::<Option<_>>()?;
    let different: BTreeSet<&str> = all.iter().copied().collect();
    (different.len() == count).then_some(all)
}
