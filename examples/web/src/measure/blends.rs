//! Blends of poses: crossfades, layers and live bones.

use crowd::baked::models::Soldier;
use crowd::baked::{clips, masks};
use crowd::hero::Hero;
use glam::Vec3;
use gpuskin_rt::{Camera, Clip, Crowd, CrowdRenderer, Error, Instance, LiveBones, Time, Transition};

use super::scene::{Scene, Stage, TIME};

/// Place of the camera, metres.
const EYE: [f32; 3] = [0.0, 1.4, 4.6];

/// From the left: a soldier in the middle of a crossfade, one in the middle of an interrupted crossfade, one that walks and attacks
/// with the upper body, and one with live bones. Without layers and live bones, the last two play their clips.
pub(super) struct Blends {
    _soldiers: Crowd<Soldier>,
    facts: Vec<String>,
}

impl Blends {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let crowd: Crowd<Soldier> = stage.crowd(4)?;
        let soldier = |x: f32, clip: Clip<Soldier>| Instance::at([x, 0.0, 0.0]).play(clip).starting(Time::ZERO);
        let ids = crowd.spawn_many([
            soldier(-1.26, clips::SOLDIER_WALK),
            soldier(-0.42, clips::SOLDIER_IDLE),
            soldier(0.42, clips::SOLDIER_WALK).phase(0.3),
        ]);
        stage.renderer.set_time(TIME - 0.6);
        crowd.play(ids[1], clips::SOLDIER_DIE, Transition::crossfade(0.8))?;
        let cut = Transition::cut();
        let layer = crowd.play_layer(ids[2], 0, clips::SOLDIER_ATTACK, Some(masks::SOLDIER_UPPER_BODY), cut, 1.0);
        stage.renderer.set_time(TIME - 0.3);
        crowd.play(ids[0], clips::SOLDIER_ATTACK, Transition::crossfade(0.6).seek(0.4))?;
        crowd.play(ids[1], clips::SOLDIER_RUN, Transition::crossfade(0.6))?;
        let last = soldier(1.26, clips::SOLDIER_IDLE);
        let live = if layer.is_ok() {
            let hero = Hero::new(&crowd, last, Vec3::from(EYE) - Vec3::new(1.26, 0.0, 0.0));
            hero.map(|hero| hero.advance(&crowd, TIME)).map_err(|error| error.to_string())
        } else {
            let id = crowd.spawn(last);
            crowd.set_live_bones(id, LiveBones::Local(&[]), 0.0).map_err(|error| error.to_string())
        };
        let layer = layer.map_err(|error| error.to_string());
        let facts = [("layer", layer), ("live bones", live)].map(|(what, result)| match result {
            Ok(()) => format!("{what} drawn"),
            Err(error) => error,
        });
        Ok(Self { _soldiers: crowd, facts: facts.to_vec() })
    }
}

impl Scene for Blends {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at(EYE, [0.0, 0.95, 0.0], 0.55, 4.0 / 3.0, 0.1, 60.0)
    }

    fn facts(&self, _: &CrowdRenderer) -> Vec<String> {
        self.facts.clone()
    }
}
