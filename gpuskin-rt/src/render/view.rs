//! Where a picture is seen from, and in what light.

use bytemuck::{Pod, Zeroable};
use glam::camera::rh::{proj::directx, view::look_to_mat4};
use glam::{Mat4, Vec3};

use crate::Time;
use crate::cull::CullView;

/// Where a picture is seen from. Right-handed world, y up, metres; clip space of wgpu: y up, depth 0..1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World to clip space; columns, for column vectors: `clip = view_proj * (x, y, z, 1)`.
    pub view_proj: [[f32; 4]; 4],
    /// Where the camera stands in the world.
    pub eye: [f32; 3],
    /// Pixels of the picture from its lower to its upper edge, by which levels of detail are chosen: 1080 unless
    /// [`Camera::with_height`] says otherwise. 0: everything is drawn in its finest level.
    pub height: f32,
}

impl Camera {
    const HEIGHT: f32 = 1080.0;

    /// The same for a picture, or shadow map, of so many pixels from its lower to its upper edge.
    pub fn with_height(self, pixels: u32) -> Self {
        Self { height: pixels as f32, ..self }
    }

    /// Looks from `eye` at `target` with y up. `fov_y`: vertical angle, radians; `aspect`: width over height; `near`
    /// and `far`: metres, depth 0 and 1.
    pub fn perspective_look_at(
        eye: impl Into<[f32; 3]>,
        target: impl Into<[f32; 3]>,
        fov_y: f32,
        aspect: f32,
        near: f32,
        far: f32,
    ) -> Self {
        // Written out: glam asserts that near and far are positive, and a game's slip shall not be a panic here.
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

    /// Parallel rays from `eye` towards `target`, as a sun sees it: `half_width` and `half_height` in metres to each
    /// side of the line of sight, depth 0 at `eye` and 1 at `far` metres.
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
        // Straight up or down any other axis serves.
        let up = if line.y.abs() > 0.9999 { Vec3::Z } else { Vec3::Y };
        let view = look_to_mat4(Vec3::from(eye), line, up);
        Self { view_proj: (projection * view).to_cols_array_2d(), eye, height: Self::HEIGHT }
    }
}

/// The light of the renderer's material. Colours are linear; a white surface that shows its light's colour is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Towards the sun; of any length but zero.
    pub to_sun: [f32; 3],
    /// Colour of the sun.
    pub sun: [f32; 3],
    /// Ambient light on what faces up.
    pub sky: [f32; 3],
    /// Ambient light on what faces down.
    pub ground: [f32; 3],
    /// How far the sun's light reaches around to the dark side: 0 ends it at the edge (Lambert), 1 at the back.
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

/// One of a renderer's views: the main one, or one that [`crate::CrowdRenderer::add_view`] made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View(pub(crate) usize);

impl View {
    /// The view that [`crate::CrowdRenderer::prepare`] sets.
    pub const MAIN: Self = Self(0);

    /// The same view once more: what [`crate::CrowdRenderer::reveal`] found, and nothing else. It has the camera of
    /// [`View::MAIN`], and shows nothing before that was called in a frame.
    pub const REVEALED: Self = Self(usize::MAX);
}

impl Camera {
    /// As the shaders have it. `lod_error`: pixels that a level of detail may be off.
    pub fn uniform(&self, lod_error: f32) -> CullView {
        let detail = 0.5 * self.height / lod_error;
        let detail = if lod_error > 0.0 && detail.is_finite() { detail.max(0.0) } else { 0.0 };
        CullView { view_proj: self.view_proj, eye: self.eye, detail }
    }
}

/// Twin of `Scene` in `shaders/crowd.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SceneUniform {
    pub(crate) clock: [u32; 2],
    pub(crate) wrap: f32,
    padding: u32,
    pub(crate) to_sun: [f32; 4],
    pub(crate) sun: [f32; 4],
    pub(crate) sky: [f32; 4],
    pub(crate) ground: [f32; 4],
}

impl SceneUniform {
    pub(crate) fn new(clock: Time, light: &Light) -> Self {
        let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        Self {
            clock: clock.words(),
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
    fn detail_goes_by_the_height_of_the_picture() {
        let camera = Camera::perspective_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 0.1, 9.0).with_height(400);
        assert_eq!([2.0, 0.0, -1.0, f32::NAN].map(|error| camera.uniform(error).detail), [100.0, 0.0, 0.0, 0.0]);
        assert_eq!(camera.with_height(0).uniform(1.0).detail, 0.0);
    }

    #[test]
    fn nonsense_is_no_panic() {
        Camera::perspective_look_at([f32::NAN; 3], [0.0; 3], 0.0, 0.0, 0.0, 0.0);
        Camera::perspective_look_at([1.0; 3], [1.0; 3], 1.0, 1.0, -1.0, -1.0);
        Camera::orthographic_look_at([0.0; 3], [0.0; 3], 0.0, 0.0, 0.0);
        SceneUniform::new(Time::ZERO, &Light { to_sun: [0.0; 3], ..Default::default() });
    }
}
