//! Camera of the window.

use glam::Vec3;
use gpuskin_rt::Camera;
use winit::keyboard::KeyCode;

use crate::land;

/// Camera that swings in front of the field until the user steers it.
#[derive(Debug)]
pub(crate) struct Pilot {
    eye: Vec3,
    /// Yaw to the left of -z, and pitch upwards, in radians.
    yaw: f32,
    pitch: f32,
    /// Phase of the swing in radians; `None` once the user steers.
    swaying: Option<f32>,
    /// Whether a mouse button is held.
    pub(crate) looking: bool,
    keys: Vec<KeyCode>,
}

impl Default for Pilot {
    fn default() -> Self {
        let mut pilot =
            Self { eye: Vec3::ZERO, yaw: 0.0, pitch: 0.0, swaying: Some(-0.3), looking: false, keys: Vec::new() };
        pilot.advance(0.0);
        pilot
    }
}

impl Pilot {
    pub(crate) fn key(&mut self, key: KeyCode, pressed: bool) {
        self.keys.retain(|&k| k != key);
        if pressed {
            self.keys.push(key);
        }
    }

    /// Turns by a motion of the mouse, in its units.
    pub(crate) fn look(&mut self, (right, down): (f64, f64)) {
        if self.looking {
            self.swaying = None;
            self.yaw -= 0.003 * right as f32;
            self.pitch = (self.pitch - 0.003 * down as f32).clamp(-1.5, 1.5);
        }
    }

    pub(crate) fn advance(&mut self, seconds: f32) {
        // A slow frame must not make the camera jump.
        let seconds = seconds.min(0.1);
        let axis = |more, less| {
            f32::from(u8::from(self.keys.contains(&more))) - f32::from(u8::from(self.keys.contains(&less)))
        };
        let steer = Vec3::new(
            axis(KeyCode::KeyD, KeyCode::KeyA),
            axis(KeyCode::KeyE, KeyCode::KeyQ),
            axis(KeyCode::KeyS, KeyCode::KeyW),
        );
        if steer != Vec3::ZERO {
            self.swaying = None;
        }
        if let Some(angle) = &mut self.swaying {
            *angle += 0.05 * seconds;
            // Swings on an arc in front of the field.
            let around = 0.8 * angle.sin();
            self.eye = Vec3::new(42.0 * around.sin(), 5.5, 42.0 * around.cos() - 25.0);
            let line = Vec3::new(0.0, 2.0, -25.0) - self.eye;
            (self.yaw, self.pitch) = ((-line.x).atan2(-line.z), line.y.atan2(line.x.hypot(line.z)));
        } else {
            let speed = if self.keys.contains(&KeyCode::ShiftLeft) { 40.0 } else { 10.0 };
            let right = Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin());
            self.eye += speed * seconds * (right * steer.x + Vec3::Y * steer.y - self.line() * steer.z);
        }
        self.eye.y = self.eye.y.max(land::height(self.eye.x, self.eye.z) + 0.5);
    }

    fn line(&self) -> Vec3 {
        let level = self.pitch.cos();
        Vec3::new(-self.yaw.sin() * level, self.pitch.sin(), -self.yaw.cos() * level)
    }

    pub(crate) fn camera(&self, aspect: f32) -> Camera {
        Camera::perspective_look_at(self.eye, self.eye + self.line(), 0.8, aspect, 0.2, 1200.0)
    }
}
