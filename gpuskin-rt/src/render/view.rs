//! Cameras, views and lights.

use bytemuck::{Pod, Zeroable};
use glam::camera::rh::{proj::directx, view::look_to_mat4};
use glam::{Mat4, Vec3};

use crate::Time;
use crate::cull::{CullView, MAX_VIEWS};
use crate::lighting::{Ambient, Fog, Lighting, Sun};

/// Camera of a view. Right-handed world space, y up, metres; wgpu clip space: y up, depth 0..1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World space to clip space; column-major, for column vectors: `clip = view_proj * (x, y, z,
    /// 1)`.
    pub view_proj: [[f32; 4]; 4],
    /// Position of the camera, world space, metres.
    pub eye: [f32; 3],
    /// Height of the picture in pixels, from which levels of detail are chosen. 1080 unless
    /// set otherwise. With 0, everything is drawn in the finest LOD.
    pub height: f32,
}

impl Camera {
    const HEIGHT: f32 = 1080.0;

    /// Camera that sees nothing.
    pub(crate) const BLIND: Self = Self { view_proj: [[0.0; 4]; 4], eye: [0.0; 3], height: 0.0 };

    /// Returns this camera for a picture, or shadow map, of this height in pixels: see [`Camera::height`].
    pub fn with_height(self, pixels: u32) -> Self {
        Self { height: pixels as f32, ..self }
    }

    /// Perspective camera at `eye` that looks at `target`, y up. `fov_y`: vertical field of view,
    /// radians. `aspect`: width over height. `near`: distance in metres at depth 0. `far`: distance
    /// in metres at depth 1, greater than `near`.
    pub fn perspective_look_at(
        eye: impl Into<[f32; 3]>,
        target: impl Into<[f32; 3]>,
        fov_y: f32,
        aspect: f32,
        near: f32,
        far: f32,
    ) -> Self {
        // Written out: glam asserts that near and far are positive, but a wrong value from a game
        // must not panic here.
        let f = 1.0 / (0.5 * fov_y).tan();
        let depth = far / (near - far);
        let projection = Mat4::from_cols_array(&[
            f / aspect,
            0.0,
            0.0,
            0.0, //
            0.0,
            f,
            0.0,
            0.0, //
            0.0,
            0.0,
            depth,
            -1.0, //
            0.0,
            0.0,
            depth * near,
            0.0,
        ]);
        Self::looking(projection, eye.into(), target.into())
    }

    /// Orthographic camera at `eye` that looks at `target`, for example for the shadow map of a
    /// sun. `half_width` and `half_height`: metres to each side of the line of sight. Depth is 0 at
    /// `eye` and 1 at `far` metres.
    pub fn orthographic_look_at(
        eye: impl Into<[f32; 3]>,
        target: impl Into<[f32; 3]>,
        half_width: f32,
        half_height: f32,
        far: f32,
    ) -> Self {
        let projection = directx::orthographic(-half_width, half_width, -half_height, half_height, 0.0, far);
        Self::looking(projection, eye.into(), target.into())
    }

    fn looking(projection: Mat4, eye: [f32; 3], target: [f32; 3]) -> Self {
        let line = (Vec3::from(target) - Vec3::from(eye)).normalize_or(Vec3::NEG_Z);
        // Looking straight up or down, any other axis serves as up.
        let up = if line.y.abs() > 0.9999 { Vec3::Z } else { Vec3::Y };
        let view = look_to_mat4(Vec3::from(eye), line, up);
        Self { view_proj: (projection * view).to_cols_array_2d(), eye, height: Self::HEIGHT }
    }
}

/// Light of the renderer's material. Colours are linear; 1 shows a white surface in the colour of
/// its light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Direction towards the sun, world space; any length but zero.
    pub to_sun: [f32; 3],
    /// Colour of the sunlight, linear RGB.
    pub sun: [f32; 3],
    /// Ambient light on surfaces that face up, linear RGB.
    pub sky: [f32; 3],
    /// Ambient light on surfaces that face down, linear RGB.
    pub ground: [f32; 3],
    /// Wrap of the sunlight around to the dark side: 0 ends it at 90 degrees (Lambert), 1 at 180
    /// degrees.
    pub wrap: f32,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            to_sun: [0.4, 0.8, 0.45],
            sun: [0.85, 0.8, 0.7],
            sky: [0.3, 0.36, 0.45],
            ground: [0.14, 0.12, 0.1],
            wrap: 0.25,
        }
    }
}

impl From<Light> for Lighting {
    /// Makes lighting of the light without its wrap, no fog, and an exposure of 1.
    fn from(light: Light) -> Self {
        let sun = Sun { to_sun: light.to_sun, color: light.sun, illuminance: core::f32::consts::PI };
        Self { sun, ambient: Ambient::sky(light.sky, light.ground), fog: Fog::default(), exposure: 1.0 }
    }
}

impl Light {
    /// Returns what the diffuse material can draw of a lighting.
    pub(super) fn of(lighting: &Lighting) -> Self {
        let Lighting { sun, ambient, exposure, .. } = lighting;
        let exposed = |color: [f32; 3], factor: f32| (Vec3::from(color) * factor * *exposure).into();
        let [sky, ground] = ambient.up_and_down();
        Self {
            to_sun: sun.to_sun,
            sun: exposed(sun.color, sun.illuminance / core::f32::consts::PI),
            sky: exposed(sky, 1.0),
            ground: exposed(ground, 1.0),
            wrap: 0.0,
        }
    }
}

/// Handle of a view of a renderer: the main view, or one from [`crate::CrowdRenderer::add_view`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View(pub(crate) usize);

impl View {
    /// Main view, set by [`crate::CrowdRenderer::prepare`].
    pub const MAIN: Self = Self(0);

    /// Instances revealed in the main view: those that [`crate::CrowdRenderer::reveal`] found, and
    /// nothing else. Has the camera of [`View::MAIN`]. Draws nothing before that call in a frame.
    pub const REVEALED: Self = Self(usize::MAX);

    /// Greatest number of views for which instances are culled, shadow maps of the renderer included. With more views, each
    /// draws all instances.
    pub const MAX_CULLED: usize = MAX_VIEWS;
}

impl Camera {
    /// Returns the view as the shaders read it. `lod_error`: allowed LOD error, pixels.
    #[doc(hidden)]
    pub fn uniform(&self, lod_error: f32) -> CullView {
        let lod_scale = 0.5 * self.height / lod_error;
        let lod_scale = if lod_error > 0.0 && lod_scale.is_finite() { lod_scale.max(0.0) } else { 0.0 };
        CullView { view_proj: self.view_proj, eye: self.eye, lod_scale }
    }
}

/// Layout of `Scene` in `shaders/crowd.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SceneUniform {
    pub(crate) time: [u32; 2],
    pub(crate) wrap: f32,
    padding: u32,
    pub(crate) to_sun: [f32; 4],
    pub(crate) sun: [f32; 4],
    pub(crate) sky: [f32; 4],
    pub(crate) ground: [f32; 4],
}

impl SceneUniform {
    pub(crate) fn new(time: Time, light: &Light) -> Self {
        let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        Self {
            time: time.words(),
            wrap: light.wrap,
            padding: 0,
            to_sun: four(Vec3::from(light.to_sun).normalize_or(Vec3::Y).to_array()),
            sun: four(light.sun),
            sky: four(light.sky),
            ground: four(light.ground),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(camera: &Camera, p: Vec3) -> Vec3 {
        Mat4::from_cols_array_2d(&camera.view_proj).project_point3(p)
    }

    #[test]
    fn near_is_0_far_is_1_and_y_is_up() {
        let camera = Camera::perspective_look_at([0.0, 1.0, 5.0], [0.0, 1.0, 0.0], 1.0, 1.5, 0.5, 50.0);
        assert!(project(&camera, Vec3::new(0.0, 1.0, 4.5)).abs_diff_eq(Vec3::ZERO, 1e-5));
        assert!(project(&camera, Vec3::new(0.0, 1.0, -45.0)).abs_diff_eq(Vec3::Z, 1e-5));
        let corner = project(&camera, Vec3::new(1.0, 2.0, 0.0));
        assert!(corner.x > 0.0 && corner.y > corner.x);
        let sun = Camera::orthographic_look_at([0.0, 9.0, 0.0], [0.0; 3], 2.0, 2.0, 10.0);
        let below = project(&sun, Vec3::new(0.0, 4.0, 0.0));
        assert!(below.abs_diff_eq(Vec3::new(0.0, 0.0, 0.5), 1e-5), "{below}");
    }

    #[test]
    fn cull_view_detail_scales_with_picture_height() {
        let camera = Camera::perspective_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 0.1, 9.0).with_height(400);
        assert_eq!([2.0, 0.0, -1.0, f32::NAN].map(|error| camera.uniform(error).lod_scale), [100.0, 0.0, 0.0, 0.0]);
        assert_eq!(camera.with_height(0).uniform(1.0).lod_scale, 0.0);
    }

    #[test]
    fn default_lighting_is_the_default_light() {
        assert_eq!(Lighting::default(), Light::default().into());
        let light = Light { wrap: 0.0, ..Light::default() };
        let back = Light::of(&light.into());
        for (a, b) in [(back.sun, light.sun), (back.sky, light.sky), (back.ground, light.ground)] {
            assert!(Vec3::from(a).abs_diff_eq(b.into(), 1e-6));
        }
    }

    #[test]
    fn invalid_arguments_do_not_panic() {
        Camera::perspective_look_at([f32::NAN; 3], [0.0; 3], 0.0, 0.0, 0.0, 0.0);
        Camera::perspective_look_at([1.0; 3], [1.0; 3], 1.0, 1.0, -1.0, -1.0);
        Camera::orthographic_look_at([0.0; 3], [0.0; 3], 0.0, 0.0, 0.0);
        SceneUniform::new(Time::ZERO, &Light { to_sun: [0.0; 3], ..Default::default() });
    }
}
