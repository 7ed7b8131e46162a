//! Animation samplers: checked keys and values.

use std::collections::BTreeMap;
use std::rc::Rc;

use glam::{DVec3, DVec4};
use gltf::json::accessor::Type as Shape;
use gltf::json::animation::{Interpolation as Kind, Sampler};
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index};

use super::accessor::AllowedComponents;
use super::file::File;
use super::hierarchy::{is_far_from_unit, unit};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::model::{Curve, Interpolation, Property, WeightCurve};
use crate::suggest::quoted;

/// Key times of a file. Each accessor is read once, because the curves of a clip usually share it.
#[derive(Default)]
pub(super) struct KeyTimesCache(BTreeMap<Index<Accessor>, Result<Rc<KeyTimes>, Diagnostic>>);

/// Ascending key times; at least one.
pub(super) struct KeyTimes {
    /// Key times, in seconds.
    pub times: Vec<f64>,
    /// Whether two neighbouring times are equal. glTF forbids this, but some exporters write it.
    pub doubled: bool,
}

impl KeyTimesCache {
    /// Returns the key times of a sampler.
    pub(super) fn of(&mut self, file: &File<'_>, sampler: &Sampler) -> Result<Rc<KeyTimes>, Diagnostic> {
        self.0.entry(sampler.input).or_insert_with(|| keys(file, sampler.input).map(Rc::new)).clone()
    }
}

fn keys(file: &File<'_>, accessor: Index<Accessor>) -> Result<KeyTimes, Diagnostic> {
    let times = file.finite(accessor, Shape::Scalar, AllowedComponents::Float).map_err(|e| e.within("key times"))?;
    let mut doubled = false;
    let mut i = 1;
    while i < times.len() {
        if times[i] <= times[i - 1] {
            if times[i] < times[i - 1] {
                let message = format!(
                    "key times: accessor {accessor}: key {i} at {} s is earlier than key {} at {} s",
                    times[i],
                    i - 1,
                    times[i - 1]
                );
                return Err(Diagnostic::error(DiagnosticCode::ClipCurve, message)
                    .help("key times must ascend: export the file again"));
            }
            doubled = true;
        }
        i += 1;
    }
    Ok(KeyTimes { times, doubled })
}

/// Reads a sampler as the curve of a property. `place` is the path of the sampler in the JSON.
pub(super) fn curve(
    file: &File<'_>,
    sampler: &Sampler,
    property: Property,
    keys: &KeyTimes,
    place: &str,
    warn: &mut dyn FnMut(&str, String),
) -> Result<Curve, Diagnostic> {
    let interpolation = interpolation(file, sampler, place)?;
    let shape = if property == Property::Rotation { Shape::Vec4 } else { Shape::Vec3 };
    let numbers = file.finite(sampler.output, shape, AllowedComponents::Normalized).map_err(|e| e.within("values"))?;
    let each = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let have = numbers.len() / shape.multiplicity();
    same_count(sampler, have, keys, each)?;
    let mut values = Vec::with_capacity(have);
    let (mut zeros, mut far) = (0, 0);
    let mut at = 0;
    while at < numbers.len() {
        if property != Property::Rotation {
            values.push(DVec3::new(numbers[at], numbers[at + 1], numbers[at + 2]).extend(0.0));
            at += 3;
            continue;
        }
        let value = DVec4::new(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]);
        // A cubic key is in-tangent, value, out-tangent: the second of three is the value.
        let is_value = each == 1 || values.len() % 3 == 1;
        zeros += usize::from(is_value && value == DVec4::ZERO);
        far += usize::from(is_value && is_far_from_unit(value));
        // Tangents are not rotations; values of cubic curves are normalised after interpolation.
        values.push(if each == 3 { value } else { DVec4::from(unit(value)) });
        at += 4;
    }
    if zeros > 0 {
        let output = sampler.output;
        let message = format!("accessor {output}: {zeros} rotations are zero-length quaternions; the identity is used");
        warn("zero-length quaternions", message);
    }
    if far > 0 {
        let output = sampler.output;
        let message = format!("accessor {output}: {far} rotations are not of unit length; they are normalised");
        warn("quaternions are not of unit length", message);
    }
    let mut times = keys.times.clone();
    if keys.doubled {
        merge(&mut times, &mut values, each, interpolation);
    }
    Ok(Curve { times, values, interpolation })
}

/// Reads a sampler as the morph weights of a node.
pub(super) fn weights(
    file: &File<'_>,
    sampler: &Sampler,
    targets: usize,
    keys: &KeyTimes,
    place: &str,
) -> Result<WeightCurve, Diagnostic> {
    let interpolation = interpolation(file, sampler, place)?;
    let values = file.finite(sampler.output, Shape::Scalar, AllowedComponents::Normalized);
    let mut values = values.map_err(|e| e.within("values"))?;
    let each = if interpolation == Interpolation::CubicSpline { 3 * targets } else { targets };
    same_count(sampler, values.len(), keys, each)
        .map_err(|e| e.within(format_args!("weights of {targets} morph targets")))?;
    let mut times = keys.times.clone();
    if keys.doubled {
        merge(&mut times, &mut values, each, interpolation);
    }
    Ok(WeightCurve { times, values, targets, interpolation })
}

fn interpolation(file: &File<'_>, sampler: &Sampler, place: &str) -> Result<Interpolation, Diagnostic> {
    match sampler.interpolation {
        Checked::Valid(Kind::Linear) => Ok(Interpolation::Linear),
        Checked::Valid(Kind::Step) => Ok(Interpolation::Step),
        Checked::Valid(Kind::CubicSpline) => Ok(Interpolation::CubicSpline),
        Checked::Invalid => {
            let name = file.written(&format!("{place}/interpolation"));
            Err(Diagnostic::error(DiagnosticCode::ClipCurve, format!("unknown interpolation {}", quoted(&name)))
                .help("expected LINEAR, STEP or CUBICSPLINE"))
        }
    }
}

fn same_count(sampler: &Sampler, have: usize, keys: &KeyTimes, each: usize) -> Result<(), Diagnostic> {
    let need = keys.times.len() * each;
    if have == need {
        return Ok(());
    }
    let message = format!("accessor {} has {have} values, but {} keys need {need}", sampler.output, keys.times.len());
    Err(Diagnostic::error(DiagnosticCode::ClipCurve, message).help("the file is damaged: export it again"))
}

/// Merges keys of equal time, so that key times strictly ascend. Among keys of equal time, the
/// first is the end of the incoming segment and the last is the start of the outgoing segment, so
/// the curve jumps. The first key is moved to the next lower `f64`, which is far below the `f32`
/// resolution of the file.
fn merge<T: Copy>(all_times: &mut Vec<f64>, all_values: &mut Vec<T>, each: usize, interpolation: Interpolation) {
    let times = std::mem::take(all_times);
    let values = std::mem::take(all_values);
    let last = times.len() - 1;
    let mut keep = |time: f64, key: usize| {
        all_times.push(time);
        all_values.extend_from_slice(&values[key * each..][..each]);
    };
    let mut first = 0;
    while first <= last {
        let mut end = first;
        while end < last && times[end + 1] == times[first] {
            end += 1;
        }
        // At the end of a curve, the reference implementation reads the last but one of the keys of
        // equal time, except for STEP.
        let stays = if end == last && end > first && interpolation != Interpolation::Step { end - 1 } else { end };
        if stays > first && first > 0 {
            keep(times[first].next_down(), first);
        }
        keep(times[first], stays);
        first = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(times: &[f64], interpolation: Interpolation) -> Vec<(f64, f64)> {
        let mut values = (0..times.len()).map(|i| i as f64).collect();
        let mut times = times.to_vec();
        merge(&mut times, &mut values, 1, interpolation);
        assert!(times.windows(2).all(|w| w[0] < w[1]), "{times:?}");
        times.into_iter().zip(values).collect()
    }

    #[test]
    fn keys_at_equal_times_make_the_curve_jump() {
        let below = 1.0_f64.next_down();
        assert_eq!(
            merged(&[0.0, 1.0, 1.0, 2.0], Interpolation::Linear),
            [(0.0, 0.0), (below, 1.0), (1.0, 2.0), (2.0, 3.0)]
        );
        assert_eq!(merged(&[1.0, 1.0, 2.0], Interpolation::Linear), [(1.0, 1.0), (2.0, 2.0)]);
        assert_eq!(merged(&[0.0, 1.0, 1.0], Interpolation::Linear), [(0.0, 0.0), (1.0, 1.0)]);
        assert_eq!(merged(&[0.0, 1.0, 1.0], Interpolation::Step), [(0.0, 0.0), (below, 1.0), (1.0, 2.0)]);
        assert_eq!(merged(&[1.0, 1.0, 1.0], Interpolation::Linear), [(1.0, 1.0)]);
        assert_eq!(merged(&[1.0, 1.0], Interpolation::Step), [(1.0, 1.0)]);
    }
}
