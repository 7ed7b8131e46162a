//! Models of the demo.

use crowd::baked::models::{Hound, Soldier};
use gpuskin_rt::{
    BakedModel, Camera, Clip, Crowd, Error, Fog, FogDensity, Instance, LightShadowDescriptor, Lighting,
    LightingFeatures, PunctualLight, Repeat, ShadowDescriptor, Time, ToneMapping,
};

use super::scene::{Scene, Stage};

/// Number of point lights: as many as WebGL2 can have.
const LIGHTS: u32 = 341;

/// Soldiers and hounds that play all clips.
pub(super) struct Demo {
    _soldiers: Crowd<Soldier>,
    _hounds: Crowd<Hound>,
}

impl Demo {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        Ok(Self { _soldiers: soldiers(stage, 12, -0.6)?, _hounds: hounds(stage)? })
    }

    /// Makes the scene in fog and in the light of [`LIGHTS`] lamps.
    pub(super) fn lit(stage: &mut Stage<'_>) -> Result<Self, Error> {
        let density = FogDensity::Exponential { density: 0.03 };
        let fog = Fog { color: [0.3, 0.35, 0.4], sun_glow: [0.0; 3], density };
        stage.renderer.set_lights(&lights())?;
        stage.renderer.set_lighting(&Lighting { fog, ..Default::default() });
        Self::new(stage)
    }
}

impl Scene for Demo {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 2.2, 5.0], [0.0, 0.8, 0.0], 0.8, 4.0 / 3.0, 0.1, 60.0)
    }
}

/// Features of the lit picture.
pub(super) fn features() -> LightingFeatures {
    LightingFeatures {
        shadows: Some(ShadowDescriptor { cascades: 2, size: 512, distance: 20.0, caster_distance: 20.0 }),
        light_shadows: Some(LightShadowDescriptor { tiles: 6, size: 128 }),
        lights: LIGHTS,
        fog: true,
        tone_mapping: ToneMapping::Neutral,
        ..Default::default()
    }
}

/// Lights around the models; the first one casts shadows.
fn lights() -> Vec<PunctualLight> {
    let lamp = |i: u32| {
        let [x, y, z] = [0.618_034, 0.754_878, 0.569_84].map(|step| (i as f32 * step).fract());
        let (intensity, range, shadow) = if i == 0 { (6.0, Some(8.0), true) } else { (0.6, Some(0.8), false) };
        let position = [6.0 * x - 3.0, 2.2 * y + 0.1, 5.0 * z - 3.5];
        PunctualLight { position, color: [x, 1.0 - y, z], intensity, range, shadow, cone: None }
    };
    (0..LIGHTS).map(lamp).collect()
}

/// Rows of soldiers that play all clips.
pub(super) fn soldiers(stage: &mut Stage<'_>, count: u32, first_z: f32) -> Result<Crowd<Soldier>, Error> {
    let crowd = stage.crowd(count)?;
    let clips = Soldier::MODEL.meta.clips().len() as u32;
    for i in 0..count {
        let (column, row) = ((i % 4) as f32, (i / 4) as f32);
        let instance = Instance::at([1.1 * (column - 1.5), 0.0, first_z - 1.3 * row]).facing(0.4 * column - 0.5);
        let instance = instance.play(Clip::new((i % clips) as u16)).repeat(Repeat::Loop);
        crowd.spawn(instance.starting(Time::ZERO).phase(0.17 * i as f32));
    }
    Ok(crowd)
}

fn hounds(stage: &mut Stage<'_>) -> Result<Crowd<Hound>, Error> {
    let crowd = stage.crowd(2)?;
    for (i, x) in [-1.3, 1.2].into_iter().enumerate() {
        let instance = Instance::at([x, 0.0, 0.9]).facing(0.9 - x).play(Clip::new(i as u16)).repeat(Repeat::Loop);
        crowd.spawn(instance.starting(Time::ZERO).phase(0.3 * i as f32));
    }
    Ok(crowd)
}
