//! Camera that turns around a point of the field: by mouse, wheel and fingers.

use crowd::land;
use glam::Vec3;
use gpuskin_rt::Camera;

/// Camera that swings in front of the field until somebody moves it.
#[derive(Debug)]
pub(crate) struct Orbit {
    /// Point that the camera looks at. World space, metres.
    target: Vec3,
    /// Direction from the target to the camera: yaw from +z, and pitch upwards, radians.
    yaw: f32,
    pitch: f32,
    /// Distance from the target, metres.
    distance: f32,
    /// Whether the camera swings by itself.
    swings: bool,
    /// Pressed pointers: identifier, position in CSS pixels, and whether it moves the target.
    pointers: Vec<(i32, [f32; 2], bool)>,
}

impl Default for Orbit {
    fn default() -> Self {
        let target = Vec3::new(0.0, 1.5, -18.0);
        Self { target, yaw: -0.3, pitch: 0.16, distance: 42.0, swings: true, pointers: Vec::new() }
    }
}

impl Orbit {
    pub(crate) fn press(&mut self, pointer: i32, at: [f32; 2], pans: bool) {
        self.swings = false;
        self.pointers.retain(|(known, ..)| *known != pointer);
        self.pointers.push((pointer, at, pans));
    }

    pub(crate) fn release(&mut self, pointer: i32) {
        self.pointers.retain(|(known, ..)| *known != pointer);
    }

    /// Moves a pressed pointer: one turns the camera or moves the target, two also zoom. `height` of the
    /// canvas in CSS pixels.
    pub(crate) fn move_pointer(&mut self, pointer: i32, to: [f32; 2], height: f32) {
        let Some(index) = self.pointers.iter().position(|(known, ..)| *known == pointer) else { return };
        let (_, from, pans) = self.pointers[index];
        self.pointers[index].1 = to;
        let [right, down] = [to[0] - from[0], to[1] - from[1]];
        match self.pointers[..] {
            [_] if pans => self.pan(right, down, height),
            [_] => {
                self.yaw -= 0.006 * right;
                self.pitch = (self.pitch + 0.006 * down).clamp(0.02, 1.5);
            }
            [a, b] => {
                let other = if index == 0 { b.1 } else { a.1 };
                let apart = |point: [f32; 2]| (point[0] - other[0]).hypot(point[1] - other[1]).max(1.0);
                self.zoom(apart(from) / apart(to));
                self.pan(0.5 * right, 0.5 * down, height);
            }
            _ => {}
        }
    }

    /// Multiplies the distance.
    pub(crate) fn zoom(&mut self, factor: f32) {
        self.swings = false;
        self.distance = (self.distance * factor).clamp(2.0, 400.0);
    }

    /// Moves the target with the pointer: over the ground.
    fn pan(&mut self, right: f32, down: f32, height: f32) {
        let metres = self.distance / height.max(1.0);
        let (sin, cos) = self.yaw.sin_cos();
        self.target -= metres * right * Vec3::new(cos, 0.0, -sin);
        self.target -= 2.0 * metres * down * Vec3::new(sin, 0.0, cos);
        self.target.y = land::height(self.target.x, self.target.z) + 1.0;
    }

    /// Returns the camera at a time, seconds.
    pub(crate) fn camera(&mut self, aspect: f32, time: f64) -> Camera {
        if self.swings {
            self.yaw = 0.7 * (0.06 * time as f32 - 0.4).sin();
        }
        let level = self.pitch.cos();
        let direction = Vec3::new(self.yaw.sin() * level, self.pitch.sin(), self.yaw.cos() * level);
        let mut eye = self.target + self.distance * direction;
        eye.y = eye.y.max(land::height(eye.x, eye.z) + 0.4);
        Camera::perspective_look_at(eye, self.target, 0.8, aspect, 0.2, 900.0)
    }
}
