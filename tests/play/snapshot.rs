//! Snapshots: crowds restored on another device draw the same frames, and lost devices are survived.

use gpuskin_rt::internals::{
    Appearance, Attachment, BakedModel, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, Instance, InstanceId,
    InstanceRecord, LiveBones, RendererDescriptor, Repeat, Transition,
};
use gpuskin_tests::gpu::{Canvas, Gpu, Picture, vulkan};
use gpuskin_tests::{bones, clips, masks, models, parts};

const SIDE: u32 = 256;

/// Renderer with a crowd of soldiers.
struct Stage {
    gpu: Gpu,
    renderer: CrowdRenderer,
    crowd: Crowd<models::Soldier>,
}

impl Stage {
    fn new(gpu: Gpu) -> Self {
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
        let crowd = Crowd::new(&mut renderer, CrowdDescriptor::default()).unwrap();
        Self { gpu, renderer, crowd }
    }

    fn draw(&mut self, seconds: f64) -> Picture {
        let canvas = Canvas::new(&self.gpu, SIDE);
        let camera = Camera::orthographic_look_at([0.0, 1.0, 10.0], [0.0, 1.0, 0.0], 4.0, 4.0, 20.0);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.renderer.prepare(&self.gpu.queue, &mut encoder, &camera, seconds).unwrap();
        canvas.pass(&mut encoder, |pass| self.renderer.draw(pass));
        canvas.finish(&self.gpu, encoder)
    }
}

/// Spawns soldiers in all states, and removes some, so that slots and order differ.
fn spawn(stage: &mut Stage) -> Vec<InstanceId> {
    let all = [clips::SOLDIER_IDLE, clips::SOLDIER_WALK, clips::SOLDIER_RUN, clips::SOLDIER_ATTACK, clips::SOLDIER_DIE];
    let crowd = stage.crowd.clone();
    let mut ids: Vec<_> = (0..14_u8)
        .map(|i| {
            let at = Instance::at([f32::from(i % 7) - 3.0, f32::from(i / 7) * 2.0 - 0.5, 0.0]).facing(f32::from(i));
            crowd.spawn(at.play(all[usize::from(i) % 5]).speed(0.9).phase(f32::from(i) * 0.137))
        })
        .collect();
    stage.draw(0.4);
    crowd.despawn(ids.remove(9)).unwrap();
    crowd.despawn(ids.remove(2)).unwrap();
    let over = Transition::crossfade(1.0);
    crowd.play(ids[0], clips::SOLDIER_RUN, over).unwrap();
    crowd.set_paused(ids[1], true).unwrap();
    crowd.set_part_visible(ids[2], parts::SOLDIER_SWORD, false).unwrap();
    crowd.set_tint(ids[3], [0.2, 0.9, 0.3, 1.0]).unwrap();
    crowd.play(ids[4], clips::SOLDIER_DIE, Transition::cut().repeat(Repeat::Once)).unwrap();
    crowd.set_visible(ids[5], false).unwrap();
    for id in &ids[6..9] {
        crowd.play_layer(*id, 0, clips::SOLDIER_ATTACK, Some(masks::SOLDIER_UPPER_BODY), over, 0.9).unwrap();
    }
    stage.draw(0.7);
    // An interrupted fade.
    crowd.play(ids[0], clips::SOLDIER_ATTACK, over).unwrap();
    ids
}

pub fn restored_crowds_draw_the_same_frames() {
    let mut stage = Stage::new(vulkan());
    spawn(&mut stage);
    stage.draw(0.9);
    let saved = stage.crowd.snapshot();

    // In another renderer on another device, as after a restart: its clock continues.
    let mut restored = Stage::new(vulkan());
    restored.crowd.spawn(Instance::at([0.0; 3]));
    restored.draw(0.9);
    let ids = restored.crowd.restore(&saved).unwrap();
    assert_eq!((ids.len(), restored.crowd.len()), (12, 12));
    assert!((0..).zip(&ids).all(|(i, id)| restored.crowd.id_at(i) == Some(*id)));
    assert_eq!(restored.crowd.snapshot(), saved, "a snapshot of the restored crowd has the same bytes");
    for seconds in [0.9, 1.0, 1.3, 2.0] {
        let [a, b] = [stage.draw(seconds), restored.draw(seconds)];
        assert!(a.colors() > 10 && a.difference(&b) == 0.0, "{seconds} s");
    }

    // With a later clock, the playback continues exactly too.
    let [mut same, mut later] = [0.9, 500.0].map(|clock| {
        let mut stage = Stage::new(vulkan());
        stage.draw(clock);
        stage.crowd.restore(&saved).unwrap();
        stage
    });
    for seconds in [0.0, 0.125, 0.5] {
        let [a, b] = [same.draw(0.9 + seconds), later.draw(500.0 + seconds)];
        assert_eq!(a.difference(&b), 0.0, "{seconds} s later");
    }
}

pub fn damaged_snapshots_change_nothing() {
    let mut stage = Stage::new(vulkan());
    let ids = spawn(&mut stage);
    let saved = stage.crowd.snapshot();
    let mut damaged = saved.clone();
    damaged[200] ^= 1;
    let hounds = Crowd::<models::Hound>::new(&mut stage.renderer, CrowdDescriptor::default()).unwrap();
    for (error, part) in [
        (stage.crowd.restore(&damaged), "damaged"),
        (stage.crowd.restore(&saved[..saved.len() - 1]), "damaged or cut off"),
        (stage.crowd.restore(b"save game"), "not the bytes of a snapshot"),
        (hounds.restore(&saved), "has no clip `"),
    ] {
        let error = error.expect_err("the bytes are wrong").to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(stage.crowd.snapshot(), saved);
    assert!(ids.iter().all(|id| stage.crowd.get(*id).is_some()));
    assert!(stage.crowd.restore(&saved).is_ok());
    assert!(ids.iter().all(|id| stage.crowd.get(*id).is_none()), "earlier ids are stale");
}

pub fn records_can_be_written_back() {
    let mut stage = Stage::new(vulkan());
    let ids = spawn(&mut stage);
    let crowd = stage.crowd.clone();
    let (record, appearance) = (crowd.get(ids[0]).unwrap(), crowd.appearance(ids[3]).unwrap());
    let copy = crowd.spawn_record(record, appearance).unwrap();
    assert_eq!((crowd.get(copy), crowd.appearance(copy)), (Some(record), Some(appearance)));

    // The layers of an instance stay.
    let layers = crowd.layers(ids[6]);
    assert!(layers.is_some());
    crowd.set_record(ids[6], record).unwrap();
    assert_eq!(crowd.layers(ids[6]), layers);
    assert_eq!(crowd.get(ids[6]).unwrap().translation, record.translation);

    // Bytes from a network.
    let mut hostile: InstanceRecord = bytemuck::cast([0xff_u32; 18]);
    hostile.translation = [f32::NAN, 1.0, f32::INFINITY];
    let error = crowd.spawn_record(hostile, Appearance::default()).expect_err("a clip that does not exist").to_string();
    assert!(error.contains("of the record does not exist; the model has 5 clips"), "{error}");
    let mut odd = record;
    (odd.translation, odd.scale) = ([f32::NAN, 1.0, 2.0], f32::INFINITY);
    crowd.set_record(copy, odd).unwrap();
    let set = crowd.get(copy).unwrap();
    assert_eq!((set.translation, set.scale), ([0.0, 1.0, 2.0], 1.0));
    crowd.despawn(copy).unwrap();
    assert!(crowd.set_record(copy, record).is_err());
    stage.draw(1.0);
}

pub fn lost_devices_are_survived() {
    let mut stage = Stage::new(vulkan());
    let ids = spawn(&mut stage);
    stage.draw(0.9);
    stage.gpu.device.destroy();
    let camera = Camera::orthographic_look_at([0.0, 1.0, 10.0], [0.0, 1.0, 0.0], 4.0, 4.0, 20.0);
    // A game may notice only some frames later: buffers grow, and layers and live bones are uploaded.
    let pose =
        vec![[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]; stage.crowd.meta().bones().len()];
    for (frame, id) in ids[..3].iter().enumerate() {
        stage.crowd.move_to(*id, [0.0, 1.0, frame as f32]).unwrap();
        let crowd = &stage.crowd;
        let new: Vec<_> = (0..300).map(|_| crowd.spawn(Instance::at([0.0; 3]))).collect();
        let over = Transition::crossfade(1.0);
        for id in new.iter().step_by(7) {
            crowd.play_layer(*id, 0, clips::SOLDIER_ATTACK, Some(masks::SOLDIER_UPPER_BODY), over, 0.9).unwrap();
            crowd.set_live_bones(*id, LiveBones::Model(&pose), 0.2).unwrap();
        }
        let mut encoder = stage.gpu.device.create_command_encoder(&Default::default());
        let prepared = stage.renderer.prepare(&stage.gpu.queue, &mut encoder, &camera, 1.0 + frame as f64);
        assert!(matches!(prepared, Ok(()) | Err(Error::Device { .. })), "{prepared:?}");
        let made = Crowd::<models::Hound>::new(&mut stage.renderer, CrowdDescriptor::default());
        assert!(matches!(made, Err(Error::Device { .. })), "{made:?}");
        // The model is loaded already, the mesh of the attachment is not.
        let attachment = Attachment::to(bones::SOLDIER_HAND_R);
        let attached = crowd.attach(&mut stage.renderer, models::Soldier::MODEL, attachment);
        assert!(matches!(attached, Err(Error::Device { .. })), "{attached:?}");
        stage.gpu.queue.submit([encoder.finish()]);
    }
    let saved = stage.crowd.snapshot();
    let mut anew = Stage::new(vulkan());
    assert_eq!(anew.crowd.restore(&saved).unwrap().len(), 12 + 3 * 300);
    assert!(anew.draw(1.0).colors() > 10);
}
