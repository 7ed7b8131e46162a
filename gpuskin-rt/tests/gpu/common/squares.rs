//! Crowds of red squares, and their positions in a picture.

use glam::{Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;

use super::model::{Pose, Recipe, TestClip, TestModel};
use super::{Canvas, Gpu, Picture};

/// Light that shows base colours unchanged.
pub const FLAT: Light = Light { to_sun: [0.0, 0.0, 1.0], sun: [0.0; 3], sky: [1.0; 3], ground: [1.0; 3], wrap: 0.0 };
pub const RED: [u8; 4] = [255, 0, 0, 255];
pub const STILL: TestClip =
    TestClip { intervals: 1, stored: 1, held: HeldFrames::NONE, duration: 0.0, stepped: false, looped: false };

pub fn renderer(gpu: &Gpu) -> CrowdRenderer {
    CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { light: FLAT, ..Default::default() }).unwrap()
}

/// Returns the corners of a square in the xy plane that faces +z, texture upright.
pub fn square(center: Vec3, half: f32, joint: u32) -> ([Vertex; 4], [u32; 6]) {
    let corner = |x: f32, y: f32| Vertex {
        position: center + Vec3::new(x, y, 0.0) * half,
        normal: Vec3::Z,
        tangent: Vec4::X,
        uv: Vec2::new(x * 0.5 + 0.5, 0.5 - y * 0.5),
        second_uv: Vec2::ZERO,
        joints: [joint, 0, 0, 0, 0, 0, 0, 0],
        weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        part: 0,
        color: Vec4::ONE,
    };
    ([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], [0, 1, 2, 0, 2, 3])
}

/// A square of 0.4 metres. Clip 0: at the origin; clip 1: one metre up; clip 2: from there one
/// metre down within a second.
pub fn square_recipe(encoding: Encoding, material: Material) -> Recipe {
    let (vertices, indices) = square(Vec3::ZERO, 0.2, 0);
    Recipe {
        encoding,
        format: VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false },
        bones: 1,
        clips: vec![
            STILL,
            STILL,
            TestClip { intervals: 1, stored: 2, held: HeldFrames::NONE, duration: 1.0, stepped: false, looped: false },
        ],
        frames_per_layer: 8,
        normals: Normals::Cofactor,
        width: 64,
        vertices: vertices.to_vec(),
        indices: indices.to_vec(),
        morphs: Vec::new(),
        materials: vec![material],
        textures: Vec::new(),
    }
}

pub fn squares(recipe: Recipe) -> TestModel {
    recipe.build(|frame, _| Pose { translation: Vec3::Y * [0.0, 1.0, 1.0, 0.0][frame as usize], ..Pose::REST })
}

/// Returns a camera that looks down -z at `side` x `side` metres, with the origin at the lower
/// left: a metre is `pixels / side` pixels.
pub fn map(side: f32) -> Camera {
    let half = side / 2.0;
    Camera::orthographic_look_at([half, half, 5.0], [half, half, 0.0], half, half, 10.0)
}

/// Draws a picture of 128 x 128 pixels.
pub fn draw(gpu: &Gpu, renderer: &mut CrowdRenderer, camera: &Camera, time: f64) -> Picture {
    let canvas = Canvas::new(gpu, 128);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, camera, time).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Returns the pixel at a position in metres from the lower left, on a map of 8 metres.
pub fn shows(picture: &Picture, x: f32, y: f32) -> [u8; 4] {
    picture.at((x * 16.0) as u32, 127 - (y * 16.0) as u32)
}
