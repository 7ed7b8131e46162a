//! Spheres with all kinds of surfaces and deformations.

use gpuskin_rt::{Ambient, Camera, Clip, Crowd, Error, Field, FieldDescriptor, Instance, Lighting, Repeat, Time, Wind};

use super::baked::environments::SKY;
use super::baked::models::Surfaces;
use super::baked::variants::{SURFACES_BASE, SURFACES_PAINTED};
use super::scene::{Scene, Stage};

/// Four rows of spheres as a crowd.
pub(super) struct Spheres {
    _crowd: Crowd<Surfaces>,
    /// More spheres behind them.
    _field: Option<Field<Surfaces>>,
}

impl Spheres {
    pub(super) fn new(stage: &mut Stage<'_>) -> Result<Self, Error> {
        Ok(Self { _crowd: crowd(stage)?, _field: None })
    }

    /// Makes the scene with a field, in the light of an environment.
    pub(super) fn in_environment(stage: &mut Stage<'_>) -> Result<Self, Error> {
        stage.renderer.set_environment(Some(&SKY))?;
        stage.renderer.set_lighting(&Lighting { ambient: Ambient::environment(&SKY), ..Default::default() });
        Ok(Self { _field: Some(field(stage)?), ..Self::new(stage)? })
    }
}

impl Scene for Spheres {
    fn camera(&self) -> Camera {
        Camera::perspective_look_at([0.0, 0.0, 5.5], [0.0; 3], 0.75, 4.0 / 3.0, 0.1, 60.0)
    }
}

/// Two rows of spheres in their own look, and two in another variant with a tint.
fn crowd(stage: &mut Stage<'_>) -> Result<Crowd<Surfaces>, Error> {
    let crowd = stage.crowd(2)?;
    let looks = [(SURFACES_BASE, [1.0; 4]), (SURFACES_PAINTED, [1.0, 0.4, 0.8, 1.0])];
    for (y, (variant, tint)) in [1.0, -1.0].into_iter().zip(looks) {
        let instance = Instance::at([0.0, y, 0.0]).variant(variant).tinted(tint).play(Clip::new(0));
        crowd.spawn(instance.repeat(Repeat::Loop).starting(Time::ZERO));
    }
    Ok(crowd)
}

/// Spheres behind those of [`crowd`].
fn field(stage: &mut Stage<'_>) -> Result<Field<Surfaces>, Error> {
    let wind = Wind { size: 5.0, velocity: [1.0, 0.5], ..Default::default() };
    Field::new(
        stage.renderer,
        FieldDescriptor {
            origin: [-7.0, -1.0, -6.0],
            size: [7, 2],
            spacing: [2.0, 2.0],
            scale: [0.8, 1.6],
            tints: [[1.0, 1.0, 0.3, 1.0], [0.3, 1.0, 1.0, 1.0]],
            random_variants: true,
            wind: Some(wind),
            ..Default::default()
        },
    )
}
