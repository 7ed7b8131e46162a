//! Root motion: how a clip moves the model as a whole, taken out of its poses.
//!
//! With the root node at p(t), turned by R(t), in the scene as baked:
//!
//! ```text
//! full      D(t) = T(p(t)) R(t) R(0)^-1 T(-p(0))
//! planar    D(t) = T(ground(p(t) - Y p(0))) Y       Y: what R(t) R(0)^-1 turns about the up axis y
//! in place  D(t)^-1 pose(t)
//! ```
//!
//! D is kept at frames, in `f32`, and is between them what the runtime makes of those keys. What is sampled, encoded and
//! measured of a clip is in place by that D: an error is that of what is drawn where the displacement puts it.

use glam::{DMat3, DMat4, DQuat, DVec3};
use gpuskin_rt::{RootKey, RootMotion};

use crate::frames::FrameGrid;
use crate::model::{Clip, Model};
use crate::sample::Sampler;

/// The displacement of a clip at any time.
#[derive(Clone, Debug)]
pub struct Displacement {
    planar: bool,
    keys: Vec<RootKey>,
    duration: f64,
}

impl Displacement {
    /// `None`: the clip has no root motion.
    pub fn new(model: &Model, clip: &Clip, grid: &FrameGrid) -> Option<Self> {
        let root = clip.root?;
        let sampler = Sampler::new(model, Some(clip));
        let start = Frame::of(&sampler.global(root.node, 0.0));
        let mut last = DQuat::IDENTITY;
        let key = |frame| {
            let now = Frame::of(&sampler.global(root.node, grid.time(frame)));
            let turned = DQuat::from_mat3(&(now.axes * start.axes.transpose())).normalize();
            let (mut rotation, mut place) = (turned, now.origin);
            if root.planar {
                // The part of a rotation about y; a half turn about another axis has none, and what was is kept.
                let length = libm::hypot(turned.y, turned.w);
                rotation =
                    if length > 1e-6 { DQuat::from_xyzw(0.0, turned.y / length, 0.0, turned.w / length) } else { last };
                place.y = (rotation * start.origin).y;
            }
            // The sign that is nearer to the key before.
            last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
            let translation = place - last * start.origin;
            RootKey { translation: translation.as_vec3().into(), rotation: last.as_quat().into() }
        };
        let mut keys: Vec<RootKey> = (0..=grid.intervals).map(key).collect();
        keys[0] = RootKey::IDENTITY;
        Some(Self { planar: root.planar, keys, duration: grid.duration })
    }

    /// At a time in seconds, held at the clip's ends.
    pub fn at(&self, seconds: f64) -> DMat4 {
        let last = self.keys.len() - 1;
        let fraction = if self.duration > 0.0 { (seconds / self.duration).clamp(0.0, 1.0) } else { 0.0 };
        let place = fraction * last as f64;
        // 1e-9 of a frame is rounding.
        let place = if (place - place.round()).abs() < 1e-9 * place.max(1.0) { place.round() } else { place };
        let frame = (place as usize).min(last);
        let (a, b) = (&self.keys[frame], &self.keys[(frame + 1).min(last)]);
        let t = (place - frame as f64) as f32;
        let key = if t == 0.0 { *a } else { a.blend(b, t) };
        let rotation = DQuat::from_array(key.rotation.map(f64::from)).normalize();
        DMat4::from_rotation_translation(rotation, DVec3::from(key.translation.map(f64::from)))
    }

    /// What takes it out of a pose.
    pub fn undone(&self, seconds: f64) -> DMat4 {
        let at = self.at(seconds);
        let turn = DMat3::from_mat4(at).transpose();
        DMat4::from_mat3_translation(turn, -(turn * at.w_axis.truncate()))
    }

    /// As the runtime has it.
    pub fn info(&self) -> RootMotion {
        RootMotion { planar: self.planar, keys: self.keys.clone().into() }
    }
}

/// Where a node is, and how it is turned: upright axes of length one.
struct Frame {
    axes: DMat3,
    origin: DVec3,
}

impl Frame {
    fn of(m: &DMat4) -> Self {
        let linear = DMat3::from_mat4(*m);
        let x = linear.x_axis.normalize_or(DVec3::X);
        let across = linear.y_axis - x * x.dot(linear.y_axis);
        let y = across.try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
        let mirror = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
        Self { axes: DMat3::from_cols(x, y, x.cross(y) * mirror), origin: m.w_axis.truncate() }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec4;

    use super::*;
    use crate::model::{Channel, Curve, Interpolation, Local, Node, Property, RootMotionSource, Trs};

    /// A node below a scaled, mirrored and turned one, that walks an arc, nods and bobs.
    fn model(planar: bool) -> Model {
        let node = |parent, local| Node { name: "n".into(), parent, local: Local::Trs(local), weights: vec![] };
        let above = Trs {
            translation: DVec3::new(1.0, 0.0, 2.0),
            rotation: DQuat::from_rotation_x(-0.7),
            scale: DVec3::new(-2.0, 2.0, 2.0),
        };
        let times: Vec<f64> = (0..=8).map(|i| f64::from(i) / 8.0).collect();
        let turn = |t: &f64| DQuat::from_rotation_y(4.0 * t) * DQuat::from_rotation_x(0.3 * (7.0 * t).sin());
        let walk = |t: &f64| DVec4::new((2.0 * t).sin(), 0.1 * (9.0 * t).cos(), 3.0 * t, 0.0);
        let curve = |values| Curve { times: times.clone(), values, interpolation: Interpolation::Linear };
        let turns = curve(times.iter().map(|t| turn(t).into()).collect());
        let walks = curve(times.iter().map(walk).collect());
        let channels = vec![
            Channel { node: 1, property: Property::Translation, curve: walks },
            Channel { node: 1, property: Property::Rotation, curve: turns },
        ];
        let clip = Clip { channels, end: 1.0, root: Some(RootMotionSource { node: 1, planar }), ..Clip::default() };
        Model {
            nodes: vec![node(None, above), node(Some(0), Trs::IDENTITY)],
            order: vec![0, 1],
            root: DMat4::from_scale(DVec3::splat(0.5)),
            clips: vec![clip],
            ..Model::default()
        }
    }

    #[test]
    fn full_motion_leaves_the_root_where_it_began() {
        let model = model(false);
        let (clip, grid) = (&model.clips[0], FrameGrid::new(1.0, 24.0, false));
        let displacement = Displacement::new(&model, clip, &grid).unwrap();
        assert_eq!(displacement.keys[0], RootKey::IDENTITY);
        let (source, placed) = (Sampler::new(&model, Some(clip)), Sampler::in_place(&model, clip, &grid));
        for frame in 0..=grid.intervals {
            let time = grid.time(frame);
            assert!(placed.global(1, time).abs_diff_eq(source.global(1, 0.0), 2e-6), "{frame}");
            assert!((displacement.at(time) * placed.global(1, time)).abs_diff_eq(source.global(1, time), 1e-12));
        }
        // Between frames, too, the displacement gives back what was taken.
        for time in [0.013, 0.49, 0.999] {
            assert!((displacement.at(time) * placed.global(1, time)).abs_diff_eq(source.global(1, time), 1e-12));
        }
    }

    #[test]
    fn planar_motion_keeps_height_and_nods_in_the_pose() {
        let model = model(true);
        let (clip, grid) = (&model.clips[0], FrameGrid::new(1.0, 24.0, false));
        let displacement = Displacement::new(&model, clip, &grid).unwrap();
        let (source, placed) = (Sampler::new(&model, Some(clip)), Sampler::in_place(&model, clip, &grid));
        let start = source.global(1, 0.0).w_axis;
        for frame in 0..=grid.intervals {
            let RootKey { translation, rotation } = displacement.keys[frame as usize];
            assert_eq!((translation[1], rotation[0], rotation[2]), (0.0, 0.0, 0.0), "{frame}");
            let (now, then) = (placed.global(1, grid.time(frame)).w_axis, source.global(1, grid.time(frame)).w_axis);
            assert!((now.x - start.x).abs() < 2e-6 && (now.z - start.z).abs() < 2e-6, "{frame}: {now}");
            assert!((now.y - then.y).abs() < 1e-12);
        }
    }
}
