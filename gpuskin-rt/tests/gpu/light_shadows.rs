//! Shadows of point and spot lights against rays that are cast in `f64`, and against pictures without shadows.

use glam::{DMat4, DVec3, Mat4, Vec2, Vec3};
use gpuskin_rt::internals::*;

use crate::common::lit::*;
use crate::common::model::plain;
use crate::common::{BACKENDS, Gpu, gpu, noop};

/// Texels along a side of a tile.
const TILE: u32 = 512;
/// Pixels along a side of a picture.
const PICTURE: u32 = 129;

/// Rectangle with two visible sides, world space, metres.
#[derive(Clone, Copy)]
struct Quad {
    center: DVec3,
    /// Half edges, perpendicular to each other.
    right: DVec3,
    up: DVec3,
}

impl Quad {
    fn new(center: [f64; 3], right: [f64; 3], up: [f64; 3]) -> Self {
        Self { center: center.into(), right: right.into(), up: up.into() }
    }

    /// A square that faces a direction.
    fn facing(center: DVec3, direction: DVec3, half: f64) -> Self {
        let (right, up) = direction.normalize().any_orthonormal_pair();
        Self { center, right: right * half, up: up * half }
    }

    /// Distance along a ray, in lengths of `direction`; `None` if the ray misses.
    fn hit(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        let normal = self.right.cross(self.up);
        let t = (self.center - origin).dot(normal) / direction.dot(normal);
        let at = origin + direction * t - self.center;
        let inside = |edge: DVec3| at.dot(edge).abs() <= edge.length_squared();
        (t > 0.0 && inside(self.right) && inside(self.up)).then_some(t)
    }
}

fn shown(quads: &[Quad]) -> Model {
    let vertices = quads.iter().flat_map(|quad| {
        let normal = quad.right.cross(quad.up).normalize().as_vec3();
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| {
            let position = (quad.center + quad.right * x + quad.up * y).as_vec3();
            vertex(position, normal, Vec2::ZERO)
        })
    });
    let indices = (0..quads.len() as u32).flat_map(|quad| [0, 1, 2, 0, 2, 3].map(|i| quad * 4 + i));
    let name = format!("quads {:?}", quads[0].center).into();
    let material = Material { double_sided: true, roughness: 1.0, metallic: 0.0, name, ..plain([0.8; 4]) };
    model(recipe(vertices.collect(), indices.collect(), false, material))
}

fn features(tiles: u32, size: u32) -> LightingFeatures {
    let light_shadows = Some(LightShadowDescriptor { tiles, size });
    LightingFeatures { lights: 8, light_shadows, ..Default::default() }
}

fn night() -> Lighting {
    Lighting { ambient: Ambient::NONE, ..sun([0.0, 1.0, 0.0], 0.0) }
}

fn spot(position: [f32; 3], direction: [f32; 3], outer: f32) -> PunctualLight {
    let cone = Some(LightCone { direction, inner: 0.9 * outer, outer });
    PunctualLight { position, intensity: 30.0, cone, shadow: true, ..Default::default() }
}

fn point(position: [f32; 3]) -> PunctualLight {
    PunctualLight { position, intensity: 30.0, shadow: true, ..Default::default() }
}

fn without_shadow(light: &PunctualLight) -> PunctualLight {
    PunctualLight { shadow: false, ..*light }
}

/// Draws models that stand at a place. `reversed`: depth is 1 at the camera.
fn draw_at(
    gpu: &Gpu,
    (features, reversed): (LightingFeatures, bool),
    (models, place): (&[&Model], [f32; 3]),
    camera: Camera,
    lights: &[PunctualLight],
) -> Picture {
    let flip = Mat4::from_cols_array_2d(&[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0],
    ]);
    let view_proj = (flip * Mat4::from_cols_array_2d(&camera.view_proj)).to_cols_array_2d();
    let drawn_with = if reversed { Camera { view_proj, ..camera } } else { camera };
    let scene = Scene { features, lighting: night(), models: &[], camera: drawn_with, side: PICTURE };
    let depth_compare = if reversed { wgpu::CompareFunction::Greater } else { wgpu::CompareFunction::Less };
    let mut renderer = scene.renderer_with(gpu, depth_compare);
    let crowds: Vec<_> = models
        .iter()
        .map(|model| Crowd::<Dynamic>::with_model(&mut renderer, model, Default::default()).unwrap())
        .collect();
    crowds.iter().for_each(|crowd| _ = crowd.spawn(Instance::at(place)));
    renderer.set_lights(lights).unwrap();
    scene.draw_over(gpu, &mut renderer, if reversed { 0.0 } else { 1.0 })
}

fn draw(gpu: &Gpu, features: LightingFeatures, models: &[&Model], camera: Camera, lights: &[PunctualLight]) -> Picture {
    draw_at(gpu, (features, false), (models, [0.0; 3]), camera, lights)
}

/// Numbers of pixels.
#[derive(Debug, Default)]
struct Counts {
    lit: usize,
    shadowed: usize,
    /// At the border of a shadow.
    between: usize,
}

/// Compares a picture with rays: lit points look as without shadows, and points whose surroundings are in shadow are dark.
/// `texel`: side of a texel of the light's view at a distance of one metre, metres.
fn compare(shadowed: &Picture, lit: &Picture, quads: &[Quad], camera: &Camera, light: DVec3, texel: f64) -> Counts {
    let inverse = DMat4::from_cols_array_2d(&camera.view_proj.map(|column| column.map(f64::from))).inverse();
    let eye = Vec3::from(camera.eye).as_dvec3();
    let nearest = |origin: DVec3, direction: DVec3| {
        let hits = quads.iter().enumerate().filter_map(|(i, quad)| Some((quad.hit(origin, direction)?, i)));
        hits.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    // Not at the surface itself, nor beyond the light.
    let blocked = |p: DVec3| quads.iter().any(|quad| quad.hit(p, light - p).is_some_and(|t| t > 1e-6 && t < 1.0));
    let mut counts = Counts::default();
    for (i, (is, of)) in shadowed.pixels.iter().zip(&lit.pixels).enumerate() {
        let through = |dx: f64, dy: f64| {
            let [x, y] = [i as u32 % PICTURE, i as u32 / PICTURE].map(|c| f64::from(c) + 0.5);
            let [x, y] = [x + dx, y + dy].map(|c| c * 2.0 / f64::from(PICTURE) - 1.0);
            inverse.project_point3(DVec3::new(x, -y, 0.5)) - eye
        };
        let Some((t, number)) = nearest(eye, through(0.0, 0.0)) else { continue };
        // Beside the edge of a quad, rounding decides what the pixel shows.
        let beside = [(0.01, 0.01), (-0.01, 0.01), (0.01, -0.01), (-0.01, -0.01)];
        if beside.iter().any(|(dx, dy)| nearest(eye, through(*dx, *dy)).map(|hit| hit.1) != Some(number)) {
            continue;
        }
        let (p, quad) = (eye + through(0.0, 0.0) * t, &quads[number]);
        let normal = quad.right.cross(quad.up).normalize();
        let to_light = light - p;
        let slope = normal.dot(to_light.normalize()).abs();
        // Nearly no light.
        if of[0] < 1e-3 || slope < 0.03 {
            continue;
        }
        // The corner of a filter of three texels, and up to four and a half along the normal, seen on the surface.
        let reach = 9.0 * texel * to_light.length() / slope;
        let (right, up) = normal.any_orthonormal_pair();
        let around =
            (0..16).map(|i| f64::from(i) * core::f64::consts::TAU / 16.0).map(|a| right * a.cos() + up * a.sin());
        let near: Vec<_> = around.flat_map(|d| [0.4, 1.0].map(|r| blocked(p + d * (r * reach)))).collect();
        let ratio = is[0] / of[0];
        match (blocked(p), near.iter().any(|b| *b), near.iter().all(|b| *b)) {
            (false, false, _) => {
                counts.lit += 1;
                assert!(ratio > 0.98, "{ratio} at {p}, which is lit");
            }
            (true, _, true) => {
                counts.shadowed += 1;
                assert!(ratio < 0.02, "{ratio} at {p}, which is in shadow");
            }
            _ => counts.between += 1,
        }
    }
    counts
}

/// A floor, and blockers above it.
fn floor_and_roofs() -> Vec<Quad> {
    vec![
        Quad::new([0.0; 3], [8.0, 0.0, 0.0], [0.0, 0.0, -8.0]),
        Quad::new([0.2, 2.0, 0.1], [0.7, 0.0, 0.0], [0.0, 0.0, -0.5]),
        Quad::facing(DVec3::new(-1.2, 1.0, -0.6), DVec3::new(-0.3, 1.0, 0.5), 0.35),
    ]
}

pub fn spot_lights_cast_the_shadows_of_cast_rays() {
    let quads = floor_and_roofs();
    let model = shown(&quads);
    let camera = Camera::perspective_look_at([0.0, 7.0, 9.0], [0.0; 3], 0.8, 1.0, 0.1, 100.0);
    let sun = ShadowDescriptor { cascades: 3, size: TILE, distance: 30.0, caster_distance: 30.0 };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (position, direction, outer) in [
            ([0.5, 5.0, 0.0], [0.0, -1.0, 0.0], 0.6),
            ([-3.0, 4.0, 2.0], [0.7, -1.0, -0.4], 0.5),
            ([0.0, 4.0, 0.0], [0.2, -1.0, 0.0], 1.25),
            ([2.0, 4.0, 1.0], [-1.0, -0.7, -0.2], 1.4),
        ] {
            for (reversed, range) in [(false, None), (true, Some(30.0))] {
                let light = PunctualLight { range, ..spot(position, direction, outer) };
                let own = PunctualLight { shadow: false, position: [0.0, -3.0, 0.0], ..light };
                let of =
                    |features, lights: &[_]| draw_at(&gpu, (features, reversed), (&[&model], [0.0; 3]), camera, lights);
                // With and without cascades in the same map, and behind a light without a shadow.
                let shadows = reversed.then(|| sun.clone());
                let shadowed = of(LightingFeatures { shadows, ..features(6, TILE) }, &[own, light]);
                let lit = of(features(6, TILE), &[own, without_shadow(&light)]);
                let tangent = if outer > 1.3 { 1.0 } else { f64::from(outer.tan()) };
                let texel = 2.0 * tangent / f64::from(TILE - 16);
                let light = Vec3::from(position).as_dvec3();
                let counts = compare(&shadowed, &lit, &quads, &camera, light, texel);
                let enough = counts.lit > 1000 && counts.shadowed > 40 && counts.between < counts.lit / 4;
                assert!(enough, "{counts:?} for {position:?}, reversed {reversed}, on {}", gpu.name);
            }
        }
    }
}

/// A closed room around the origin, and blockers in front of faces, edges and corners of a cube.
fn room() -> Vec<Quad> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let mut quads = Vec::new();
    for i in 0..3 {
        let (normal, right, up) = (axes[i], axes[(i + 1) % 3], axes[(i + 2) % 3]);
        quads.extend([-4.0, 4.0].map(|side| Quad { center: normal * side, right: right * 4.0, up: up * 4.0 }));
    }
    let directions = (0..27).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)) - 1.0);
    let blockers = directions.filter(|d| *d != DVec3::ZERO);
    quads.extend(blockers.map(|d| Quad::facing(LAMP + d.normalize() * 1.5, d, 0.2)));
    quads
}

/// Place of a light in the room.
const LAMP: DVec3 = DVec3::new(0.3, -0.2, 0.15);

pub fn point_lights_cast_the_shadows_of_cast_rays_in_all_directions() {
    let quads = room();
    let model = shown(&quads);
    let texel = 2.0 / f64::from(TILE - 16);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut total = Counts::default();
        for (axis, up) in [(Vec3::X, 0.3), (Vec3::Y, 0.0), (Vec3::Z, -0.2)].into_iter().flat_map(|a| [a, (-a.0, a.1)]) {
            // Not from the light itself, where blockers would hide their shadows.
            let eye = -axis * 3.5 + Vec3::new(0.1, 0.2 + up, -0.1);
            let target = eye + axis;
            let camera = Camera::perspective_look_at(eye.to_array(), target.to_array(), 1.6, 1.0, 0.1, 100.0);
            for reversed in [false, true] {
                let light = point(LAMP.as_vec3().to_array());
                let of = |light| draw_at(&gpu, (features(6, TILE), reversed), (&[&model], [0.0; 3]), camera, &[light]);
                let (shadowed, lit) = (of(light), of(without_shadow(&light)));
                let counts = compare(&shadowed, &lit, &quads, &camera, LAMP, texel);
                total.lit += counts.lit;
                total.shadowed += counts.shadowed;
                total.between += counts.between;
            }
        }
        let enough = total.lit > 80_000 && total.shadowed > 4000 && total.between < total.lit / 3;
        assert!(enough, "{total:?} on {}", gpu.name);
    }
}

/// Largest share of light that shadows take from pixels of a picture that are not dark.
fn most_darkened(shadowed: &Picture, lit: &Picture, least: f32) -> f32 {
    let pixels = shadowed.pixels.iter().zip(&lit.pixels).filter(|(_, lit)| lit[0] > least);
    pixels.map(|(is, of)| 1.0 - is[0] / of[0]).fold(0.0, f32::max)
}

pub fn surfaces_do_not_shadow_themselves_in_point_and_spot_lights() {
    let plane = shown(&[Quad::new([0.0; 3], [8.0, 0.0, 0.0], [0.0, 0.0, -8.0])]);
    let ball = model(sphere(material([0.8; 3], 0.0, 1.0)));
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (place, reversed) in [([0.0; 3], false), ([0.0; 3], true), ([3000.0, 20.0, -2000.0], false)] {
            let at = |offset: [f32; 3]| (Vec3::from(place) + Vec3::from(offset)).to_array();
            let look = |eye, target| Camera::perspective_look_at(at(eye), at(target), 0.7, 1.0, 0.1, 100.0);
            for size in [64, 300, 640] {
                // Light that grazes a plane, and cameras from above and near the plane.
                for (height, direction) in [(0.2, [1.0, -0.1, 0.2]), (2.0, [1.0, -0.4, -0.3])] {
                    for camera in [look([1.0, 9.0, 9.0], [0.0; 3]), look([-6.0, 0.8, 5.0], [0.0; 3])] {
                        for light in [point(at([-1.0, height, 0.5])), spot(at([-6.0, height, 0.5]), direction, 0.7)] {
                            let bright = PunctualLight { intensity: 500.0, ..light };
                            let of = |light| {
                                draw_at(&gpu, (features(6, size), reversed), (&[&plane], place), camera, &[light])
                            };
                            let darkened = most_darkened(&of(bright), &of(without_shadow(&bright)), 0.05);
                            let what = (place, size, height, light.cone, reversed, &gpu.name);
                            assert!(darkened < 0.02, "plane: {darkened} in {what:?}");
                        }
                    }
                }
                let camera = look([0.0, 0.0, 4.0], [0.0; 3]);
                let lamps = [[1.5, 1.2, 1.0], [3.0, 0.3, 0.6], [0.2, 0.1, 1.4]].map(|p| point(at(p)));
                let beams = [
                    spot(at([4.0, 3.0, 3.0]), [-1.0, -0.7, -0.8], 0.4),
                    spot(at([5.0, 0.0, 1.0]), [-1.0, 0.0, -0.2], 0.3),
                ];
                for light in lamps.into_iter().chain(beams) {
                    let squared = (Vec3::from(light.position) - Vec3::from(place)).length_squared();
                    let bright = PunctualLight { intensity: 3.0 * squared, ..light };
                    let of = |light| draw_at(&gpu, (features(6, size), reversed), (&[&ball], place), camera, &[light]);
                    let darkened = most_darkened(&of(bright), &of(without_shadow(&bright)), 0.12);
                    let what = (place, size, light.position, reversed, &gpu.name);
                    assert!(darkened < 0.02, "sphere: {darkened} in {what:?}");
                }
            }
        }
    }
}

/// Light at the middle of the shadow of the first roof, with and without shadows of a spot light above it.
fn in_shadow(gpu: &Gpu, features: LightingFeatures, floor: Material, lights: &[PunctualLight]) -> f64 {
    let quads = floor_and_roofs();
    let mut recipe = square(Material { double_sided: true, name: "floor".into(), ..floor });
    for vertex in &mut recipe.vertices {
        let Vec3 { x, y, .. } = vertex.position;
        (vertex.position, vertex.normal) = (Vec3::new(x * 8.0, 0.0, -y * 8.0), Vec3::Y);
    }
    let models = [model(recipe), shown(&quads[1..2])];
    // Under the roof.
    let camera = Camera::perspective_look_at([0.2, 1.0, 3.0], [0.2, 0.0, 0.1], 0.1, 1.0, 0.1, 100.0);
    draw(gpu, features, &[&models[0], &models[1]], camera, lights).center().x
}

pub fn light_functions_and_clear_coats_get_shadowed_light() {
    let light = spot([0.2, 5.0, 0.1], [0.0, -1.0, 0.0], 0.6);
    let own = "fn light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32> { return color; }";
    let coat = Material { clearcoat: 1.0, clearcoat_roughness: 1.0, ..material([0.0; 3], 0.0, 1.0) };
    let no_specular = Material { specular: 0.0, ..coat };
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let of = |light: PunctualLight, code: Option<&'static str>, floor: &Material| {
            let features = LightingFeatures { light: code.map(Into::into), ..features(1, TILE) };
            in_shadow(&gpu, features, floor.clone(), &[light])
        };
        let matt = material([0.8; 3], 0.0, 1.0);
        for (what, code, floor) in [("own", Some(own), &matt), ("coat", None, &no_specular), ("plain", None, &matt)] {
            let [lit, shadowed] = [without_shadow(&light), light].map(|light| of(light, code, floor));
            assert!(lit > 0.005 && shadowed < 0.01 * lit, "{what}: {lit} {shadowed} on {}", gpu.name);
        }
    }
}

pub fn lights_beyond_the_tiles_have_no_shadow() {
    let lamp = spot([0.2, 5.0, 0.1], [0.0, -1.0, 0.0], 0.6);
    // Twice as bright, to tell which one has a shadow.
    let bulb = PunctualLight { intensity: 2.0 * lamp.intensity, ..point([0.2, 5.0, 0.1]) };
    let matt = material([0.8; 3], 0.0, 1.0);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let of = |tiles, lights: &[_]| in_shadow(&gpu, features(tiles, 64), matt.clone(), lights);
        let lit = of(1, &[without_shadow(&lamp)]);
        for (tiles, lights, lit_by) in [
            (1, vec![lamp], 0.0),
            (1, vec![lamp, lamp], 1.0),
            (2, vec![lamp, lamp], 0.0),
            (2, vec![without_shadow(&lamp), lamp, lamp], 1.0),
            (5, vec![bulb], 2.0),
            (6, vec![bulb], 0.0),
            (6, vec![lamp, bulb], 2.0),
            (7, vec![lamp, bulb], 0.0),
            (7, vec![lamp, bulb, lamp], 1.0),
            (30, vec![bulb; 5], 0.0),
            (30, vec![bulb, bulb, bulb, bulb, bulb, lamp], 1.0),
        ] {
            let is = of(tiles, &lights) / lit;
            assert!((is - lit_by).abs() < 0.01, "{is} of {lit_by} with {tiles} tiles, {lights:?}, on {}", gpu.name);
        }
    }
}

pub fn lights_change_from_frame_to_frame() {
    let model = shown(&floor_and_roofs());
    let camera = Camera::perspective_look_at([0.0, 7.0, 9.0], [0.0; 3], 0.8, 1.0, 0.1, 100.0);
    let lamp = |x: f32| spot([x, 5.0, 0.1], [0.0, -1.0, 0.0], 0.6);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let scene = Scene { features: features(7, TILE), lighting: night(), models: &[], camera, side: PICTURE };
        let mut renderer = scene.renderer(&gpu);
        let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &model, Default::default()).unwrap();
        crowd.spawn(Instance::at([0.0; 3]));
        let first = scene.draw_with(&gpu, &mut renderer).pixels;
        assert!(first.iter().all(|p| p[0] == 0.0), "no lights are set on {}", gpu.name);
        for lights in [vec![lamp(0.0), lamp(1.0)], vec![point([0.0, 4.0, 0.0]), lamp(-1.0)], vec![], vec![lamp(0.5)]] {
            renderer.set_lights(&lights).unwrap();
            let changed = scene.draw_with(&gpu, &mut renderer);
            // Without a new list, all stays as it is.
            let again = scene.draw_with(&gpu, &mut renderer);
            let anew = draw(&gpu, features(7, TILE), &[&model], camera, &lights);
            assert!(changed.pixels == anew.pixels && again.pixels == anew.pixels, "{lights:?} on {}", gpu.name);
        }
    }
}

pub fn tiles_of_lights_leave_the_sun_as_it_is() {
    let model = shown(&floor_and_roofs());
    let camera = Camera::perspective_look_at([0.0, 7.0, 9.0], [0.0; 3], 0.8, 1.0, 0.1, 100.0);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for cascades in 1..=4 {
            // All tiles are drawn, for lights that are too weak to be seen.
            let weak = PunctualLight { intensity: 1e-6, ..spot([0.0, 5.0, 0.1], [0.0, -1.0, 0.0], 0.6) };
            let of = |light_shadows| {
                let sunny = ShadowDescriptor { cascades, size: 256, distance: 30.0, caster_distance: 30.0 };
                let features =
                    LightingFeatures { shadows: Some(sunny), lights: 10, light_shadows, ..Default::default() };
                let scene = Scene { features, lighting: sun([0.4, 1.0, 0.3], 3.0), models: &[], camera, side: PICTURE };
                let mut renderer = scene.renderer(&gpu);
                let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &model, Default::default()).unwrap();
                crowd.spawn(Instance::at([0.0; 3]));
                renderer.set_lights(&[weak; 10]).unwrap();
                scene.draw_with(&gpu, &mut renderer)
            };
            let with_tiles = of(Some(LightShadowDescriptor { tiles: 10, size: 128 }));
            let plain = of(None);
            let differ =
                with_tiles.pixels.iter().zip(&plain.pixels).filter(|(a, b)| (a[0] - b[0]).abs() > 0.01).count();
            assert!(differ == 0, "{differ} pixels with {cascades} cascades on {}", gpu.name);
        }
    }
}

pub fn invalid_shadowed_lights_give_finite_pictures() {
    let model = shown(&floor_and_roofs());
    let camera = Camera::perspective_look_at([0.0, 7.0, 9.0], [0.0; 3], 0.8, 1.0, 0.1, 100.0);
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0, 0.0];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (number, reversed) in numbers.into_iter().flat_map(|number| [(number, false), (number, true)]) {
            let usual = spot([0.0, 4.0, 0.0], [0.0, -1.0, 0.0], 0.5);
            let cone = |direction, outer| Some(LightCone { direction, inner: number, outer });
            let lights = [
                PunctualLight { position: [number; 3], ..usual },
                PunctualLight { range: Some(number), ..usual },
                PunctualLight { cone: None, range: Some(number), ..usual },
                PunctualLight { cone: cone([number; 3], 0.4), ..usual },
                PunctualLight { cone: cone([0.0, -1.0, 0.0], number), ..usual },
            ];
            let picture = draw_at(&gpu, (features(14, 64), reversed), (&[&model], [0.0; 3]), camera, &lights);
            let finite = picture.pixels.iter().flatten().all(|c| c.is_finite() && *c >= 0.0);
            assert!(finite, "{number} on {}", gpu.name);
        }
    }
}

pub fn unusable_light_shadow_descriptors_are_refused() {
    let gpu = noop(wgpu::Limits::downlevel_webgl2_defaults());
    let sun = |cascades| Some(ShadowDescriptor { cascades, size: 512, ..Default::default() });
    let usual = features(6, 512);
    let sized = |tiles, size| features(tiles, size).light_shadows;
    for (features, reason) in [
        (LightingFeatures { lights: 0, ..usual.clone() }, "no lights"),
        (LightingFeatures { light_shadows: sized(0, 512), ..usual.clone() }, "0 tiles; choose 1 to 30"),
        (LightingFeatures { light_shadows: sized(31, 64), ..usual.clone() }, "31 tiles; choose 1 to 30"),
        (
            LightingFeatures { shadows: sun(4), light_shadows: sized(27, 64), ..usual.clone() },
            "27 tiles; choose 1 to 26",
        ),
        (LightingFeatures { light_shadows: sized(6, 63), ..usual.clone() }, "63 texels"),
        (LightingFeatures { light_shadows: sized(6, 1024), ..usual.clone() }, "3072 x 2048"),
        (LightingFeatures { light_shadows: sized(6, u32::MAX), ..usual.clone() }, "light_shadows.size"),
        (LightingFeatures { shadows: sun(4), light_shadows: sized(9, 1024), ..usual.clone() }, "holds 2048 x 2048"),
    ] {
        let descriptor = RendererDescriptor { shading: Shading::MetallicRoughness(features), ..Default::default() };
        let error = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let of = |features, depth_compare| {
        let shading = Shading::MetallicRoughness(features);
        CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { shading, depth_compare, ..Default::default() })
    };
    let error = of(usual.clone(), wgpu::CompareFunction::Always).unwrap_err().to_string();
    assert!(error.contains("depth_compare"), "{error}");
    of(usual, wgpu::CompareFunction::Less).unwrap();
}

/// A game's shader gets with one call what the material's loops over sun and lights add up, with shadows and ambient light.
pub fn irradiance_for_games_is_the_light_of_the_material() {
    // Without occlusion, no ambient light is reflected.
    let surface = |emitted: &str| {
        format!(
            "fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {{
                var shown = point;
                shown.occlusion = 0.0;
                shown.emitted = {emitted};
                return shown;
            }}"
        )
    };
    let light = |reflected: &str| {
        format!(
            "fn light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32> {{
                return {reflected};
            }}"
        )
    };
    let reflected = [surface("vec3<f32>(0.0)"), light("color * max(dot(point.normal, to_light), 0.0)")];
    let emitted =
        [surface("gpuskin_irradiance(point.position, point.face_normal, point.normal)"), light("vec3<f32>(0.0)")];
    let floor = Quad::new([0.0; 3], [4.0, 0.0, 0.0], [0.0, 0.0, -4.0]);
    let roofs = [-1.0, 1.0].map(|x| Quad::new([x, 1.0, 0.0], [0.4, 0.0, 0.0], [0.0, 0.0, -0.4]));
    let shown = shown(&[floor, roofs[0], roofs[1]]);
    let camera = Camera::perspective_look_at([0.0, 5.0, 6.0], [0.0; 3], 0.9, 1.0, 0.1, 100.0);
    let ambient = [0.05, 0.1, 0.15];
    let sunlight = Lighting { ambient: Ambient::uniform(ambient), ..sun([0.4, 1.0, 0.3], 2.0) };
    let mut lights = vec![spot([-2.0, 3.0, 0.5], [0.4, -1.0, -0.2], 0.6)];
    lights.extend((0..3).map(|x| PunctualLight {
        range: Some(3.0),
        intensity: 4.0,
        ..without_shadow(&point([x as f32 - 1.0, 1.5, 1.5]))
    }));
    let sun_shadows = Some(ShadowDescriptor { cascades: 2, size: 512, distance: 20.0, caster_distance: 20.0 });
    let light_shadows = Some(LightShadowDescriptor { tiles: 1, size: TILE });
    let cases = [(0, None, None), (0, sun_shadows.clone(), None), (4, None, None), (8, sun_shadows, light_shadows)];
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (most, shadows, light_shadows) in &cases {
            let most = *most;
            let draw = |[surface, light]: &[String; 2]| {
                let features = LightingFeatures {
                    lights: most,
                    shadows: shadows.clone(),
                    light_shadows: light_shadows.clone(),
                    surface: Some(surface.clone().into()),
                    light: Some(light.clone().into()),
                    ..Default::default()
                };
                let scene = Scene { features, lighting: sunlight, models: &[], camera, side: PICTURE };
                let mut renderer = scene.renderer(&gpu);
                let crowd = Crowd::<Dynamic>::with_model(&mut renderer, &shown, Default::default()).unwrap();
                crowd.spawn(Instance::at([0.0; 3]));
                renderer.set_lights(&lights[..lights.len().min(most as usize)]).unwrap();
                scene.draw_with(&gpu, &mut renderer)
            };
            let (reflected, emitted) = (draw(&reflected), draw(&emitted));
            let mut brightness = Vec::new();
            for ((x, y, seen), (_, _, expected)) in emitted.covered().zip(reflected.covered()) {
                let expected = expected + DVec3::from(ambient.map(f64::from));
                assert_close(seen, expected, 0.01, &(x, y, most, &gpu.name));
                brightness.push(expected.x);
            }
            // Lights and shadows are visible.
            brightness.sort_by(f64::total_cmp);
            let ratio = brightness[brightness.len() * 99 / 100] / brightness[brightness.len() / 100];
            assert!(ratio > 2.0 || most == 0 && shadows.is_none(), "{ratio} with {most} lights, {}", gpu.name);
        }
    }
}
