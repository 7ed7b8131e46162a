//! Crowds of several models in one renderer.

use crowd::baked::models::{Hound, Soldier};
use crowd::baked::{bones, clips, parts};
use gpuskin_rt::{Attachment, BakedModel, Camera, Crowd, CrowdRenderer, Error, Instance, InstanceId, Time, Transform};

use super::baked::models::Banner;
use super::baked::variants::BANNER_PAINTED;
use super::scene::{Scene, Stage};

/// Soldiers and hounds that carry banners, and banners. The renderer merges the crowds, if it culls on the device.
pub(super) struct Many {
    soldiers: Crowd<Soldier>,
    hounds: Crowd<Hound>,
    banners: Crowd<Banner>,
    ids: [Vec<InstanceId>; 3],
}

impl Many {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let (soldiers, hounds, banners) = (stage.crowd(3)?, stage.crowd(2)?, stage.crowd(2)?);
        let soldier = |x: f32| Instance::at([x, 0.0, 0.0]).facing(0.3 * x).starting(Time::ZERO);
        let of_soldiers = soldiers.spawn_many([
            soldier(-0.95).play(clips::SOLDIER_WALK).without(parts::SOLDIER_SWORD),
            soldier(0.0).play(clips::SOLDIER_IDLE),
            soldier(0.95).play(clips::SOLDIER_RUN).without(parts::SOLDIER_SWORD).tinted([1.0, 0.4, 0.4, 1.0]),
        ]);
        let hound = |x: f32| Instance::at([x, 0.0, 1.3]).facing(-0.9 * x).starting(Time::ZERO);
        let of_hounds = hounds.spawn_many([-0.6, 0.7].map(|x| hound(x).play(clips::HOUND_WALK)));
        let banner = |x: f32| Instance::at([x, 0.0, -1.2]).starting(Time::ZERO);
        let of_banners = banners.spawn_many([
            banner(-1.2).tinted([0.3, 1.0, 0.3, 1.0]),
            banner(0.3).variant(BANNER_PAINTED).tinted([0.2, 0.3, 1.0, 1.0]),
        ]);
        let hand = Attachment::to(bones::SOLDIER_HAND_R).scaled(0.5);
        let carried = soldiers.attach(stage.renderer, Banner::MODEL, hand)?;
        soldiers.set_attachment_visible(of_soldiers[1], carried, false)?;
        let back = Attachment::to(bones::HOUND_CHEST).scaled(0.4);
        hounds.attach(stage.renderer, Banner::MODEL, back)?;
        Ok(Self { soldiers, hounds, banners, ids: [of_soldiers, of_hounds, of_banners] })
    }
}

impl Scene for Many {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 1.8, 6.0], [0.0, 0.85, 0.0], 0.62, 2.0 / 3.0, 0.1, 60.0)
    }

    /// Mirrors all positions, and turns all instances.
    fn change(&self) -> Result<(), Error> {
        let [soldiers, hounds, banners] = &self.ids;
        mirror(&self.soldiers, soldiers)?;
        mirror(&self.hounds, hounds)?;
        mirror(&self.banners, banners)
    }

    fn facts(&self, renderer: &CrowdRenderer) -> Vec<String> {
        let facts = [self.soldiers.explain(renderer), self.hounds.explain(renderer), self.banners.explain(renderer)];
        facts.map(|fact| format!("{} merged with {} crowds", fact.model, fact.merged - 1)).to_vec()
    }
}

fn mirror<M>(crowd: &Crowd<M>, ids: &[InstanceId]) -> Result<(), Error> {
    let mirrored = |id: &InstanceId| {
        let [x, y, z] = crowd.transform(*id).map_or([0.0; 3], |transform| transform.translation);
        Transform::at([-x, y + 0.2, 0.8 * z]).facing(2.0)
    };
    crowd.set_transforms(ids, &ids.iter().map(mirrored).collect::<Vec<_>>())
}
