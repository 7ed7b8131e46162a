//! Root motion: the motion of the whole model during a clip, extracted from the poses.
//!
//! With position p(t) and rotation R(t) of the root node in the baked scene:
//!
//! ```text
//! full      D(t) = T(p(t)) R(t) R(0)^-1 T(-p(0))
//! planar    D(t) = T(ground(p(t) - Y p(0))) Y       Y: what R(t) R(0)^-1 turns about the up axis y
//! in place  D(t)^-1 pose(t)
//! ```
//!
//! The displacement D is stored at frames, in `f32`; between frames it is interpolated as the
//! runtime does. Poses are sampled, encoded and measured in place, with this D removed, so measured
//! errors are those of the drawn model after the displacement is applied.

use glam::{DMat3, DMat4, DQuat, DVec3};
use gpuskin_rt::internals::RootKey;

use crate::displacement::Displacement;
use crate::frames::FrameGrid;
use crate::model::{Clip, Model};
use crate::sample::Sampler;

impl Displacement {
    /// Computes the displacement of a clip at its frames. Returns `None` if the clip has no root
    /// motion.
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
                // The part of the rotation about y. A half turn about another axis has no such
                // part, and keeps the previous rotation.
                let length = libm::hypot(turned.y, turned.w);
                rotation =
                    if length > 1e-6 { DQuat::from_xyzw(0.0, turned.y / length, 0.0, turned.w / length) } else { last };
                place.y = (rotation * start.origin).y;
            }
            // Chooses the quaternion sign that is nearer to the previous key.
            last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
            let translation = place - last * start.origin;
            RootKey { translation: translation.as_vec3().into(), rotation: last.as_quat().into() }
        };
        let mut keys: Vec<RootKey> = (0..=grid.intervals).map(key).collect();
        keys[0] = RootKey::IDENTITY;
        Some(Self { planar: root.planar, keys, duration: grid.duration })
    }
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of a clip with root motion removed, as baked with the frames of `grid`. Keys of STEP curves
    /// that are nearly at a frame are at it.
    pub fn in_place(model: &'a Model, clip: &'a Clip, grid: &FrameGrid) -> Self {
        let displacement = Displacement::new(model, clip, grid);
        Self::new(model, Some(clip)).without_displacement(displacement).jumping_early(grid.slack())
    }
}

/// Position and orientation of a node, with orthonormal axes.
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

    /// Returns a model with a node that walks an arc, nods and bobs, and whose parent is scaled,
    /// mirrored and rotated.
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
    fn full_motion_keeps_the_root_at_its_start() {
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
        // Between frames, the displacement also restores exactly what was removed.
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
