//! Weights that the game sets: of additive layers and of a morph target.

use gpuskin_rt::{Camera, Clip, Crowd, CrowdRenderer, Error, Instance, InstanceId, Morph, Time, Transition};

use super::baked::models::{Banner, Surfaces};
use super::baked::{clips, masks};
use super::scene::{Scene, Stage, TIME};

/// Two banners with additive layers, and spheres behind them: the game sets the weight of the morph target of one sphere.
/// Without layers and live bones, all of them play their clips.
pub(super) struct Weights {
    banners: Crowd<Banner>,
    spheres: Crowd<Surfaces>,
    ids: [InstanceId; 3],
    facts: Vec<String>,
}

impl Weights {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let (banners, spheres): (Crowd<Banner>, Crowd<Surfaces>) = (stage.crowd(2)?, stage.crowd(1)?);
        let banner = |x: f32, clip: Clip<Banner>| {
            banners.spawn(Instance::at([x, 0.2, 1.0]).scaled(0.8).facing(-0.5).play(clip).starting(Time::ZERO))
        };
        let [hanging, waving] = [banner(-0.75, clips::BANNER_HANG), banner(0.15, clips::BANNER_WAVE)];
        let sphere = spheres.spawn(Instance::at([-0.8, 0.1, 0.0]).scaled(1.6).play(Clip::new(0)).starting(Time::ZERO));
        let (lift, mask, cut) = (clips::BANNER_LIFT, Some(masks::BANNER_CLOTH), Transition::cut());
        // An additive clip over the clip of the instance, and one over an ordinary layer.
        let hanging_lifted = banners.play_layer(hanging, 0, lift, None, cut, 0.5);
        stage.renderer.set_time(TIME - 0.3);
        let over = Transition::crossfade(0.6);
        let _ = banners.play_layer(waving, 0, clips::BANNER_HANG, mask, over, 1.0);
        let waving_lifted = banners.play_layer(waving, 1, lift, mask, over, 0.8);
        let morphed = spheres.set_morphs(sphere, &[(Morph::new(0), -1.5)], 0.6);
        let results =
            [("additive layer", hanging_lifted), ("additive layer", waving_lifted), ("morph weight", morphed)];
        let facts = results.map(|(what, result)| match result {
            Ok(()) => format!("{what} drawn"),
            Err(error) => error.to_string(),
        });
        Ok(Self { banners, spheres, ids: [hanging, waving, sphere], facts: facts.to_vec() })
    }
}

impl Scene for Weights {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 0.4, 6.0], [0.0, 0.4, 0.0], 0.62, 2.0 / 3.0, 0.1, 60.0)
    }

    /// Lifts the first banner more, lets the layer below the other one go, and fades back to the morph weights of the clip.
    fn change(&self) -> Result<(), Error> {
        let [hanging, waving, sphere] = self.ids;
        self.banners.set_layer_weight(hanging, 0, 1.0, 0.4)?;
        self.banners.stop_layer(waving, 0, 0.4)?;
        self.spheres.release_live_bones(sphere, 0.4)?;
        Ok(())
    }

    fn facts(&self, _: &CrowdRenderer) -> Vec<String> {
        self.facts.clone()
    }
}
