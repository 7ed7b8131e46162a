//! Surfaces whose textures have two sources of coordinates, in bone mode and in vertex mode.

use gpuskin_rt::{BakedModel, Camera, Clip, Crowd, Error, Field, FieldDescriptor, Instance, Time};

use super::baked::clips;
use super::baked::models::{Plaster, VertexPlaster};
use super::scene::{Scene, Stage};

/// Two columns in bone mode, two in vertex mode, and above them a field of columns.
pub(super) struct Plasters {
    _bones: Crowd<Plaster>,
    _vertices: Crowd<VertexPlaster>,
    _field: Field<Plaster>,
}

impl Plasters {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let bones = pair(stage, -1.8, clips::PLASTER_TURN)?;
        let vertices = pair(stage, 0.6, clips::VERTEX_PLASTER_TURN)?;
        let field = FieldDescriptor {
            origin: [-2.5, 1.75, -0.5],
            size: [4, 1],
            spacing: [1.3, 1.3],
            scale: [0.9, 1.1],
            clips: vec![clips::PLASTER_TURN],
            ..Default::default()
        };
        Ok(Self { _bones: bones, _vertices: vertices, _field: Field::new(stage.renderer, field)? })
    }
}

impl Scene for Plasters {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 0.85, 4.6], [0.0, 0.85, 0.0], 0.75, 4.0 / 3.0, 0.1, 60.0)
    }
}

fn pair<M: BakedModel>(stage: &mut Stage<'_>, x: f32, turn: Clip<M>) -> Result<Crowd<M>, Error> {
    let crowd = stage.crowd(2)?;
    let at = |x: f32| Instance::at([x, 0.0, 0.0]).scaled(0.95).starting(Time::ZERO).play(turn);
    crowd.spawn_many([at(x), at(x + 1.2).phase(0.4)]);
    Ok(crowd)
}
