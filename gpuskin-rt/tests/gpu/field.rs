//! Fields: instances on the GPU compared with the CPU reference, in every kind of encoding, also
//! after a week.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips};
use crate::common::own::{Own, OwnDescriptor};
use crate::common::squares::{RED, map, renderer, shows, square_recipe, squares};
use crate::common::{BACKENDS, Canvas, Gpu, compute, gpu};
use glam::Vec3;
use gpuskin_rt::internals::field::{FieldDescriptor, FieldUniform, Wind};
use gpuskin_rt::internals::render::{CustomDraw, field_vertex_buffers};
use gpuskin_rt::internals::shader::Variant;
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

/// Writes position and tint of a vertex to a pixel of its own.
const PROBE: &str = r"
    @group(0) @binding(0) var<uniform> clock: vec4<u32>;    // Time::words(), then vertices of an instance

    struct Varyings {
        @builtin(position) pixel: vec4<f32>,
        @location(0) @interpolate(flat) position: vec3<f32>,
        @location(1) @interpolate(flat) color: vec4<f32>,
    }

    @vertex
    fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
        let pixel = gpuskin_instance_number(input) * clock.z + index;
        let place = (vec2<f32>(vec2<u32>(pixel % 256u, pixel / 256u)) + 0.5) / 256.0 * 2.0 - 1.0;
        let skinned = gpuskin_skin_vertex(input, clock.xy);
        return Varyings(vec4<f32>(place.x, -place.y, 0.0, 1.0), skinned.position, skinned.color);
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<u32> {
        return bitcast<vec4<u32>>(vec4<f32>(varyings.position, varyings.color.r));
    }
";

/// Returns all vertices of all instances, as many as a target holds: position, red of the tint.
fn drawn(
    gpu: &Gpu,
    renderer: &mut CrowdRenderer,
    variant: Variant,
    (field, vertices): (&Field<Dynamic>, u32),
    now: Time,
) -> Vec<[f32; 4]> {
    let [seconds, fraction] = now.words();
    let own = Own::new(
        gpu,
        OwnDescriptor {
            text: shader::field_source(variant, 1) + PROBE,
            instances: renderer.field_layout(variant).unwrap(),
            buffers: field_vertex_buffers(variant),
            uniforms: vec![bytemuck::bytes_of(&[seconds, fraction, vertices, 0])],
            topology: wgpu::PrimitiveTopology::PointList,
            format: wgpu::TextureFormat::Rgba32Uint,
            targets: 1,
            side: 256,
        },
    );
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), now).unwrap();
    own.draw(gpu, encoder, |pass| field.draw_with(pass, CustomDraw::new(1), |_, _| {})).remove(0)
}

fn test_model(encoding: Encoding) -> TestModel {
    model_of_clips(encoding, 3)
}

fn model_of_clips(encoding: Encoding, clips: usize) -> TestModel {
    let packing = if encoding.is_vertex() { Packing::Static } else { Packing::Narrow };
    let format = VertexFormat { packing, tangent: false, second_uv: false, color: false };
    let mut random = Random(9);
    let mut recipe = Recipe::random(&mut Random(5), encoding, format, 6);
    recipe.clips = many_clips(clips);
    if clips > 3 {
        (recipe.width, recipe.frames_per_layer) = (MAX_SIDE, u32::MAX);
    }
    recipe.build(|_, _| Pose::random(&mut random, false))
}

/// Two loops chosen by noise, a gust with the third clip, an origin away from zero; every option is
/// used.
fn windy() -> FieldDescriptor<Dynamic> {
    FieldDescriptor {
        origin: [-31.3, 0.7, 12.9],
        size: [20, 20],
        spacing: [0.8, 1.1],
        tints: [[1.0, 0.5, 0.25, 1.0], [0.2, 0.9, 1.0, 1.0]],
        seed: 7,
        clips: vec![Clip::new(0), Clip::new(1)],
        patches: 2.5,
        speed: [0.5, 1.5],
        wind: Some(Wind { size: 3.0, velocity: [2.0, -0.7], sway: 1.3, gust: Some(Clip::new(1)), strength: 0.8 }),
        ..FieldDescriptor::default()
    }
}

pub fn field_instances_match_cpu_reference() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (encoding, clips) in [(Encoding::TrsPacked, 3), (Encoding::VatPacked, 3), (Encoding::TrsF16, 1_500)] {
            let test = model_of_clips(encoding, clips);
            let mut renderer = renderer(&gpu);
            let variant = Variant::of(&test.model.meta);
            for (i, descriptor) in [windy(), FieldDescriptor { patches: 0.0, wind: None, ..windy() }].iter().enumerate()
            {
                let field = Field::with_model(&mut renderer, &test.model, descriptor.clone()).unwrap();
                assert_eq!(field.len(), 400);
                for now in [0.0, 3.77, 604_803.77] {
                    let now = Time::from_secs(now);
                    let captured = drawn(&gpu, &mut renderer, variant, (&field, 150), now);
                    let uniform = field.uniform();
                    let (mut worst, mut others) = (0.0_f32, 0);
                    for (number, vertices) in (0..400).zip(captured.as_chunks::<150>().0) {
                        let record = uniform.instance(number, now);
                        let twin = test.on_cpu(&record, now);
                        let off = vertices.iter().zip(&twin).map(|(v, twin)| {
                            let place = Vec3::new(v[0], v[1], v[2]);
                            if place.is_finite() { place.distance(twin.position) } else { f32::INFINITY }
                        });
                        let off = off.fold(0.0, f32::max);
                        // Slightly different noise selects another clip at a border between two.
                        if off < 1e-4 {
                            worst = worst.max(off)
                        } else {
                            others += 1
                        }
                        let red = f32::from(uniform.appearance(number).tint[0]) / 255.0;
                        assert!(
                            (vertices[0][3] - red).abs() < 1e-6,
                            "{number}: tint {}, expected {red}",
                            vertices[0][3]
                        );
                    }
                    note!(
                        "{encoding:?} on {}, {i} at {now:?}: {worst:.1e} m, {others} instances with another clip",
                        gpu.name
                    );
                    // Slightly different noise changes the fade by one step, 2^-16 of the
                    // difference between two poses.
                    let (most, most_others) = if i == 0 { (1e-4, 3) } else { (2e-5, 0) };
                    assert!(worst < most && others <= most_others, "{worst:e} m, {others} instances with another clip");
                }
            }
        }
    }
}

pub fn adjacent_fields_continue_and_instances_vary() {
    let test = test_model(Encoding::VatPacked);
    let meta = &test.model.meta;
    let whole =
        FieldDescriptor { origin: [-4.0, 0.0, 2.0], size: [8, 6], spacing: [0.5, 0.25], patches: 0.4, ..windy() };
    let right = FieldDescriptor { origin: [-2.0, 0.0, 2.0], size: [4, 6], ..whole.clone() };
    let [all, half] = [&whole, &right].map(|descriptor| FieldUniform::new(descriptor, meta));
    let now = Time::from_secs(11.0);
    for z in 0..6 {
        for x in 0..4 {
            let (a, b) = (all.instance(z * 8 + 4 + x, now), half.instance(z * 4 + x, now));
            assert!(Vec3::from(a.translation).distance(b.translation.into()) < 1e-5);
            assert_eq!((a.rotation, a.scale, a.playback().rate), (b.rotation, b.scale, b.playback().rate));
            assert_eq!(all.appearance(z * 8 + 4 + x), half.appearance(z * 4 + x));
        }
    }
    let instances: Vec<_> = (0..48).map(|number| all.instance(number, now)).collect();
    let differing =
        |of: &dyn Fn(&InstanceRecord) -> u64| instances.iter().map(of).collect::<std::collections::BTreeSet<_>>().len();
    assert!(differing(&|i| u64::from(i.scale.to_bits())) > 40 && differing(&|i| i.rotation[1].to_bits().into()) > 40);
    assert_eq!((differing(&|i| i.playback().offset.into()), differing(&|i| i.clip_index() as u64)), (48, 2));
    for instance in &instances {
        let [w, y] = [3, 1].map(|i| (instance.rotation[i] * 32_767.0).round() as i32);
        assert_eq!(w + y.abs(), 32_767);
        assert!((0.8..=1.2).contains(&instance.scale));
        let box_of = whole.bounds(meta);
        assert!(box_of.is_none(), "this model has no bounds");
    }
    // Without rotation and phase offset, instances are unrotated and in step.
    let still = FieldDescriptor { turn: 0.0, jitter: 0.0, scatter: 0.0, wind: None, speed: [1.0; 2], ..whole };
    let still = FieldUniform::new(&still, meta);
    let [a, b] = [0, 9].map(|number| still.instance(number, now));
    assert_eq!((a.rotation, a.playback().offset), ([0.0, 0.0, 0.0, 1.0], b.playback().offset));
    assert_eq!(a.translation, [-3.75, 0.0, 2.125]);
}

pub fn wind_travels_at_its_velocity_after_a_week() {
    let test = test_model(Encoding::VatPacked);
    let mut descriptor = FieldDescriptor { jitter: 0.0, scatter: 0.0, ..windy() };
    descriptor.wind = Some(Wind { velocity: [1.6, 0.0], ..windy().wind.unwrap() });
    let uniform = FieldUniform::new(&descriptor, &test.model.meta);
    let weight = |number: u32, now: f64| uniform.instance(number, now).weight(Time::from(now));
    for now in [0.0, 604_800.0] {
        // In half a second the wind moves one cell along x.
        for number in (0..400).filter(|number| number % 20 < 19) {
            let (here, next) = (weight(number, now), weight(number + 1, now + 0.5));
            assert!((here - next).abs() < 2e-3, "{number} at {now}: {here}, then {next}");
        }
    }
    assert!((0..400).any(|number| (weight(number, 0.0) - weight(number, 1.0)).abs() > 0.1));
}

pub fn visible_fields_are_drawn_with_crowds() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut test = squares(square_recipe(Encoding::MatrixF16, crate::common::model::plain([1.0, 0.0, 0.0, 1.0])));
        test.model.meta.bounds = Aabb { min: [-0.2, -0.2, 0.0], max: [0.2, 1.2, 0.0] };
        let mut renderer = renderer(&gpu);
        let row = FieldDescriptor {
            origin: [0.5, 3.0, -0.5],
            size: [4, 1],
            jitter: 0.0,
            turn: 0.0,
            scale: [1.0; 2],
            ..FieldDescriptor::default()
        };
        let field = Field::with_model(&mut renderer, &test.model, row.clone()).unwrap();
        let picture = |renderer: &mut CrowdRenderer, depth: bool| {
            let canvas = Canvas::new(&gpu, 128);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 0.0).unwrap();
            if depth {
                canvas.depth_pass(&mut encoder, |pass| renderer.draw_depth(pass, View::MAIN));
                canvas.pass_over_depth(&mut encoder, |pass| renderer.draw(pass));
            } else {
                canvas.pass(&mut encoder, |pass| renderer.draw(pass));
            }
            canvas.finish(&gpu, encoder)
        };
        let p = picture(&mut renderer, false);
        assert!([1.0, 2.0, 3.0, 4.0].iter().all(|x| shows(&p, *x, 3.0) == RED));
        assert_eq!((shows(&p, 5.0, 3.0), shows(&p, 1.5, 3.0)), (p.pixels[0], p.pixels[0]));
        assert_eq!(picture(&mut renderer, true).covered(), 0, "nothing is nearer than the depth");
        // A field of another size and position, and one outside the picture.
        field.set(&FieldDescriptor { origin: [2.5, 6.0, -0.5], size: [2, 1], ..row.clone() }).unwrap();
        let p = picture(&mut renderer, false);
        assert_eq!([1.0, 3.0, 4.0].map(|x| shows(&p, x, 6.0) == RED), [false, true, true]);
        assert_eq!(field.len(), 2);
        field.set(&FieldDescriptor { origin: [90.0, 6.0, -0.5], ..row.clone() }).unwrap();
        assert_eq!(picture(&mut renderer, false).covered(), 0);
        let error = field.set(&FieldDescriptor { size: [70_000, 70_000], ..row.clone() }).unwrap_err().to_string();
        assert!(error.contains("4900000000 instances"), "{error}");
        field.set(&FieldDescriptor { size: [0, 5], ..row }).unwrap();
        assert!(field.is_empty() && picture(&mut renderer, false).covered() == 0);
        drop(field);
        assert_eq!(picture(&mut renderer, false).covered(), 0);
    }
}

pub fn invalid_numbers_are_clamped_and_models_without_texture_refused() {
    let test = test_model(Encoding::VatPacked);
    let odd = FieldDescriptor {
        origin: [f32::NAN, f32::INFINITY, 1.0],
        spacing: [-1.0, f32::NAN],
        jitter: f32::INFINITY,
        scale: [f32::NAN; 2],
        turn: f32::NAN,
        clips: vec![Clip::<Dynamic>::new(900); 20],
        patches: f32::NEG_INFINITY,
        speed: [f32::NAN, -2.0],
        scatter: f32::NAN,
        wind: Some(Wind {
            size: 0.0,
            velocity: [f32::NAN; 2],
            sway: f32::NAN,
            gust: Some(Clip::new(77)),
            strength: 9.0,
        }),
        ..FieldDescriptor::default()
    };
    let uniform = FieldUniform::new(&odd, &test.model.meta);
    for number in [0, 17, u32::MAX] {
        let record = uniform.instance(number, 1e9);
        assert!(Vec3::from(record.translation).is_finite() && record.clip_index() == 0);
        assert!(test.on_cpu(&record, Time::MAX).iter().all(|vertex| vertex.position.is_finite()));
    }
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let local = Recipe::random(&mut Random(1), Encoding::LocalPacked, format, 4).build(|_, _| Pose::REST);
    let error =
        Field::with_model(&mut renderer(&gpu), &local.model, FieldDescriptor::default()).unwrap_err().to_string();
    assert!(error.contains("local-packed alone; add \"webgl2\""), "{error}");
}
