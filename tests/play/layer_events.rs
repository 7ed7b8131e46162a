//! Events and ends of layers.

use gpuskin_rt::internals::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, FiredEventKind, Instance, InstanceId, RendererDescriptor, Repeat,
    Transition,
};
use gpuskin_tests::gpu::vulkan;
use gpuskin_tests::{clips, events, masks, models};

const HIT: FiredEventKind = FiredEventKind::Event(events::SOLDIER_HIT.index());
const STEP: FiredEventKind = FiredEventKind::Event(events::SOLDIER_FOOTSTEP.index());

pub fn layers_fire_events_and_end() {
    let gpu = vulkan();
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor::default()).unwrap();
    let crowd = Crowd::<models::Soldier>::new(&mut renderer, CrowdDescriptor::default()).unwrap();
    let camera = Camera::orthographic_look_at([0.0, 1.0, 10.0], [0.0, 1.0, 0.0], 4.0, 4.0, 20.0);
    let mut prepare = |seconds: f64| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &camera, seconds).unwrap();
        gpu.queue.submit([encoder.finish()]);
    };
    // Milliseconds of the events of all instances since the last call.
    let fired = || -> Vec<(InstanceId, FiredEventKind, u64)> {
        let milliseconds = |time: gpuskin_rt::internals::Time| (time.as_secs() * 1000.0).round() as u64;
        crowd.events().into_iter().map(|fired| (fired.instance, fired.kind, milliseconds(fired.time))).collect()
    };
    let once = || Transition::crossfade(0.2).repeat(Repeat::Once);
    let upper = Some(masks::SOLDIER_UPPER_BODY);
    prepare(0.0);
    let [a, b, c] = [0.25, 0.0, 0.0].map(|phase| {
        let clip = if phase > 0.0 { clips::SOLDIER_WALK } else { clips::SOLDIER_IDLE };
        crowd.spawn(Instance::at([0.0; 3]).play(clip).phase(phase))
    });
    // A layer that plays before the recording starts.
    crowd.play_layer(c, 1, clips::SOLDIER_ATTACK, upper, once(), 1.0).unwrap();
    assert!(fired().is_empty(), "the first call starts the recording");
    crowd.play_layer(a, 0, clips::SOLDIER_ATTACK, upper, once(), 1.0).unwrap();
    crowd.play_layer(b, 1, clips::SOLDIER_ATTACK, upper, once(), 0.5).unwrap();
    prepare(0.7);
    // The clip below goes on firing; the order is that of time.
    assert_eq!(fired(), [(a, STEP, 250), (c, HIT, 660), (a, HIT, 660), (b, HIT, 660)]);
    prepare(0.7);
    assert_eq!(fired(), []);
    crowd.stop_layer(b, 1, 0.3).unwrap();
    crowd.set_paused(c, true).unwrap();
    prepare(1.4);
    // Stopped and paused layers fire nothing while they fade or wait.
    assert_eq!(fired(), [(a, STEP, 750), (a, STEP, 1250), (a, FiredEventKind::LayerFinished(0), 1300)]);
    crowd.set_paused(c, false).unwrap();
    prepare(2.1);
    assert_eq!(fired(), [(a, STEP, 1750), (c, FiredEventKind::LayerFinished(1), 2000)]);
    // A layer whose instance is removed or replaced ends.
    crowd.play_layer(a, 0, clips::SOLDIER_ATTACK, upper, once(), 1.0).unwrap();
    crowd.play_layer(c, 0, clips::SOLDIER_ATTACK, upper, once(), 1.0).unwrap();
    crowd.despawn(a).unwrap();
    crowd.set(c, Instance::at([0.0; 3]).play(clips::SOLDIER_IDLE)).unwrap();
    prepare(4.0);
    assert_eq!(fired(), []);
    // A layer that plays once removes itself, even if its clip would loop and the game pauses it.
    crowd.play_layer_once(b, 0, clips::SOLDIER_ATTACK, upper, Transition::crossfade(0.2), 1.0).unwrap();
    crowd.play_layer_once(c, 1, clips::SOLDIER_WALK, None, Transition::crossfade(0.2), 0.5).unwrap();
    prepare(4.5);
    assert!(crowd.layers(b).is_some() && crowd.layers(c).is_some());
    crowd.set_paused(b, true).unwrap();
    prepare(4.6);
    crowd.set_paused(b, false).unwrap();
    (0..80).for_each(|frame| prepare(6.0 + f64::from(frame) / 60.0));
    assert!(crowd.layers(b).is_none() && crowd.layers(c).is_none());
    let ends = fired().into_iter().filter(|fired| fired.1 != STEP).collect::<Vec<_>>();
    let (hit, end) = ((b, HIT, 4660 + 100), (b, FiredEventKind::LayerFinished(0), 5300 + 100));
    assert_eq!(ends, [hit, (c, FiredEventKind::LayerFinished(1), 5000), end]);
    prepare(8.0);
    fired();
    // A restored crowd goes on firing.
    crowd.play_layer(b, 0, clips::SOLDIER_ATTACK, upper, once(), 1.0).unwrap();
    prepare(8.5);
    let ids = crowd.restore(&crowd.snapshot()).unwrap();
    prepare(10.0);
    let found = fired();
    assert_eq!(found.iter().map(|found| found.1).collect::<Vec<_>>(), [HIT, FiredEventKind::LayerFinished(0)]);
    assert!(found.iter().all(|found| ids.contains(&found.0)) && found[1].2 == 9300, "{found:?}");
}
