//! Bones and poses. In bind pose, the axes of every bone are those of the model (metres, y up,
//! facing +Z, left is +X). A bone is therefore a name and a point, and its inverse bind matrix a
//! translation.

use glam::{DQuat, DVec3};

pub(crate) struct Bone {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    /// Bind position in model space, metres.
    pub(crate) at: DVec3,
}

/// Bones, parents before children; bone 0 is the root.
#[derive(Default)]
pub(crate) struct Skeleton {
    pub(crate) bones: Vec<Bone>,
}

impl Skeleton {
    /// Adds a bone under the bone named `parent` (the root's parent is empty) and returns its index.
    pub(crate) fn add(&mut self, name: &str, parent: &str, at: DVec3) -> usize {
        let parent = (!parent.is_empty()).then(|| self.find(parent));
        self.bones.push(Bone { name: name.to_owned(), parent, at });
        self.bones.len() - 1
    }

    /// Index of the bone named `name`.
    pub(crate) fn find(&self, name: &str) -> usize {
        self.bones.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no bone is named {name}"))
    }

    pub(crate) fn at(&self, name: &str) -> DVec3 {
        self.bones[self.find(name)].at
    }

    /// Translation of a bone in its parent's space.
    pub(crate) fn local_offset(&self, bone: usize) -> DVec3 {
        let b = &self.bones[bone];
        b.at - b.parent.map_or(DVec3::ZERO, |p| self.bones[p].at)
    }
}

/// Rotations of all bones relative to their parents, and the root's displacement.
#[derive(Clone)]
pub(crate) struct Pose {
    /// Added to the root bone's bind position, metres.
    pub(crate) root: DVec3,
    /// `[bone]`
    pub(crate) local: Vec<DQuat>,
}

impl Pose {
    pub(crate) fn bind(skeleton: &Skeleton) -> Self {
        Self { root: DVec3::ZERO, local: vec![DQuat::IDENTITY; skeleton.bones.len()] }
    }

    /// Rotation and position of a bone in model space.
    pub(crate) fn global(&self, skeleton: &Skeleton, bone: usize) -> (DQuat, DVec3) {
        match skeleton.bones[bone].parent {
            None => (self.local[bone], skeleton.bones[bone].at + self.root),
            Some(parent) => {
                let (r, p) = self.global(skeleton, parent);
                ((r * self.local[bone]).normalize(), p + r * skeleton.local_offset(bone))
            }
        }
    }

    /// Turns a bone so that its rotation in model space becomes `rotation`.
    pub(crate) fn set_global(&mut self, skeleton: &Skeleton, bone: usize, rotation: DQuat) {
        let parent = skeleton.bones[bone].parent.map_or(DQuat::IDENTITY, |p| self.global(skeleton, p).0);
        self.local[bone] = (parent.inverse() * rotation).normalize();
    }

    /// Position in model space of a point that is fixed to `bone` and lies at `point` in bind pose.
    pub(crate) fn carry(&self, skeleton: &Skeleton, bone: usize, point: DVec3) -> DVec3 {
        let (r, p) = self.global(skeleton, bone);
        p + r * (point - skeleton.bones[bone].at)
    }
}

/// Animation: one pose per frame, at [`FPS`] frames per second.
pub(crate) struct Clip {
    pub(crate) name: &'static str,
    /// Poses; in a loop, the last equals the first.
    pub(crate) frames: Vec<Pose>,
    pub(crate) looped: bool,
    /// Ground speed that the feet match, m/s.
    pub(crate) speed: Option<f64>,
    /// With `Some(n)`, every n-th frame becomes a CUBICSPLINE key; otherwise, every frame becomes a
    /// LINEAR key.
    pub(crate) spline: Option<usize>,
}

pub(crate) const FPS: f64 = 30.0;

impl Clip {
    /// Creates a clip with `frames` frames after the first; `pose` gets the phase, 0..=1.
    pub(crate) fn sample(name: &'static str, frames: usize, looped: bool, pose: impl Fn(f64) -> Pose) -> Self {
        let mut all: Vec<Pose> = (0..=frames).map(|i| pose(i as f64 / frames as f64)).collect();
        if looped {
            all[frames] = all[0].clone();
        }
        Self { name, frames: all, looped, speed: None, spline: None }
    }

    pub(crate) fn at_speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed);
        self
    }

    pub(crate) fn splined(mut self, step: usize) -> Self {
        assert_eq!((self.frames.len() - 1) % step, 0, "{}: spline keys must fall on the last frame", self.name);
        self.spline = Some(step);
        self
    }
}
