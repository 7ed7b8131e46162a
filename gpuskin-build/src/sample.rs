//! Sampling of clips: evaluates curves in `f64`, composes the node hierarchy, and returns skinning
//! matrices at any time.
//!
//! Formulas are those of glTF 2.0, section 3.11 and appendix C. Trigonometric functions are those
//! of `libm`, so that the same input gives the same bits on every machine.

use glam::{DMat4, DQuat, DVec3, DVec4};

use crate::displacement::Displacement;
use crate::model::{Clip, Curve, Interpolation, Local, Model, Property, Trs, WeightCurve};

/// Upper three rows of a 4x4 matrix: `rows[row][column]`, column vectors, metres.
pub type Rows = [[f64; 4]; 3];

/// Evaluates a clip of a model, or its rest pose.
#[derive(Debug)]
pub struct Sampler<'a> {
    model: &'a Model,
    /// Curves of translation, rotation and scale. `[node]`
    curves: Vec<[Option<&'a Curve>; 3]>,
    /// Node-to-parent transforms of nodes without curves. `[node]`
    resting: Vec<DMat4>,
    /// Curve of the morph weights. `[node]`
    morphs: Vec<Option<&'a WeightCurve>>,
    /// Root motion to remove from all poses.
    displacement: Option<Displacement>,
    /// Time by which STEP curves jump early, seconds.
    early: f64,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of a clip, or of the rest pose for `None`.
    pub fn new(model: &'a Model, clip: Option<&'a Clip>) -> Self {
        let mut curves = vec![[None; 3]; model.nodes.len()];
        for channel in clip.iter().flat_map(|c| &c.channels) {
            curves[channel.node][channel.property as usize] = Some(&channel.curve);
        }
        let mut morphs = vec![None; model.nodes.len()];
        for channel in clip.iter().flat_map(|c| &c.morphs) {
            morphs[channel.node] = Some(&channel.curve);
        }
        let resting = model.nodes.iter().map(|node| matrix(&node.local)).collect();
        Self { model, curves, resting, morphs, displacement: None, early: 0.0 }
    }

    /// Removes a displacement of the root from all poses.
    pub(crate) fn without_displacement(self, displacement: Option<Displacement>) -> Self {
        Self { displacement, ..self }
    }

    /// Makes STEP curves jump earlier by a time in seconds, so that a key that names a frame, rounded, is reached
    /// there.
    pub(crate) fn jumping_early(self, early: f64) -> Self {
        Self { early, ..self }
    }

    /// Returns the node-to-baked-scene transforms of all nodes at a time in seconds.
    pub fn globals(&self, time: f64) -> Vec<DMat4> {
        let mut globals = vec![DMat4::IDENTITY; self.model.nodes.len()];
        let root = self.root(time);
        for &node in &self.model.order {
            globals[node] = match self.model.nodes[node].parent {
                Some(parent) => globals[parent] * self.local(node, time),
                None if self.model.has_weights(node) => self.local(node, time),
                None => root * self.local(node, time),
            };
        }
        globals
    }

    /// Returns the node-to-baked-scene transform of one node at a time in seconds.
    pub fn global(&self, node: usize, time: f64) -> DMat4 {
        let upwards = std::iter::successors(Some(node), |&n| self.model.nodes[n].parent);
        let own = upwards.fold(DMat4::IDENTITY, |below, node| self.local(node, time) * below);
        if self.model.has_weights(node) { own } else { self.root(time) * own }
    }

    /// Returns the transform from the file's scene to the baked scene.
    fn root(&self, time: f64) -> DMat4 {
        let placed = self.displacement.as_ref().map(|displacement| displacement.undone(time) * self.model.root);
        placed.unwrap_or(self.model.root)
    }

    /// Returns the skinning matrices `root * global(node) * inverse_bind` of all bones at a time in
    /// seconds.
    pub fn skin_matrices(&self, time: f64) -> Vec<Rows> {
        let globals = self.globals(time);
        self.model.bones.iter().map(|bone| rows(&(globals[bone.node] * bone.inverse_bind))).collect()
    }

    /// Returns the morph weights of a node at a time in seconds; empty if its mesh has no targets.
    pub fn morph_weights(&self, node: usize, time: f64) -> Vec<f64> {
        match self.morphs[node] {
            Some(curve) => evaluate_weights(curve, curve.interpolation.time(time, self.early)),
            None => self.model.nodes[node].weights.clone(),
        }
    }

    fn local(&self, node: usize, time: f64) -> DMat4 {
        let [translation, rotation, scale] = self.curves[node];
        if translation.is_none() && rotation.is_none() && scale.is_none() {
            return self.resting[node];
        }
        let rest = match self.model.nodes[node].local {
            Local::Trs(trs) => trs,
            Local::Matrix(_) => Trs::IDENTITY,
        };
        let at = |c: &Curve, property| evaluate(c, property, c.interpolation.time(time, self.early));
        matrix(&Local::Trs(Trs {
            translation: translation.map_or(rest.translation, |c| at(c, Property::Translation).truncate()),
            rotation: rotation.map_or(rest.rotation, |c| DQuat::from_vec4(at(c, Property::Rotation))),
            scale: scale.map_or(rest.scale, |c| at(c, Property::Scale).truncate()),
        }))
    }
}

impl Interpolation {
    /// Returns the time to evaluate a curve at, if STEP curves jump earlier by a time in seconds.
    pub(crate) fn time(self, time: f64, early: f64) -> f64 {
        if self == Self::Step { time + early } else { time }
    }
}

/// Returns the matrix of a transform: translation * rotation * scale.
pub fn matrix(local: &Local) -> DMat4 {
    let Trs { translation, rotation, scale } = match local {
        Local::Matrix(m) => return *m,
        Local::Trs(trs) => *trs,
    };
    let DQuat { x, y, z, w } = rotation;
    let axis = |v: DVec3, s: f64| (v * s).extend(0.0);
    DMat4::from_cols(
        axis(DVec3::new(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)), scale.x),
        axis(DVec3::new(2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)), scale.y),
        axis(DVec3::new(2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)), scale.z),
        translation.extend(1.0),
    )
}

/// Returns the upper three rows of a matrix.
pub fn rows(m: &DMat4) -> Rows {
    let c = m.to_cols_array();
    [0, 1, 2].map(|r| [c[r], c[4 + r], c[8 + r], c[12 + r]])
}

/// Returns the value of a curve at a time in seconds, clamped to its first and last key. Rotations
/// have unit length.
pub fn evaluate(curve: &Curve, property: Property, time: f64) -> DVec4 {
    let value = |key: usize| match curve.interpolation {
        Interpolation::CubicSpline => curve.values[3 * key + 1],
        _ => curve.values[key],
    };
    let unit = |v: DVec4| match property {
        Property::Rotation => normalized(v),
        _ => v,
    };
    let (key, u, interval) = match span(&curve.times, time) {
        KeySpan::Held(key) => return unit(value(key)),
        KeySpan::Between { key, u, interval } => (key, u, interval),
    };
    let after = key + 1;
    match curve.interpolation {
        Interpolation::Step => unit(value(key)),
        Interpolation::Linear if property == Property::Rotation => unit(slerp(value(key), value(after), u)),
        Interpolation::Linear => value(key) + (value(after) - value(key)) * u,
        Interpolation::CubicSpline => {
            let (out_tangent, in_tangent) = (curve.values[3 * key + 2], curve.values[3 * after]);
            let [a, b, c, d] = hermite(u, interval);
            unit(value(key) * a + out_tangent * b + value(after) * c + in_tangent * d)
        }
    }
}

/// Returns the morph weights of a curve at a time in seconds, clamped to its first and last key:
/// one weight per target.
pub fn evaluate_weights(curve: &WeightCurve, time: f64) -> Vec<f64> {
    let rows = if curve.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let row = |row: usize| &curve.values[row * curve.targets..][..curve.targets];
    let value = |key: usize| row(key * rows + rows / 2);
    let (key, u, interval) = match span(&curve.times, time) {
        KeySpan::Held(key) => return value(key).to_vec(),
        KeySpan::Between { key, u, interval } => (key, u, interval),
    };
    let (from, to) = (value(key), value(key + 1));
    match curve.interpolation {
        Interpolation::Step => from.to_vec(),
        Interpolation::Linear => from.iter().zip(to).map(|(a, b)| a + (b - a) * u).collect(),
        Interpolation::CubicSpline => {
            let (out_tangents, in_tangents) = (row(3 * key + 2), row(3 * key + 3));
            let [a, b, c, d] = hermite(u, interval);
            let weight = |i: usize| from[i] * a + out_tangents[i] * b + to[i] * c + in_tangents[i] * d;
            (0..curve.targets).map(weight).collect()
        }
    }
}

/// Location of a time among keys.
enum KeySpan {
    /// Before the first key, or at or after the last key.
    Held(usize),
    /// Between `key` and the next key, `interval` seconds later, at the fraction `u`. At a key, `u`
    /// is 0.
    Between { key: usize, u: f64, interval: f64 },
}

fn span(times: &[f64], time: f64) -> KeySpan {
    // Index of the first key after `time`.
    let after = times.partition_point(|&t| t <= time);
    if after == 0 || after == times.len() {
        return KeySpan::Held(after.saturating_sub(1));
    }
    let key = after - 1;
    let interval = times[after] - times[key];
    KeySpan::Between { key, u: (time - times[key]) / interval, interval }
}

/// Returns the factors of value, out-tangent, next value and next in-tangent (appendix C.5).
fn hermite(u: f64, interval: f64) -> [f64; 4] {
    let (u2, u3) = (u * u, u * u * u);
    [2.0 * u3 - 3.0 * u2 + 1.0, interval * (u3 - 2.0 * u2 + u), 3.0 * u2 - 2.0 * u3, interval * (u3 - u2)]
}

/// Normalises a quaternion; zero becomes the identity.
fn normalized(q: DVec4) -> DVec4 {
    let length = q.length();
    if length > 0.0 { q / length } else { DVec4::W }
}

/// Interpolates unit quaternions along the shorter arc (appendix C.4), linearly if the angle is
/// almost zero.
fn slerp(a: DVec4, b: DVec4, u: f64) -> DVec4 {
    let dot = a.dot(b);
    let b = if dot < 0.0 { -b } else { b };
    let angle = libm::acos(dot.abs().min(1.0));
    let sine = libm::sin(angle);
    if sine < 1e-8 {
        return a * (1.0 - u) + b * u;
    }
    a * (libm::sin(angle * (1.0 - u)) / sine) + b * (libm::sin(angle * u) / sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(interpolation: Interpolation, values: &[DVec4]) -> Curve {
        Curve { times: vec![1.0, 2.0, 4.0], values: values.to_vec(), interpolation }
    }

    const VALUES: [DVec4; 3] =
        [DVec4::new(1.0, 2.0, 3.0, 0.0), DVec4::new(3.0, 2.0, 1.0, 0.0), DVec4::new(-1.0, 0.0, 1.0, 0.0)];

    #[test]
    fn step_changes_its_value_at_the_key() {
        let c = curve(Interpolation::Step, &VALUES);
        let at = |t| evaluate(&c, Property::Translation, t);
        assert_eq!([at(0.0), at(1.999), at(2.0), at(3.999), at(4.0), at(9.0)], [0, 0, 1, 1, 2, 2].map(|i| VALUES[i]));
    }

    #[test]
    fn linear_is_straight_and_held_outside() {
        let c = curve(Interpolation::Linear, &VALUES);
        assert_eq!(evaluate(&c, Property::Scale, 0.0), VALUES[0]);
        assert_eq!(evaluate(&c, Property::Scale, 1.25), DVec4::new(1.5, 2.0, 2.5, 0.0));
        assert_eq!(evaluate(&c, Property::Scale, 3.0), DVec4::new(1.0, 1.0, 1.0, 0.0));
        assert_eq!(evaluate(&c, Property::Scale, 5.0), VALUES[2]);
    }

    #[test]
    fn rotations_turn_at_even_speed_along_the_shorter_arc() {
        let about_y = |degrees: f64| {
            let half = degrees.to_radians() / 2.0;
            DVec4::new(0.0, half.sin(), 0.0, half.cos())
        };
        let c = curve(Interpolation::Linear, &[about_y(0.0), about_y(90.0), -about_y(170.0)]);
        let angle = |t| {
            let q = evaluate(&c, Property::Rotation, t);
            (2.0 * q.y.atan2(q.w)).to_degrees().rem_euclid(360.0)
        };
        assert!((angle(1.25) - 22.5).abs() < 1e-9);
        assert!((angle(2.5) - 110.0).abs() < 1e-9);
    }

    #[test]
    fn cubic_spline_is_the_hermite_polynomial() {
        // x(t) = t^3 with keys at 1, 2 and 4 has these tangents, and is reproduced exactly.
        let key = |t: f64| {
            let tangent = DVec4::new(3.0 * t * t, 0.0, 0.0, 0.0);
            [tangent, DVec4::new(t * t * t, 0.0, 0.0, 0.0), tangent]
        };
        let c = curve(Interpolation::CubicSpline, &[key(1.0), key(2.0), key(4.0)].concat());
        for t in [1.0, 1.3, 2.0, 2.7, 3.9, 4.0] {
            assert!((evaluate(&c, Property::Translation, t).x - t * t * t).abs() < 1e-12);
        }
    }

    #[test]
    fn matrix_scales_then_rotates_then_translates() {
        let trs = Trs {
            translation: DVec3::new(1.0, 2.0, 3.0),
            rotation: DQuat::from_xyzw(0.1, 0.2, -0.3, 0.9).normalize(),
            scale: DVec3::new(2.0, 0.5, -1.0),
        };
        let expected = DMat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation);
        assert!(matrix(&Local::Trs(trs)).abs_diff_eq(expected, 1e-12));
    }

    #[test]
    fn morph_weights_between_keys() {
        let curve = |interpolation, values: &[f64]| WeightCurve {
            times: vec![1.0, 3.0],
            values: values.to_vec(),
            targets: 2,
            interpolation,
        };
        let near = |curve: &WeightCurve, time: f64, expected: [f64; 2]| {
            let found = evaluate_weights(curve, time);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} at {time}");
        };
        let linear = curve(Interpolation::Linear, &[0.0, 1.0, 1.0, 0.0]);
        near(&linear, 0.0, [0.0, 1.0]);
        near(&linear, 1.5, [0.25, 0.75]);
        near(&linear, 9.0, [1.0, 0.0]);
        let step = curve(Interpolation::Step, &[0.0, 1.0, 1.0, 0.0]);
        near(&step, 2.999, [0.0, 1.0]);
        near(&step, 3.0, [1.0, 0.0]);
        // In-tangents, values, out-tangents of both targets. Halfway: (a + b) / 2 + 2 s * (out -
        // in) / 8.
        let spline = [9.0, 9.0, 0.0, 1.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 9.0, 9.0];
        let spline = curve(Interpolation::CubicSpline, &spline);
        near(&spline, 2.0, [0.5 + 0.25 * 2.0, 0.5]);
        near(&spline, 3.0, [1.0, 0.0]);
        near(&spline, 0.5, [0.0, 1.0]);
    }
}
