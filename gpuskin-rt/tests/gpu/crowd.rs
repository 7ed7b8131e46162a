//! Crowds as a game uses them, drawn on every available backend with the WebGL2 limits.

use crate::common::model::{Pose, Recipe, TestClip, TestModel, nearest, plain};
use crate::common::squares::{FLAT, RED, draw, map, renderer, shows, square, square_recipe, squares};
use crate::common::{BACKENDS, Canvas, Picture, compute, gpu};
use glam::{Mat3, Quat, Vec3};
use gpuskin_rt::internals::render::DepthPass;
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;

pub fn instances_spawn_move_play_and_despawn() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0, 0.0, 0.0, 1.0])));
        let crowd =
            Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                .unwrap();
        let mut picture = |time| draw(&gpu, &mut renderer, &map(8.0), time);
        assert_eq!(picture(0.0).covered(), 0, "an empty crowd draws nothing");

        let a = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
        let p = picture(1.0);
        assert_eq!((shows(&p, 2.0, 2.0), shows(&p, 2.0, 3.0)), (RED, p.pixels[0]));
        // 0.4 metres at 16 pixels per metre.
        assert!((36..=49).contains(&p.covered()), "{} pixels", p.covered());

        assert!(crowd.play(a, Clip::new(1), Transition::cut()).is_ok());
        let p = picture(1.0);
        assert_eq!((shows(&p, 2.0, 2.0), shows(&p, 2.0, 3.0)), (p.pixels[0], RED));

        // Starts now, which is the last prepared time, and ends on the ground.
        assert!(crowd.play(a, Clip::new(2), Transition::cut()).is_ok());
        assert_eq!(shows(&picture(1.25), 2.0, 2.75), RED);
        assert_eq!(shows(&picture(90.0), 2.0, 2.0), RED);

        assert!(crowd.move_to(a, [5.0, 1.0, 0.0]).is_ok());
        let p = picture(90.0);
        assert_eq!((shows(&p, 5.0, 1.0), shows(&p, 2.0, 2.0)), (RED, p.pixels[0]));
        assert!(crowd.scale_to(a, 5.0).is_ok());
        assert_eq!(shows(&picture(90.0), 5.9, 1.9), RED);
        assert!(crowd.rotate_to(a, Quat::from_rotation_z(core::f32::consts::FRAC_PI_4)).is_ok());
        let p = picture(90.0);
        assert_eq!((shows(&p, 5.9, 1.9), shows(&p, 6.2, 1.0)), (p.pixels[0], RED));
        assert!(crowd.rotate_to(a, Quat::from_rotation_y(core::f32::consts::PI)).is_ok());
        assert_eq!(picture(90.0).covered(), 0, "back faces are culled");

        assert!(crowd.set(a, Instance::at([1.0, 1.0, 0.0])).is_ok());
        assert_eq!(shows(&picture(90.0), 1.0, 1.0), RED);
        assert!(crowd.despawn(a).is_ok());
        assert_eq!(picture(90.0).covered(), 0);
        assert!(
            crowd.despawn(a).is_err()
                && crowd.play(a, Clip::new(0), Transition::cut()).is_err()
                && crowd.move_to(a, [0.0; 3]).is_err()
        );
        assert!(crowd.get(a).is_none() && crowd.set(a, Instance::at([0.0; 3])).is_err());
        let b = crowd.spawn(Instance::at([3.0, 3.0, 0.0]));
        assert!(b != a && crowd.get(a).is_none() && crowd.len() == 1);
        assert_eq!(shows(&picture(90.0), 3.0, 3.0), RED);

        let handle = crowd.clone();
        drop(crowd);
        assert_eq!(shows(&picture(90.0), 3.0, 3.0), RED, "the crowd is drawn while a handle exists");
        drop(handle);
        assert_eq!(picture(90.0).covered(), 0, "a dropped crowd is not drawn");
    }
}

pub fn commands_count_from_the_time_that_was_set() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0, 0.0, 0.0, 1.0])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor::default()).unwrap();
        let instance = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
        draw(&gpu, &mut renderer, &map(8.0), 1.0);
        renderer.set_time(3.0);
        assert_eq!(renderer.time(), Time::from(3.0));
        assert!(crowd.play(instance, Clip::new(2), Transition::cut()).is_ok());
        // From the last prepared time, it would have ended on the ground.
        assert_eq!(shows(&draw(&gpu, &mut renderer, &map(8.0), 3.25), 2.0, 2.75), RED);
        assert_eq!([renderer.previous_time(), renderer.time()], [1.0, 3.25].map(Time::from));
    }
}

pub fn crowd_grows_beyond_its_capacity() {
    // With compute, scattered changes are copied to their slots on the device.
    for gpu in BACKENDS.into_iter().flat_map(|backend| [gpu(backend), compute(backend)]).flatten() {
        let mut renderer = renderer(&gpu);
        let mut recipe = square_recipe(Encoding::TrsF16, plain([1.0, 0.0, 0.0, 1.0]));
        recipe.frames_per_layer = 2;
        let test = squares(recipe);
        let crowd =
            Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 0, ..Default::default() })
                .unwrap();
        let place = |i: u32| Vec3::new((i % 16) as f32, (i / 16) as f32, 0.0) * 0.5 + Vec3::new(0.25, 0.25, 0.0);
        let mut alive: Vec<(u32, InstanceId)> = Vec::new();
        let mut check = |alive: &[(u32, InstanceId)]| {
            let picture = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            for i in 0..256 {
                let here = shows(&picture, place(i).x, place(i).y) == RED;
                assert_eq!(here, alive.iter().any(|(j, _)| *j == i), "instance {i} of {}", alive.len());
            }
        };
        for i in 0..10 {
            alive.push((i, crowd.spawn(Instance::at(place(i)))));
        }
        check(&alive);
        for i in 10..256 {
            alive.push((i, crowd.spawn(Instance::at(place(i)))));
        }
        check(&alive);
        alive.retain(|(i, id)| i % 3 != 0 || crowd.despawn(*id).is_err());
        check(&alive);
        let (seen, hidden): (Vec<_>, Vec<_>) = alive.iter().partition(|(i, _)| i % 7 != 0);
        hidden.iter().for_each(|(_, id)| assert!(crowd.set_visible(*id, false).is_ok()));
        check(&seen);
        hidden.iter().for_each(|(_, id)| assert!(crowd.set_visible(*id, true).is_ok()));
        for i in (0..256).step_by(6) {
            alive.push((i, crowd.spawn(Instance::at(place(i)))));
        }
        check(&alive);
        crowd.clear();
        check(&[]);
        assert!(crowd.is_empty() && alive.iter().all(|(_, id)| crowd.get(*id).is_none()));
    }
}

/// Left half red and opaque, right half green and transparent.
fn half_transparent(cutoff: Option<f32>) -> TestModel {
    let material = Material { base_color_texture: Some(nearest(0)), alpha_cutoff: cutoff, ..plain([1.0; 4]) };
    let mut recipe = square_recipe(Encoding::MatrixF32, material);
    recipe.format.packing = Packing::Full;
    let formats = vec![ColorFormat::Rgba8].into();
    let info = ColorTexture { width: 2, height: 1, levels: 2, layers: 1, srgb: true, formats };
    recipe.textures = vec![(info, vec![vec![vec![255, 0, 0, 255, 0, 255, 0, 0], vec![128, 128, 0, 128]]])];
    squares(recipe)
}

pub fn textures_alpha_cutoff_and_double_sided_are_drawn() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for (cutoff, right) in [(None, [0, 255, 0]), (Some(0.5), [26, 26, 26])] {
            let mut renderer = renderer(&gpu);
            let test = half_transparent(cutoff);
            let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
            crowd.spawn(Instance::at([4.0, 4.0, 0.0]).scaled(15.0));
            let p = draw(&gpu, &mut renderer, &map(8.0), 0.0);
            assert_eq!(shows(&p, 2.0, 4.0), RED);
            let seen = shows(&p, 6.0, 4.0);
            assert!(seen.iter().zip(right).all(|(a, b)| a.abs_diff(b) <= 2), "{seen:?}, expected {right:?}");
        }
        let mut renderer = renderer(&gpu);
        let both = Material { double_sided: true, ..plain([1.0, 0.0, 0.0, 1.0]) };
        let test = squares(square_recipe(Encoding::MatrixF32, both));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        crowd.spawn(Instance::at([4.0, 4.0, 0.0]).facing(core::f32::consts::PI));
        let lit_from_the_camera = Light { sun: [1.0; 3], sky: [0.0; 3], ground: [0.0; 3], ..FLAT };
        renderer.set_light(lit_from_the_camera);
        assert_eq!(
            shows(&draw(&gpu, &mut renderer, &map(8.0), 0.0), 4.0, 4.0),
            RED,
            "the back face is lit with its flipped normal"
        );
    }
}

pub fn depth_views_match_main_view() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let solid = squares(square_recipe(Encoding::MatrixF32, plain([0.0, 0.0, 1.0, 1.0])));
        let holed = half_transparent(Some(0.5));
        let background = Crowd::with_model(&mut renderer, &solid.model, Default::default()).unwrap();
        let front = Crowd::with_model(&mut renderer, &holed.model, Default::default()).unwrap();
        let behind = background.spawn(Instance::at([4.0, 4.0, -1.0]).rotated(Quat::from_rotation_x(0.3)).scaled(12.0));
        front.spawn(Instance::at([4.0, 4.0, 0.0]).scaled(15.0));
        let depth_view = renderer.add_view();
        let canvas = Canvas::new(&gpu, 128);
        let camera = map(8.0);

        // Depth first, then colour where it is nearer than that depth: no fragment is.
        let mut after_depth = |seen_by: Camera| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).unwrap();
            renderer.prepare_view(&gpu.queue, depth_view, &seen_by).unwrap();
            canvas.depth_pass(&mut encoder, |pass| renderer.draw_depth(pass, depth_view));
            canvas.pass_over_depth(&mut encoder, |pass| renderer.draw(pass));
            canvas.finish(&gpu, encoder)
        };
        assert_eq!(after_depth(camera).covered(), 0);
        // A depth view with another camera leaves the picture complete, including the red square
        // and the blue one behind its hole.
        let p = after_depth(Camera::orthographic_look_at([90.0, 0.0, 5.0], [90.0, 0.0, 0.0], 1.0, 1.0, 10.0));
        assert_eq!((shows(&p, 2.0, 4.0), shows(&p, 5.5, 4.0)), (RED, [0, 0, 255, 255]));
        // Later draws in the hole are not occluded.
        background.despawn(behind).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).unwrap();
        renderer.prepare_view(&gpu.queue, depth_view, &camera).unwrap();
        canvas.depth_pass(&mut encoder, |pass| renderer.draw_depth(pass, depth_view));
        canvas.finish(&gpu, encoder);
        background.spawn(Instance::at([4.0, 4.0, -1.0]).scaled(12.0));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &camera, 0.0).unwrap();
        canvas.pass_over_depth(&mut encoder, |pass| renderer.draw(pass));
        let p = canvas.finish(&gpu, encoder);
        assert_eq!((shows(&p, 2.0, 4.0), shows(&p, 5.5, 4.0)), (p.pixels[0], [0, 0, 255, 255]));
    }
}

pub fn formats_multisampling_and_reversed_depth_are_accepted() {
    let gpu = BACKENDS.into_iter().find_map(gpu).expect("a device, which the test needs");
    let descriptor = RendererDescriptor {
        color_format: wgpu::TextureFormat::Rgba16Float,
        depth_format: None,
        depth_compare: wgpu::CompareFunction::Greater,
        sample_count: 4,
        depth_pass: DepthPass { format: wgpu::TextureFormat::Depth24PlusStencil8, ..Default::default() },
        ..Default::default()
    };
    let wrong =
        CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { sample_count: 3, ..descriptor.clone() });
    assert!(wrong.unwrap_err().to_string().starts_with("sample_count: 3 samples of Rgba16Float"));
    // Half-float targets need more than the WebGL2 limits.
    let descriptor = RendererDescriptor { color_format: wgpu::TextureFormat::Bgra8UnormSrgb, ..descriptor };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let test = squares(square_recipe(Encoding::MatrixF32, plain([1.0; 4])));
    let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
    crowd.spawn(Instance::at([0.0; 3]));
    let target = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: 8, height: 8, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 4,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Bgra8UnormSrgb,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let view = target.create_view(&Default::default());
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 0.0).unwrap();
    renderer.draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: Default::default(),
        })],
        ..Default::default()
    }));
    gpu.queue.submit([encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

/// A walking figure of boxes: torso, head, two legs.
fn figure() -> TestModel {
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    let boxes = [
        (Vec3::new(0.0, 1.2, 0.0), Vec3::new(0.25, 0.35, 0.15), 0),
        (Vec3::new(0.0, 1.75, 0.0), Vec3::new(0.14, 0.16, 0.14), 0),
        (Vec3::new(-0.13, 0.43, 0.0), Vec3::new(0.1, 0.43, 0.1), 1),
        (Vec3::new(0.13, 0.43, 0.0), Vec3::new(0.1, 0.43, 0.1), 2),
    ];
    for (center, half, joint) in boxes {
        for turn in [
            Quat::IDENTITY,
            Quat::from_rotation_y(1.5707964),
            Quat::from_rotation_y(-1.5707964),
            Quat::from_rotation_y(core::f32::consts::PI),
            Quat::from_rotation_x(1.5707964),
            Quat::from_rotation_x(-1.5707964),
        ] {
            let (corners, triangles) = square(Vec3::Z, 1.0, joint);
            indices.extend(triangles.map(|i| i + vertices.len() as u32));
            vertices.extend(corners.map(|v| Vertex {
                position: center + turn * v.position * half,
                normal: turn * v.normal,
                ..v
            }));
        }
    }
    let recipe = Recipe {
        encoding: Encoding::TrsF16,
        format: VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false },
        bones: 3,
        clips: vec![TestClip {
            intervals: 8,
            stored: 8,
            held: HeldFrames::NONE,
            duration: 1.0,
            stepped: false,
            looped: true,
        }],
        frames_per_layer: 8,
        normals: Normals::Cofactor,
        width: 64,
        vertices,
        indices,
        morphs: Vec::new(),
        materials: vec![plain([0.8, 0.35, 0.2, 1.0])],
        textures: Vec::new(),
    };
    recipe.build(|frame, bone| {
        let swing = (frame as f32 / 8.0 * core::f32::consts::TAU).sin() * 0.6;
        let turn = Quat::from_rotation_x([0.0, swing, -swing][bone as usize]);
        let hip = Vec3::new(0.0, 0.86, 0.0);
        Pose { rotation: turn, scale: 1.0, shear: Mat3::IDENTITY, translation: hip - turn * hip }
    })
}

pub fn walking_figures_are_lit() {
    let pictures: Vec<Picture> = BACKENDS
        .into_iter()
        .filter_map(gpu)
        .map(|gpu| {
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let crowd = Crowd::with_model(&mut renderer, &figure().model, Default::default()).unwrap();
            for i in 0..5_i16 {
                let x = f32::from(i) - 2.0;
                let instance = Instance::at([x * 1.1, 0.0, -x.abs()]).facing(x * 0.5).phase(x / 5.0 + 0.25);
                crowd.spawn(instance.starting(0.0));
            }
            let camera = Camera::perspective_look_at([0.0, 2.4, 6.0], [0.0, 0.9, 0.0], 0.7, 1.0, 0.1, 50.0);
            let canvas = Canvas::new(&gpu, 256);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &camera, 3.0).unwrap();
            canvas.pass(&mut encoder, |pass| renderer.draw(pass));
            let picture = canvas.finish(&gpu, encoder);
            let file = format!("figures-{}.png", gpu.name.replace(|c: char| !c.is_alphanumeric(), "_"));
            picture.save(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(file));
            picture
        })
        .collect();
    for picture in &pictures {
        let share = picture.covered() as f32 / picture.pixels.len() as f32;
        assert!((0.05..0.4).contains(&share), "{share} of the picture is covered");
        // Torso of the central figure: orange in the sunlight.
        let [r, g, b, _] = picture.at(128, 110);
        assert!(r > 180 && r > g + 40 && g > b, "{r} {g} {b}");
    }
    if let [a, b] = &pictures[..] {
        let differing = a.pixels.iter().zip(&b.pixels).filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 2)).count();
        assert!(differing < 60, "{differing} pixels differ between backends");
    }
}
