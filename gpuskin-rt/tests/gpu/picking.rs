//! Picking: a game's own pipeline writes the instance number to each pixel, and the number leads to
//! the instance.

use crate::common::cells::{CELL, COUNT, PIXELS, ROW, camera, middle};
use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::own::{Own, OwnDescriptor};
use crate::common::{BACKENDS, Gpu, gpu, gpu_with};
use gpuskin_rt::internals::render::{CustomDraw, CustomPart, vertex_buffers};
use gpuskin_rt::internals::*;

/// Writes instance numbers plus 1; 0 is the background.
const PICK: &str = r"
    struct Draw {
        view_proj: mat4x4<f32>,
        // First instance number of the draw.
        first: u32,
    }
    @group(0) @binding(0) var<uniform> draw: Draw;

    struct Varyings {
        @builtin(position) position: vec4<f32>,
        @location(0) @interpolate(flat) number: u32,
    }

    @vertex
    fn vertex(input: GpuskinInput) -> Varyings {
        let skinned = gpuskin_skin_vertex(input, vec2<u32>(3u, 0u));
        let number = draw.first + gpuskin_instance_number(input) + 1u;
        return Varyings(draw.view_proj * vec4<f32>(skinned.position, 1.0), number);
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<u32> {
        return vec4<u32>(varyings.number, 0u, 0u, 0u);
    }
";
const SIDE: u32 = ROW * PIXELS;

fn test_model(encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(2), encoding, format, 12);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    let mut random = Random(3);
    recipe.build(|_, _| Pose::random(&mut random, false))
}

/// Returns the number at each pixel, rows from the top; and the first instance numbers of the
/// draws.
fn picked(gpu: &Gpu, renderer: &mut CrowdRenderer, crowd: &Crowd<Dynamic>) -> (Vec<u32>, Vec<u32>) {
    let variant = crowd.variant();
    // Palettes begin at multiples of 16 instances.
    let draw = |first| [bytemuck::cast_slice(&camera().view_proj), bytemuck::bytes_of(&[first, 0, 0, 0])].concat();
    let draws: Vec<Vec<u8>> = (0..COUNT.div_ceil(16)).map(|i| draw(i * 16)).collect();
    let own = Own::new(
        gpu,
        OwnDescriptor {
            text: shader::source(variant, 1) + PICK,
            instances: renderer.model_layout(variant),
            buffers: vertex_buffers(variant),
            uniforms: draws.iter().map(|draw| &draw[..]).collect(),
            topology: wgpu::PrimitiveTopology::TriangleList,
            format: wgpu::TextureFormat::R32Uint,
            targets: 1,
            side: SIDE,
        },
    );
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera(), 3.0).unwrap();
    let mut began = Vec::new();
    let pixels = own.draw(gpu, encoder, |pass| {
        crowd.draw_with(pass, CustomDraw::new(1), |pass, CustomPart { first_instance: first, .. }| {
            began.push(first);
            own.bind(pass, first as usize / 16);
        });
    });
    (pixels.concat(), began)
}

pub fn pixel_yields_id_of_its_instance() {
    // Palettes of 16 to 112 instances.
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 64 << 10, ..wgpu::Limits::downlevel_defaults() };
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((gpu(b)?, gpu_with(b, limits.clone())?))) {
        for (gpu, encoding) in [(textured, Encoding::MatrixF16), (computing, Encoding::LocalPacked)] {
            let test = test_model(encoding);
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let crowd = Crowd::with_model(
                &mut renderer,
                &test.model,
                CrowdDescriptor { capacity: COUNT, ..Default::default() },
            )
            .unwrap();
            let mut ids: Vec<_> = (0..COUNT).map(|i| crowd.spawn(Instance::at(middle(i)).scaled(0.8))).collect();
            // Despawning changes numbers but not ids.
            for i in [3, 60, 150] {
                assert!(crowd.despawn(ids[i as usize]).is_ok());
                ids[i as usize] = crowd.spawn(Instance::at(middle(i)).scaled(0.8));
            }
            assert!(crowd.set_visible(ids[5], false).is_ok());
            let (pixels, began) = picked(&gpu, &mut renderer, &crowd);
            assert_eq!(began.len() > 1, encoding.needs_compute(), "{began:?} on {}", gpu.name);
            let mut seen = vec![0; COUNT as usize];
            for (at, number) in (0..).zip(&pixels).filter(|(_, number)| **number > 0) {
                let (x, y) = (at % SIDE, SIDE - 1 - at / SIDE);
                let cell = y / PIXELS * ROW + x / PIXELS;
                let id = crowd.id_at(number - 1);
                assert_eq!(id, Some(ids[cell as usize]), "{encoding:?} on {}, pixel {x}, {y} of {CELL} m", gpu.name);
                seen[cell as usize] += 1;
            }
            let unseen: Vec<_> = (0..COUNT).filter(|i| seen[*i as usize] == 0).collect();
            assert_eq!(unseen, [5], "{encoding:?} on {}", gpu.name);
            assert_eq!(crowd.id_at(COUNT), None);
        }
    }
}
