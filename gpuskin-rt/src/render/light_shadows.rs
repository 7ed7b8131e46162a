//! Shadows of point and spot lights: perspective views from the lights, as tiles of the shadow map.

use bytemuck::{Pod, Zeroable};
use glam::{DMat4, DVec3, DVec4};

use super::Camera;
use super::shading::{LightShadowDescriptor, ShadowTile};
use crate::lighting::PunctualLight;

/// Texels at each side of a tile beyond the light's cone or the cube's face: three for the filter, and four and a half by
/// which a receiver is moved along its normal.
const MARGIN: f64 = 8.0;
/// Tiles of a light that shines in all directions.
const CUBE_FACES: usize = 6;
/// Largest half angle of a cone that takes a single tile, radians. The tangent of a wider one grows without bound, and with it
/// the texels in the middle.
const WIDEST_CONE: f32 = 1.3;
/// Smallest half angle of a tile, radians.
const NARROWEST_CONE: f64 = 0.01;
/// Distance of the near plane, metres, and as a fraction of the light's range.
const NEAR: f64 = 0.05;
const NEAR_OF_RANGE: f64 = 0.01;
/// Relative rounding error of a clip coordinate: four terms of `f32`.
const ROUNDING: f64 = 4.0 / 16_777_216.0;

/// Layout of `GpuskinLightTile` in `shaders/light_shadows.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LightTileUniform {
    pub(crate) right: [f32; 3],
    pub(crate) texel: f32,
    pub(crate) up: [f32; 3],
    pub(crate) offset: f32,
    pub(crate) forward: [f32; 3],
    pub(crate) depth_offset: f32,
    pub(crate) column: f32,
    pub(crate) row: f32,
    pub(crate) scale: f32,
    pub(crate) depth_scale: f32,
}

/// Layout of the members of `GpuskinLightShadows` in `shaders/light_shadows.wgsl` before its tiles.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LightShadowUniform {
    pub(crate) points: u32,
    pub(crate) count: u32,
    pub(crate) side: f32,
    padding: u32,
}

/// Shadows of the point and spot lights of a renderer.
#[derive(Debug)]
pub(crate) struct LightShadows {
    reversed: bool,
    /// Tiles of the shadow map, one per view.
    tiles: Vec<ShadowTile>,
    pub(crate) uniform: wgpu::Buffer,
}

impl LightShadows {
    /// `tiles`: tiles of the shadow map, those of lights last.
    pub(crate) fn new(
        device: &wgpu::Device,
        descriptor: &LightShadowDescriptor,
        tiles: &[ShadowTile],
        reversed: bool,
    ) -> Self {
        let tiles = tiles[tiles.len() - descriptor.tiles as usize..].to_vec();
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin light shadows"),
            size: (size_of::<LightShadowUniform>() + tiles.len() * size_of::<LightTileUniform>()) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { reversed, tiles, uniform }
    }

    /// Gives tiles to lights, uploads what shaders need, and sorts the lights as shaders expect them. Returns the number of
    /// lights with shadows, and the tiles' cameras; [`Camera::BLIND`] for a tile without a light.
    pub(crate) fn fit(&self, queue: &wgpu::Queue, lights: &mut Vec<PunctualLight>) -> (usize, Vec<Camera>) {
        let (header, tiles, cameras) = fit(&self.tiles, self.reversed, lights);
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&header));
        queue.write_buffer(&self.uniform, size_of_val(&header) as u64, bytemuck::cast_slice(&tiles));
        (header.count as usize, cameras)
    }
}

/// Number of tiles of a light's shadow; 0 for a light without shadow.
fn tiles_of(light: &PunctualLight) -> usize {
    match light.outer_angle() {
        _ if !light.shadow || light.is_dark() => 0,
        Some(outer) if outer <= WIDEST_CONE => 1,
        _ => CUBE_FACES,
    }
}

/// Sorts lights: those with shadows of six tiles, those with shadows of one, and those without; within each group the order
/// stays. Lights that find too few tiles left have no shadow.
fn fit(
    tiles: &[ShadowTile],
    reversed: bool,
    lights: &mut Vec<PunctualLight>,
) -> (LightShadowUniform, Vec<LightTileUniform>, Vec<Camera>) {
    let mut left = tiles.len();
    let mut groups = [const { Vec::new() }; 3];
    for light in lights.drain(..) {
        let needed = tiles_of(&light);
        let fits = needed <= left;
        left -= if fits { needed } else { 0 };
        let group = match needed {
            CUBE_FACES if fits => 0,
            1 if fits => 1,
            _ => 2,
        };
        groups[group].push(light);
    }
    let [points, spots, others] = groups;
    let header = LightShadowUniform {
        points: points.len() as u32,
        count: (points.len() + spots.len()) as u32,
        side: tiles.first().map_or(0, |tile| tile.side) as f32,
        padding: 0,
    };
    let views = points.iter().flat_map(cube).chain(spots.iter().map(cone));
    let (mut uniforms, mut cameras): (Vec<_>, Vec<_>) =
        views.zip(tiles).map(|(view, tile)| view.on(*tile, reversed)).unzip();
    uniforms.resize(tiles.len(), Zeroable::zeroed());
    cameras.resize(tiles.len(), Camera::BLIND);
    lights.extend(points.into_iter().chain(spots).chain(others));
    (header, uniforms, cameras)
}

/// Perspective view from a light.
struct LightView {
    /// World space, metres.
    position: DVec3,
    right: DVec3,
    up: DVec3,
    forward: DVec3,
    /// Tangent of half the angle that the light needs.
    tangent: f64,
    /// Distance at which the light ends, metres.
    range: Option<f64>,
}

/// View of the cone of a spot light.
fn cone(light: &PunctualLight) -> LightView {
    let forward = light.direction().as_dvec3().normalize();
    // A vertical light has no right side of its own.
    let reference = if forward.y.abs() > 0.999 { DVec3::Z } else { DVec3::Y };
    let outer = light.outer_angle().unwrap_or(WIDEST_CONE).min(WIDEST_CONE);
    view(light, forward, reference, f64::from(outer).max(NARROWEST_CONE).tan())
}

/// Views of the faces of a cube: +x, -x, +y, -y, +z, -z.
fn cube(light: &PunctualLight) -> [LightView; CUBE_FACES] {
    let faces = [(DVec3::X, DVec3::Y), (DVec3::Y, DVec3::Z), (DVec3::Z, DVec3::Y)];
    core::array::from_fn(|i| {
        let (axis, reference) = faces[i / 2];
        view(light, if i % 2 == 0 { axis } else { -axis }, reference, 1.0)
    })
}

fn view(light: &PunctualLight, forward: DVec3, reference: DVec3, tangent: f64) -> LightView {
    let right = forward.cross(reference).normalize_or(DVec3::X);
    let range = light.end().map(f64::from);
    let position = light.bounded_position().as_dvec3();
    LightView { position, right, up: right.cross(forward), forward, tangent, range }
}

impl LightView {
    /// Returns what shaders need, and the camera that draws the tile.
    fn on(&self, tile: ShadowTile, reversed: bool) -> (LightTileUniform, Camera) {
        let side = f64::from(tile.side);
        let tangent = self.tangent * side / (side - 2.0 * MARGIN);
        let near = self.range.map_or(NEAR, |range| NEAR.min(NEAR_OF_RANGE * range));
        // Depth is offset + scale / distance. Without a range, the far plane is at infinity.
        let far_ratio = self.range.map_or(0.0, |range| near / range);
        let (depth_offset, depth_scale) = match reversed {
            false => (1.0 / (1.0 - far_ratio), -near / (1.0 - far_ratio)),
            true => (-far_ratio / (1.0 - far_ratio), near / (1.0 - far_ratio)),
        };
        let row = |axis: DVec3, scale: f64| (axis * scale).extend(-axis.dot(self.position) * scale);
        let rows = [
            row(self.right, 1.0 / tangent),
            row(self.up, 1.0 / tangent),
            row(self.forward, depth_offset) + DVec4::new(0.0, 0.0, 0.0, depth_scale),
            row(self.forward, 1.0),
        ];
        let view_proj = DMat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose().as_mat4();
        let eye = self.position.as_vec3();
        let camera = Camera { view_proj: view_proj.to_cols_array_2d(), eye: eye.into(), height: tile.side as f32 };
        let texel = 2.0 * tangent / side;
        // Depth that is 0 at the light is the difference of two clip coordinates that are nearly equal.
        let error = if reversed { 0.0 } else { ROUNDING * self.position.abs().max_element() / near };
        let [right, up, forward] = [self.right, self.up, self.forward].map(|axis| axis.as_vec3().into());
        let uniform = LightTileUniform {
            right,
            texel: texel as f32,
            up,
            offset: (0.5 * texel + error) as f32,
            forward,
            depth_offset: depth_offset as f32,
            column: tile.first[0] as f32,
            row: tile.first[1] as f32,
            scale: (1.0 / texel) as f32,
            depth_scale: depth_scale as f32,
        };
        (uniform, camera)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lighting::LightCone;
    use glam::{Mat4, Vec3};

    const SIDE: u32 = 256;

    fn tiles(count: u32) -> Vec<ShadowTile> {
        (0..count).map(|i| ShadowTile { first: [i * SIDE, 7], side: SIDE }).collect()
    }

    fn spot(position: [f32; 3], direction: [f32; 3], outer: f32) -> PunctualLight {
        let cone = Some(LightCone { direction, inner: 0.0, outer });
        PunctualLight { position, cone, shadow: true, range: Some(20.0), ..Default::default() }
    }

    fn point(position: [f32; 3]) -> PunctualLight {
        PunctualLight { position, shadow: true, range: Some(20.0), ..Default::default() }
    }

    /// Column, row and depth of a point, texels of the tile: as the shader computes them, in `f64`.
    fn looked_up(tile: &LightTileUniform, relative: DVec3) -> DVec3 {
        let axis = |axis: [f32; 3]| Vec3::from(axis).as_dvec3();
        let [x, y, z] = [tile.right, tile.up, tile.forward].map(|of| axis(of).dot(relative));
        let half = 0.5 * f64::from(SIDE);
        let [scale, offset, depth] = [tile.scale, tile.depth_offset, tile.depth_scale].map(f64::from);
        DVec3::new(half + x / z * scale, half - y / z * scale, offset + depth / z)
    }

    /// Directions that cover a sphere evenly.
    fn directions() -> impl Iterator<Item = DVec3> {
        const COUNT: u32 = 2000;
        (0..COUNT).map(|i| {
            let y = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(COUNT);
            let (sin, cos) = (f64::from(i) * 2.399_963).sin_cos();
            let radius = (1.0 - y * y).sqrt();
            DVec3::new(cos * radius, y, sin * radius)
        })
    }

    #[track_caller]
    fn assert_drawn_where_looked_up(tile: &LightTileUniform, camera: &Camera, position: DVec3, relative: DVec3) {
        let clip = Mat4::from_cols_array_2d(&camera.view_proj).as_dmat4().project_point3(position + relative);
        let side = f64::from(SIDE);
        let drawn = DVec3::new((0.5 + 0.5 * clip.x) * side, (0.5 - 0.5 * clip.y) * side, clip.z);
        let found = looked_up(tile, relative);
        assert!((drawn - found).abs().cmplt(DVec3::new(0.02, 0.02, 1e-5)).all(), "{drawn} {found}");
    }

    #[test]
    fn cones_are_in_their_tile_where_the_camera_draws_them() {
        let axes = [[0.0, -1.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 0.0], [-0.3, -0.5, 0.7]];
        for (axis, outer) in axes.into_iter().flat_map(|axis| [0.05, 0.5, 1.2, 1.3].map(|outer| (axis, outer))) {
            for reversed in [false, true] {
                let light = spot([3.0, -2.0, 5.0], axis, outer);
                let (header, uniforms, cameras) = fit(&tiles(1), reversed, &mut vec![light]);
                assert_eq!((header.points, header.count), (0, 1));
                let position = Vec3::from(light.position).as_dvec3();
                let forward = Vec3::from(axis).as_dvec3().normalize();
                let mut inside = 0;
                for direction in directions().filter(|d| d.dot(forward) >= f64::from(outer).cos()).chain([forward]) {
                    inside += 1;
                    let texel = looked_up(&uniforms[0], direction * 4.0);
                    let margin = MARGIN - 0.01..f64::from(SIDE) - MARGIN + 0.01;
                    assert!(margin.contains(&texel.x) && margin.contains(&texel.y), "{texel} of {direction}");
                    for distance in [0.2, 1.0, 19.0] {
                        assert_drawn_where_looked_up(&uniforms[0], &cameras[0], position, direction * distance);
                    }
                }
                assert!(inside > 1 || outer < 0.1);
                // Depth is 0 and 1, or 1 and 0, at the near plane and at the range.
                let depths = [0.05, 20.0].map(|z| looked_up(&uniforms[0], forward * z).z);
                let expected = if reversed { [1.0, 0.0] } else { [0.0, 1.0] };
                assert!(depths.iter().zip(expected).all(|(is, of)| (is - of).abs() < 1e-5), "{depths:?}");
            }
        }
    }

    #[test]
    fn each_direction_is_in_the_face_that_the_shader_chooses() {
        for reversed in [false, true] {
            let light = PunctualLight { range: None, ..point([-4.0, 1.0, 2.0]) };
            let (header, uniforms, cameras) = fit(&tiles(7), reversed, &mut vec![light]);
            assert_eq!((header.points, header.count, header.side), (1, 1, 256.0));
            let corners = [DVec3::ONE, DVec3::new(1.0, -1.0, 0.0), DVec3::new(-1.0, -1.0, -1.0), DVec3::NEG_Z];
            for direction in directions().chain(corners) {
                // gpuskin_cube_face.
                let size = direction.abs();
                let (axis, value) = match () {
                    () if size.x >= size.y && size.x >= size.z => (0, direction.x),
                    () if size.y >= size.z => (2, direction.y),
                    () => (4, direction.z),
                };
                let face = axis + usize::from(value < 0.0);
                let texel = looked_up(&uniforms[face], direction);
                let margin = MARGIN - 0.01..f64::from(SIDE) - MARGIN + 0.01;
                assert!(margin.contains(&texel.x) && margin.contains(&texel.y), "{texel} of {direction}");
                assert!((0.0..=1.0).contains(&texel.z));
                let position = Vec3::from(light.position).as_dvec3();
                for distance in [0.2, 3.0, 500.0] {
                    assert_drawn_where_looked_up(&uniforms[face], &cameras[face], position, direction * distance);
                }
            }
            assert_eq!(cameras[6], Camera::BLIND);
            assert!(cameras[..6].iter().all(|camera| *camera != Camera::BLIND));
        }
    }

    #[test]
    fn views_are_not_mirrored() {
        let lights = [point([0.0; 3]), spot([0.0; 3], [0.3, -1.0, 0.2], 0.6)];
        let (_, uniforms, _) = fit(&tiles(7), false, &mut lights.to_vec());
        for tile in uniforms {
            let [right, up, forward] = [tile.right, tile.up, tile.forward].map(Vec3::from);
            assert!(right.cross(up).abs_diff_eq(-forward, 1e-6), "{tile:?}");
        }
    }

    #[test]
    fn lights_get_tiles_in_their_order() {
        let plain = |x: f32| PunctualLight { shadow: false, ..point([x, 0.0, 0.0]) };
        let lamp = |x: f32| spot([x, 0.0, 0.0], [0.0, -1.0, 0.0], 0.5);
        let wide = |x: f32| spot([x, 0.0, 0.0], [0.0, -1.0, 0.0], 1.4);
        let dark = |x: f32| PunctualLight { intensity: f32::NAN, ..point([x, 0.0, 0.0]) };
        let order = |tile_count, lights: Vec<PunctualLight>| {
            let mut lights = lights;
            let (header, ..) = fit(&tiles(tile_count), false, &mut lights);
            (header.points, header.count, lights.iter().map(|light| light.position[0] as u32).collect::<Vec<_>>())
        };
        let at = |x: f32| point([x, 0.0, 0.0]);
        assert_eq!(order(8, vec![plain(0.0), lamp(1.0), at(2.0), lamp(3.0)]), (1, 3, vec![2, 1, 3, 0]));
        // The second point light finds one tile left, and the spot light takes it.
        assert_eq!(order(7, vec![at(0.0), at(1.0), lamp(2.0), lamp(3.0)]), (1, 2, vec![0, 2, 1, 3]));
        assert_eq!(order(6, vec![lamp(0.0), at(1.0), lamp(2.0)]), (0, 2, vec![0, 2, 1]));
        assert_eq!(order(6, vec![dark(0.0), wide(1.0), plain(2.0)]), (1, 1, vec![1, 0, 2]));
        assert_eq!(order(3, Vec::new()), (0, 0, Vec::new()));
    }

    #[test]
    fn unusable_lights_give_finite_views() {
        let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, -1.0, 0.0];
        for (number, reversed) in numbers.into_iter().flat_map(|number| [(number, false), (number, true)]) {
            let usual = spot([0.0; 3], [0.0, -1.0, 0.0], 0.5);
            let cone = |direction, outer| Some(LightCone { direction, inner: number, outer });
            for light in [
                PunctualLight { position: [number; 3], ..usual },
                PunctualLight { range: Some(number), ..usual },
                PunctualLight { range: Some(number), ..point([number; 3]) },
                PunctualLight { cone: cone([number; 3], 0.4), ..usual },
                PunctualLight { cone: cone([0.0, 0.0, 1.0], number), ..usual },
            ] {
                let (_, uniforms, cameras) = fit(&tiles(6), reversed, &mut vec![light]);
                let finite = |words: &[f32]| words.iter().all(|c| c.is_finite());
                assert!(finite(bytemuck::cast_slice(&uniforms)), "{light:?}: {uniforms:?}");
                assert!(cameras.iter().all(|camera| finite(camera.view_proj.as_flattened())), "{light:?}");
            }
        }
    }
}
