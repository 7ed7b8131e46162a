//! A model that is read at run time.

use gpuskin_rt::{
    Camera, Clip, Crowd, CrowdDescriptor, Dynamic, Error, Field, FieldDescriptor, Instance, Model, Repeat, Time,
};

use super::scene::{Scene, Stage};

/// Hounds that play all clips, and a field of hounds behind them.
pub(super) struct ReadModel {
    _crowd: Crowd<Dynamic>,
    _field: Field<Dynamic>,
}

impl ReadModel {
    pub(super) fn new(stage: &mut Stage<'_>, hound: &Model) -> Result<Self, Error> {
        let descriptor = CrowdDescriptor { capacity: 3, path: stage.path, ..Default::default() };
        let crowd = Crowd::with_model(stage.renderer, hound, descriptor)?;
        let clips =
            ["idle", "walk", "run"].map(|name| crowd.meta().find::<Clip<Dynamic>>(name).unwrap_or(Clip::new(0)));
        for (clip, x) in clips.into_iter().zip([-1.2, 0.0, 1.2]) {
            let instance = Instance::at([x, 0.0, 1.0]).facing(0.9 - x).play(clip).repeat(Repeat::Loop);
            crowd.spawn(instance.starting(Time::ZERO).phase(0.3));
        }
        let field = FieldDescriptor {
            origin: [-4.0, 0.0, -3.0],
            size: [5, 1],
            spacing: [1.6, 1.6],
            clips: clips.to_vec(),
            ..Default::default()
        };
        Ok(Self { _crowd: crowd, _field: Field::with_model(stage.renderer, hound, field)? })
    }
}

impl Scene for ReadModel {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 1.4, 5.0], [0.0, 0.5, 0.0], 0.62, 4.0 / 3.0, 0.1, 60.0)
    }
}
