//! Tint masks, variants and crossfades, in bone mode and in vertex mode.

use gpuskin_rt::{
    BakedModel, Camera, Clip, Crowd, Error, Field, FieldDescriptor, Instance, ModelVariant, Time, Transition,
};

use super::baked::models::{Banner, VertexBanner};
use super::baked::{clips, variants};
use super::scene::{Scene, Stage, TIME};

/// Tints of red and blue.
const TINTS: [[f32; 4]; 2] = [[1.0, 0.1, 0.1, 1.0], [0.2, 0.3, 1.0, 1.0]];

/// A row of banners in bone mode, one in vertex mode below it, and behind them a field in vertex mode.
pub(super) struct Banners {
    _bones: Crowd<Banner>,
    _vertices: Crowd<VertexBanner>,
    _field: Field<VertexBanner>,
}

impl Banners {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let [wave, hang] = [clips::BANNER_WAVE, clips::BANNER_HANG];
        let bones = row(stage, 0.1, variants::BANNER_PAINTED, [wave, hang])?;
        let [wave, hang] = [clips::VERTEX_BANNER_WAVE, clips::VERTEX_BANNER_HANG];
        let vertices = row(stage, -2.05, variants::VERTEX_BANNER_PAINTED, [wave, hang])?;
        let field = FieldDescriptor {
            origin: [-4.5, -1.0, -5.0],
            size: [6, 1],
            spacing: [1.6, 1.6],
            scale: [1.2, 1.6],
            tints: TINTS,
            random_variants: true,
            clips: vec![wave],
            ..Default::default()
        };
        Ok(Self { _bones: bones, _vertices: vertices, _field: Field::new(stage.renderer, field)? })
    }
}

impl Scene for Banners {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 0.0, 5.5], [0.0; 3], 0.75, 4.0 / 3.0, 0.1, 60.0)
    }
}

/// From the left: no tint, a tint, another variant in the middle of a crossfade, another variant with a tint.
fn row<M: BakedModel>(
    stage: &mut Stage<'_>,
    y: f32,
    painted: ModelVariant<M>,
    [wave, hang]: [Clip<M>; 2],
) -> Result<Crowd<M>, Error> {
    let crowd = stage.crowd(4)?;
    let at = |x: f32| Instance::at([x, y, 0.0]).facing(-0.3).starting(Time::ZERO);
    crowd.spawn(at(-2.4).play(wave));
    crowd.spawn(at(-1.1).play(wave).phase(0.4).tinted(TINTS[0]));
    let fading = crowd.spawn(at(0.2).play(wave).variant(painted));
    crowd.spawn(at(1.5).play(hang).variant(painted).tinted(TINTS[1]));
    stage.renderer.set_time(TIME - 0.3);
    crowd.play(fading, hang, Transition::crossfade(0.6))?;
    Ok(crowd)
}
