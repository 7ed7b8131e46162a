//! Shadows of the sun: cascades that are fitted to the main camera, as tiles of the shadow map.

use bytemuck::{Pod, Zeroable};
use glam::{DMat4, DVec3, Vec3};

use super::Camera;
use super::shading::{MAX_CASCADES, ShadowDescriptor, ShadowTile};

/// Texels at each side of a cascade in which no point is looked up: the filter reads them.
const MARGIN: f64 = 4.0;
/// Share of logarithmic over uniform splits (F. Zhang et al. 2006, "Parallel-Split Shadow Maps").
const LOGARITHMIC: f64 = 0.75;

/// Layout of `GpuskinCascade` in `shaders/shadows.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CascadeUniform {
    pub(crate) scale: [f32; 3],
    pub(crate) texel: f32,
    pub(crate) offset: [f32; 3],
    pub(crate) column: f32,
    pub(crate) row: f32,
    padding: [f32; 3],
}

/// Layout of `GpuskinShadows` in `shaders/shadows.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShadowUniform {
    pub(crate) right: [f32; 3],
    pub(crate) side: f32,
    pub(crate) up: [f32; 3],
    pub(crate) count: u32,
    pub(crate) away: [f32; 3],
    padding_0: u32,
    pub(crate) origin: [f32; 3],
    padding_1: u32,
    pub(crate) cascades: [CascadeUniform; MAX_CASCADES],
}

/// Cascades of a renderer.
#[derive(Debug)]
pub(crate) struct Cascades {
    descriptor: ShadowDescriptor,
    reversed: bool,
    /// Tiles of the shadow map, one per cascade.
    tiles: Vec<ShadowTile>,
    pub(crate) uniform: wgpu::Buffer,
}

impl Cascades {
    /// `tiles`: tiles of the shadow map, those of the cascades first.
    pub(crate) fn new(
        device: &wgpu::Device,
        descriptor: &ShadowDescriptor,
        tiles: &[ShadowTile],
        reversed: bool,
    ) -> Self {
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin cascades"),
            size: size_of::<ShadowUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let tiles = tiles.iter().take(descriptor.cascades as usize).copied().collect();
        Self { descriptor: descriptor.clone(), reversed, tiles, uniform }
    }

    /// Fits the cascades to a camera, uploads what shaders need, and returns the cascades' cameras.
    pub(crate) fn fit(&self, queue: &wgpu::Queue, camera: &Camera, to_sun: Vec3) -> Vec<Camera> {
        let (uniform, cameras) = fit(&self.descriptor, &self.tiles, self.reversed, camera, to_sun);
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        cameras
    }
}

/// Fits cascades to the part of a camera's frustum within the distance of the descriptor.
///
/// Each cascade is the bounding sphere of a slice of the frustum, so its size does not change when the
/// camera turns, and moves by whole texels, so that shadows of resting things do not flicker.
fn fit(
    descriptor: &ShadowDescriptor,
    tiles: &[ShadowTile],
    reversed: bool,
    camera: &Camera,
    to_sun: Vec3,
) -> (ShadowUniform, Vec<Camera>) {
    let eye = Vec3::from(camera.eye);
    let eye = if eye.is_finite() { eye.as_dvec3() } else { DVec3::ZERO };
    let away = -to_sun.as_dvec3();
    // A sun at the zenith has no right side of its own.
    let reference = if away.y.abs() > 0.999 { DVec3::Z } else { DVec3::Y };
    let right = away.cross(reference).normalize_or(DVec3::X);
    let up = right.cross(away);
    let side = f64::from(descriptor.size);
    let frustum = Frustum::of(camera, eye, reversed);
    let distance = f64::from(descriptor.distance).clamp(1e-2, 1e6);
    let casters = f64::from(descriptor.caster_distance).clamp(0.0, 1e6);
    let splits = splits(frustum.near, distance, descriptor.cascades);
    let mut uniform = ShadowUniform {
        right: right.as_vec3().into(),
        side: descriptor.size as f32,
        up: up.as_vec3().into(),
        count: descriptor.cascades,
        away: away.as_vec3().into(),
        origin: eye.as_vec3().into(),
        ..Zeroable::zeroed()
    };
    let mut cameras = Vec::with_capacity(splits.len() - 1);
    for (i, (range, tile)) in splits.windows(2).zip(tiles).enumerate() {
        let (center, radius) = frustum.sphere(range[0], range[1]);
        let half = radius * side / (side - 2.0 * MARGIN);
        let texel = 2.0 * half / side;
        let snapped = |axis: DVec3| (center.dot(axis) / texel).round() * texel;
        let (x, y, z) = (snapped(right), snapped(up), center.dot(away));
        let first = z - radius - casters;
        let depth = 2.0 * radius + casters;
        let (scale_z, offset_z) =
            if reversed { (-1.0 / depth, 1.0 + first / depth) } else { (1.0 / depth, -first / depth) };
        let rows = [(right, 1.0 / half, -x / half), (up, 1.0 / half, -y / half), (away, scale_z, offset_z)];
        let row = |k: usize| (rows[k].0 * rows[k].1).extend(rows[k].2);
        let view_proj = DMat4::from_cols(row(0), row(1), row(2), glam::DVec4::W).transpose().as_mat4();
        cameras.push(Camera {
            view_proj: view_proj.to_cols_array_2d(),
            eye: (right * x + up * y + away * first).as_vec3().into(),
            height: descriptor.size as f32,
        });
        let [column, row] = tile.first.map(|texel| texel as f32);
        let offset = [
            (eye.dot(right) - x) / texel + 0.5 * side,
            -(eye.dot(up) - y) / texel + 0.5 * side,
            eye.dot(away) * scale_z + offset_z,
        ];
        uniform.cascades[i] = CascadeUniform {
            scale: [1.0 / texel, -1.0 / texel, scale_z].map(|c| c as f32),
            texel: texel as f32,
            offset: offset.map(|c| c as f32),
            column,
            row,
            padding: [0.0; 3],
        };
    }
    (uniform, cameras)
}

/// Returns the depths at which cascades begin and end, metres along the line of sight.
fn splits(near: f64, far: f64, cascades: u32) -> Vec<f64> {
    // Logarithmic splits of a near plane at a few centimetres waste a cascade on the first metre.
    let first = near.clamp(0.01 * far, far);
    let split = |i: u32| {
        let t = f64::from(i) / f64::from(cascades);
        let (logarithmic, uniform) = (first * (far / first).powf(t), near + (far - near) * t);
        LOGARITHMIC * logarithmic + (1.0 - LOGARITHMIC) * uniform
    };
    (0..=cascades).map(|i| if i == 0 { near.min(far) } else { split(i) }).collect()
}

/// Frustum of a camera by its corner rays.
struct Frustum {
    /// Distance of the near plane from the eye along the line of sight, metres.
    near: f64,
    /// Point on the near plane, and step along the ray per metre of depth, for each corner.
    corners: [(DVec3, DVec3); 4],
}

impl Frustum {
    /// A camera whose matrix cannot be inverted gets a cone of 90 degrees around no direction: a point.
    fn of(camera: &Camera, eye: DVec3, reversed: bool) -> Self {
        let inverse = DMat4::from_cols_array_2d(&camera.view_proj.map(|column| column.map(f64::from))).inverse();
        // Depths of the near plane, and of a point behind it that is finite even if the far plane is not.
        let [front, behind] = if reversed { [1.0, 0.5] } else { [0.0, 0.5] };
        let at = |x, y, z| inverse.project_point3(DVec3::new(x, y, z));
        let forward = (at(0.0, 0.0, behind) - at(0.0, 0.0, front)).normalize_or_zero();
        let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, y]| {
            let (point, ray) = (at(x, y, front), at(x, y, behind) - at(x, y, front));
            (point, ray / ray.dot(forward))
        });
        let near = (at(0.0, 0.0, front) - eye).dot(forward).max(0.0);
        if near.is_finite() && corners.iter().all(|(point, ray)| point.is_finite() && ray.is_finite()) {
            Self { near, corners }
        } else {
            Self { near: 0.0, corners: [(eye, DVec3::ZERO); 4] }
        }
    }

    /// Bounding sphere of the slice between two depths: centre and radius, metres.
    fn sphere(&self, from: f64, to: f64) -> (DVec3, f64) {
        let slice = || self.corners.iter().flat_map(|(p, ray)| [from, to].map(|depth| *p + *ray * (depth - self.near)));
        let center = slice().sum::<DVec3>() / 8.0;
        let radius = slice().map(|p| p.distance(center)).fold(0.0, f64::max);
        // In steps, so that rounding does not change the size of a texel from frame to frame.
        let step = (0.01 * radius).max(1e-3).log2().ceil().exp2();
        (center, (radius / step).ceil().max(1.0) * step)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shading::{LightingFeatures, ShadowLayout};
    use super::*;

    fn descriptor() -> ShadowDescriptor {
        ShadowDescriptor { cascades: 4, size: 512, distance: 80.0, caster_distance: 50.0 }
    }

    fn fit(descriptor: &ShadowDescriptor, reversed: bool, camera: &Camera, sun: Vec3) -> (ShadowUniform, Vec<Camera>) {
        let features = LightingFeatures { shadows: Some(descriptor.clone()), ..Default::default() };
        super::fit(descriptor, &ShadowLayout::new(&features).unwrap().tiles, reversed, camera, sun)
    }

    #[test]
    fn points_in_the_frustum_are_in_a_cascade_and_match_its_camera() {
        for (eye, target, sun) in [
            ([0.0, 2.0, 0.0], [0.0, 1.0, -9.0], Vec3::new(0.3, 0.8, 0.2)),
            ([9000.0, 20.0, -7000.0], [9100.0, 0.0, -7000.0], Vec3::Y),
            ([1.0, 50.0, 1.0], [1.0, 0.0, 1.1], Vec3::new(-1.0, 0.05, 0.0)),
        ] {
            for reversed in [false, true] {
                let camera = Camera::perspective_look_at(eye, target, 0.9, 1.6, 0.1, 500.0);
                let (uniform, cameras) = fit(&descriptor(), reversed, &camera, sun.normalize());
                let reversed_camera = {
                    // Depth 1 - z.
                    let flip = glam::Mat4::from_cols_array_2d(&[
                        [1.0, 0.0, 0.0, 0.0],
                        [0.0, 1.0, 0.0, 0.0],
                        [0.0, 0.0, -1.0, 0.0],
                        [0.0, 0.0, 1.0, 1.0],
                    ]);
                    let view_proj = (flip * glam::Mat4::from_cols_array_2d(&camera.view_proj)).to_cols_array_2d();
                    fit(&descriptor(), true, &Camera { view_proj, ..camera }, sun.normalize()).0
                };
                if reversed {
                    assert!((reversed_camera.cascades[2].texel / uniform.cascades[2].texel - 1.0).abs() < 5.0);
                    continue;
                }
                assert!((reversed_camera.cascades[3].texel - uniform.cascades[3].texel).abs() < 1e-3);
                let inverse = glam::Mat4::from_cols_array_2d(&camera.view_proj).as_dmat4().inverse();
                for depth in [0.2_f32, 1.0, 5.0, 20.0, 60.0, 79.0] {
                    let z = f64::from(500.0 / 499.9 * (1.0 - 0.1 / depth));
                    let world = inverse.project_point3(DVec3::new(0.9, -0.9, z));
                    let relative = world - Vec3::from(uniform.origin).as_dvec3();
                    let light =
                        [uniform.right, uniform.up, uniform.away].map(|a| Vec3::from(a).as_dvec3().dot(relative));
                    let found = (0..4).find(|&i| {
                        let c = &uniform.cascades[i];
                        let p: [f64; 3] =
                            core::array::from_fn(|k| light[k] * f64::from(c.scale[k]) + f64::from(c.offset[k]));
                        let inside = p[..2].iter().all(|t| (3.0..509.0).contains(t)) && (0.0..=1.0).contains(&p[2]);
                        if inside {
                            let clip = glam::Mat4::from_cols_array_2d(&cameras[i].view_proj).as_dmat4();
                            let clip = clip.project_point3(world);
                            let texel = [(0.5 + 0.5 * clip.x) * 512.0, (0.5 - 0.5 * clip.y) * 512.0];
                            // f32 matrices 10 km from the origin are off by a fraction of a metre.
                            let tolerance = 0.01 + 2e-3 / f64::from(c.texel) * f64::from(relative.length() < 1e9);
                            assert!((texel[0] - p[0]).abs() < tolerance.max(0.5), "{texel:?} {p:?}");
                            assert!((texel[1] - p[1]).abs() < tolerance.max(0.5), "{texel:?} {p:?}");
                            assert!((clip.z - p[2]).abs() < 1e-3);
                        }
                        inside
                    });
                    assert!(found.is_some(), "{eye:?} at {depth} m");
                }
            }
        }
    }

    #[test]
    fn texels_keep_their_size_and_place_while_the_camera_turns_and_moves() {
        let sun = Vec3::new(0.4, 0.7, -0.2).normalize();
        let of = |eye: [f32; 3], target: [f32; 3]| {
            let camera = Camera::perspective_look_at(eye, target, 0.9, 1.6, 0.1, 500.0);
            fit(&descriptor(), false, &camera, sun).0
        };
        let first = of([0.0, 2.0, 0.0], [0.0, 2.0, -1.0]);
        for (eye, target) in [([0.0, 2.0, 0.0], [0.7, 1.9, -0.7]), ([0.37, 2.2, 1.1], [5.0, 0.0, 9.0])] {
            let moved = of(eye, target);
            for (a, b) in first.cascades.iter().zip(&moved.cascades) {
                assert_eq!(a.texel, b.texel);
                // A world point has the same fraction of a texel.
                let fraction = |u: &ShadowUniform, c: &CascadeUniform, k: usize| {
                    let axis = [u.right, u.up][k];
                    let light = Vec3::from(axis).dot(Vec3::new(0.3, 0.4, -3.0) - Vec3::from(u.origin));
                    f64::from(light * c.scale[k] + c.offset[k])
                };
                for k in 0..2 {
                    let difference = fraction(&first, a, k) - fraction(&moved, b, k);
                    assert!((difference - difference.round()).abs() < 0.02, "{difference}");
                }
            }
        }
    }

    #[test]
    fn unusable_cameras_and_numbers_give_finite_cascades() {
        let nan = Camera { view_proj: [[f32::NAN; 4]; 4], eye: [f32::NAN; 3], height: 1.0 };
        let flat = Camera { view_proj: [[0.0; 4]; 4], eye: [0.0; 3], height: 1.0 };
        let usual = Camera::perspective_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 0.1, 1e30);
        let numbers = [0.0, -1.0, 1e30, f32::INFINITY];
        for camera in [nan, flat, usual] {
            for distance in numbers {
                for cascades in 1..=4 {
                    let descriptor = ShadowDescriptor { cascades, size: 16, distance, caster_distance: distance };
                    let (uniform, cameras) = fit(&descriptor, false, &camera, Vec3::Y);
                    assert_eq!(cameras.len(), cascades as usize);
                    let all = bytemuck::cast_slice::<_, f32>(core::slice::from_ref(&uniform.cascades));
                    assert!(all.iter().all(|c| c.is_finite()), "{camera:?} {descriptor:?} {uniform:?}");
                }
            }
        }
    }
}
