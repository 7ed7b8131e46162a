//! Soldiers occlude soldiers and their attachments: each picture equals the one without occlusion
//! culling, with fewer instances drawn.

use gpuskin_rt::internals::{
    Attachment, BakedModel, Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Instance, RendererDescriptor, Repeat,
    Transition, View,
};
use gpuskin_test_harness::note;
use gpuskin_tests::gpu::{Canvas, Gpu, Picture, vulkan};
use gpuskin_tests::{bones, models};

const SIDE: u32 = 192;
const ROWS: u32 = 16;
const COLUMNS: u32 = 16;

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<models::Soldier>,
    sun: View,
    canvas: [Canvas; 2],
}

/// Rows of soldiers with attachments in their hands, some of them fading, behind a giant soldier.
fn scene(gpu: &Gpu, occlusion: bool) -> Scene {
    let descriptor = RendererDescriptor { occlusion, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let sun = renderer.add_view();
    let descriptor = CrowdDescriptor { capacity: ROWS * COLUMNS, ..Default::default() };
    let crowd = Crowd::<models::Soldier>::new(&mut renderer, descriptor).unwrap();
    let clips = models::Soldier::MODEL.meta.clips.len() as u32;
    for i in 0..ROWS * COLUMNS {
        let (row, column) = (i / COLUMNS, i % COLUMNS);
        let across = (column as f32 - COLUMNS as f32 / 2.0) * 3.0 + (row as f32 * 1.854) % 3.0;
        let instance = Instance::at([across, 0.0, -12.0 - 3.0 * row as f32]).facing(i as f32).repeat(Repeat::Loop);
        let id = crowd.spawn(instance.play(Clip::new((i % clips) as u16)).phase(i as f32 * 0.618));
        if i % 5 == 0 {
            crowd.play(id, Clip::new(((i + 1) % clips) as u16), Transition::crossfade(9.0)).unwrap();
        }
    }
    crowd.spawn(Instance::at([0.0; 3]).scaled(10.0).play(Clip::new(0)).repeat(Repeat::Loop));
    let hand = Attachment::to(bones::SOLDIER_HAND_R).at([0.02, 0.1, -0.03]).scaled(0.4);
    crowd.attach(&mut renderer, models::Hound::MODEL, hand).unwrap();
    Scene { renderer, crowd, sun, canvas: [Canvas::new(gpu, SIDE), Canvas::new(gpu, SIDE)] }
}

impl Scene {
    /// Pictures of the main view and of the sun's view.
    fn draw(&mut self, gpu: &Gpu, frame: usize, occlusion: bool) -> [Picture; 2] {
        let at = frame as f32;
        let eye = [at * 0.8 - 1.6, 12.0, 6.0 - at * 0.2];
        let main = Camera::perspective_look_at(eye, [at * 2.0 - 4.0, 3.0, -40.0], 0.8, 1.0, 0.1, 200.0);
        let sun = Camera::orthographic_look_at([10.0, 30.0, 0.0], [0.0, 0.0, -6.0], 9.0, 9.0, 60.0);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.renderer.prepare_view(&gpu.queue, self.sun, &sun.with_height(SIDE)).unwrap();
        let now = 1.0 + frame as f64 * 0.2;
        self.renderer.prepare(&gpu.queue, &mut encoder, &main.with_height(SIDE), now).unwrap();
        let [canvas, of_sun] = &self.canvas;
        canvas.pass(&mut encoder, |pass| self.renderer.draw(pass));
        if occlusion {
            self.renderer.reveal(&mut encoder, canvas.depth()).unwrap();
            canvas.pass_over(&mut encoder, |pass| self.renderer.draw_view(pass, View::REVEALED));
        }
        of_sun.pass(&mut encoder, |pass| self.renderer.draw_view(pass, self.sun));
        let picture = canvas.finish(gpu, encoder);
        [picture, of_sun.finish(gpu, gpu.device.create_command_encoder(&Default::default()))]
    }

    fn count(&self, view: View) -> u64 {
        self.crowd.count_drawn(&self.renderer, view).unwrap().total()
    }
}

pub fn occlusion_culling_draws_the_same_picture_with_fewer_instances() {
    let gpu = vulkan();
    let [mut whole, mut part] = [false, true].map(|occlusion| scene(&gpu, occlusion));
    let (mut all, mut drawn, mut revealed) = (0, 0, 0);
    for frame in 0..5 {
        let expected = whole.draw(&gpu, frame, false);
        let found = part.draw(&gpu, frame, true);
        assert!(found == expected, "frame {frame} differs by {:.3}", found[0].difference(&expected[0]));
        let [first, then, in_sight] = [part.count(View::MAIN), part.count(View::REVEALED), whole.count(View::MAIN)];
        note!("frame {frame}: {in_sight} in the frustum, {first} and {then} drawn in the two passes");
        if frame > 0 {
            (all, drawn, revealed) = (all + in_sight, drawn + first + then, revealed + then);
        }
        // One instance despawns, and one jumps to another position.
        for scene in [&whole, &part] {
            let (gone, moved) = (scene.crowd.id_at(frame as u32 * 7), scene.crowd.id_at(frame as u32 * 7 + 100));
            assert!(scene.crowd.despawn(gone.unwrap()).is_ok());
            assert!(scene.crowd.move_to(moved.unwrap(), [frame as f32 * 3.0 - 5.0, 0.0, -8.0]).is_ok());
        }
    }
    assert!(drawn * 10 < all * 9 && revealed > 0, "{drawn} of {all} drawn, {revealed} revealed");
}
