//! Light, fog and exposure of the metallic-roughness material, and their layout in the shaders.
//!
//! Colours are linear RGB with the primaries of sRGB. Units are lux for illuminance and nits (candela per
//! square metre) for radiance and emitted light. Any other unit works too, if all use the same: the picture
//! shows radiance times [`Lighting::exposure`], and 1 is the brightest value of a display.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::environment::Environment;

/// Light, fog and exposure of [`Shading::MetallicRoughness`](crate::Shading::MetallicRoughness). The default
/// is a sun in a clear sky, for an exposure of 1.
///
/// Values that are not finite or negative are drawn as the nearest valid value, NaN as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lighting {
    /// Directional light.
    pub sun: Sun,
    /// Light from all directions.
    pub ambient: Ambient,
    /// Fog between the camera and surfaces; drawn with
    /// [`LightingFeatures::fog`](crate::LightingFeatures::fog).
    pub fog: Fog,
    /// Factor from radiance to the picture, before tone mapping; see [`Lighting::exposure_of_ev100`].
    pub exposure: f32,
}

/// Directional light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Direction towards the sun, world space; any length but zero.
    pub to_sun: [f32; 3],
    /// Colour, linear RGB.
    pub color: [f32; 3],
    /// Illuminance of a surface that faces the sun, lux. Pi makes a white surface shine with
    /// [`Sun::color`].
    pub illuminance: f32,
}

/// Point light or spot light, with the falloff of glTF's `KHR_lights_punctual`. Drawn with
/// [`LightingFeatures::lights`](crate::LightingFeatures::lights).
///
/// Values that are not finite or negative are drawn as the nearest valid value, NaN as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PunctualLight {
    /// Position, world space, metres.
    pub position: [f32; 3],
    /// Colour, linear RGB.
    pub color: [f32; 3],
    /// Luminous intensity, candela: the illuminance in lux at a distance of 1 m.
    pub intensity: f32,
    /// Distance at which the light ends, metres. `None`: it falls with the square of the distance and never ends, and each
    /// pixel computes it.
    pub range: Option<f32>,
    /// Cone of a spot light; `None` for a point light.
    pub cone: Option<LightCone>,
    /// Whether the light casts shadows, if [`LightingFeatures::light_shadows`](crate::LightingFeatures::light_shadows) has
    /// room for it: one tile for a spot light, six for a point light. A surface within 5 cm of the
    /// light, or within 1 % of its range if that is less, casts none.
    pub shadow: bool,
}

/// Cone of a spot light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightCone {
    /// Direction of the light, world space; any length but zero.
    pub direction: [f32; 3],
    /// Angle from the axis up to which the light has its full intensity, radians.
    pub inner: f32,
    /// Angle from the axis at which the light ends, radians, at most pi/2.
    pub outer: f32,
}

/// Light from all directions: spherical harmonics up to the second order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambient {
    /// Irradiance over pi, times the constants of the basis: 1; y; z; x; xy; yz; 3zz - 1; zx; xx - yy.
    coefficients: [[f32; 3]; 9],
}

/// Fog between the camera and surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fog {
    /// Radiance of dense fog, linear RGB, nits.
    pub color: [f32; 3],
    /// Radiance that dense fog has in addition in the direction of the sun, linear RGB, nits. It falls with the
    /// fourth power of the cosine.
    pub sun_glow: [f32; 3],
    /// Density by distance and height.
    pub density: FogDensity,
}

/// Density of fog by distance and height. Distances are metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum FogDensity {
    /// No fog.
    #[default]
    None,
    /// Grows from nothing at a distance of `start` from the camera to its full strength at `end`.
    Linear {
        /// Distance from the camera at which fog starts, metres.
        start: f32,
        /// Distance at which only fog is visible, metres.
        end: f32,
    },
    /// Uniform density: the share of light that passes is exp(-density * distance).
    Exponential {
        /// Optical density per metre.
        density: f32,
    },
    /// Falls with the height: density * exp(-(y - height) / falloff).
    Height {
        /// Optical density per metre at `height`.
        density: f32,
        /// Height of that density, world space, metres.
        height: f32,
        /// Height over which the density falls to 1/e, metres.
        falloff: f32,
    },
}

/// Curve from exposed radiance to the picture, for those who draw straight to the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToneMapping {
    /// Exposed radiance, linear: for a float target that the game maps itself.
    #[default]
    None,
    /// Khronos PBR Neutral: colours below 0.76 keep their hue and saturation, brighter ones roll off.
    Neutral,
    /// A filmic curve with contrast (K. Narkowicz's fit of ACES).
    Aces,
}

impl Default for Lighting {
    fn default() -> Self {
        Self {
            sun: Sun { to_sun: [0.4, 0.8, 0.45], color: [0.85, 0.8, 0.7], illuminance: core::f32::consts::PI },
            ambient: Ambient::sky([0.3, 0.36, 0.45], [0.14, 0.12, 0.1]),
            fog: Fog::default(),
            exposure: 1.0,
        }
    }
}

impl Lighting {
    /// Returns the exposure of a camera at an exposure value for ISO 100: 1 / (1.2 * 2^ev100). 15 suits a
    /// sunny day of 100,000 lux, 5 a room.
    pub fn exposure_of_ev100(ev100: f32) -> f32 {
        1.0 / (1.2 * ev100.exp2())
    }
}

impl Ambient {
    /// Radiance of white surfaces that face up and down.
    pub(crate) fn up_and_down(&self) -> [[f32; 3]; 2] {
        let [mean, up] = [0, 1].map(|i| Vec3::from(self.coefficients[i]));
        [mean + up, mean - up].map(|color| color.max(Vec3::ZERO).into())
    }

    /// No ambient light.
    pub const NONE: Self = Self { coefficients: [[0.0; 3]; 9] };

    /// Uniform radiance from all directions, linear RGB, nits.
    pub const fn uniform(radiance: [f32; 3]) -> Self {
        let mut coefficients = [[0.0; 3]; 9];
        coefficients[0] = radiance;
        Self { coefficients }
    }

    /// Light of a sky above and a ground below, linear RGB, nits: the radiance of white surfaces that face up
    /// and down. Surfaces in between get a mixture.
    pub fn sky(sky: [f32; 3], ground: [f32; 3]) -> Self {
        let mut coefficients = [[0.0; 3]; 9];
        let [sky, ground] = [sky, ground].map(Vec3::from);
        coefficients[0] = (0.5 * (sky + ground)).into();
        coefficients[1] = (0.5 * (sky - ground)).into();
        Self { coefficients }
    }

    /// Light of a baked environment. For its reflections, pass it to
    /// [`CrowdRenderer::set_environment`](crate::CrowdRenderer::set_environment) too.
    pub fn environment(environment: &Environment) -> Self {
        Self::harmonics(environment.radiance)
    }

    /// Light of an environment from the coefficients of its radiance, nits, in real orthonormal spherical
    /// harmonics with y up: bands 0, 1 (y, z, x) and 2 (xy, yz, 3zz - 1, zx, xx - yy).
    pub fn harmonics(radiance: [[f32; 3]; 9]) -> Self {
        // Constants of the basis, times the factors of a cosine lobe over pi: 1, 2/3, 1/4
        // (Ramamoorthi and Hanrahan 2001).
        const FACTORS: [f32; 9] = [
            0.282_095,
            0.488_603 * 2.0 / 3.0,
            0.488_603 * 2.0 / 3.0,
            0.488_603 * 2.0 / 3.0,
            1.092_548 / 4.0,
            1.092_548 / 4.0,
            0.315_392 / 4.0,
            1.092_548 / 4.0,
            0.546_274 / 4.0,
        ];
        Self { coefficients: core::array::from_fn(|i| (Vec3::from(radiance[i]) * FACTORS[i]).into()) }
    }
}

/// Largest number of a light or an exposure: products of it stay finite in the shaders.
const MAX: f32 = 1e9;

/// Returns a number in 0..=[`MAX`]; 0 for NaN.
fn positive(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(0.0, MAX) }
}

/// Returns a number in -[`MAX`]..=[`MAX`]; 0 for NaN.
fn bounded(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(-MAX, MAX) }
}

/// Layout of `GpuskinLighting` in `shaders/lighting.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LightingUniform {
    pub(crate) to_sun: [f32; 3],
    pub(crate) exposure: f32,
    pub(crate) sun: [f32; 3],
    pub(crate) fog_density: f32,
    pub(crate) fog_color: [f32; 3],
    pub(crate) fog_start: f32,
    pub(crate) fog_glow: [f32; 3],
    pub(crate) fog_slope: f32,
    pub(crate) fog_height: f32,
    pub(crate) fog_falloff: f32,
    pub(crate) environment_top: f32,
    padding: f32,
    pub(crate) ambient: [[f32; 4]; 9],
}

impl LightingUniform {
    /// `environment_top`: coarsest mip level of the environment map.
    pub(crate) fn new(lighting: &Lighting, environment_top: f32) -> Self {
        let Lighting { sun, ambient, fog, exposure } = lighting;
        let sunlight = sun.color.map(|c| positive(positive(c) * positive(sun.illuminance) / core::f32::consts::PI));
        let mut uniform = Self {
            to_sun: sun.direction().into(),
            exposure: positive(*exposure),
            environment_top,
            sun: sunlight,
            ambient: ambient.coefficients.map(|[r, g, b]| [bounded(r), bounded(g), bounded(b), 0.0]),
            ..Self::zeroed()
        };
        (uniform.fog_color, uniform.fog_glow) = (fog.color.map(positive), fog.sun_glow.map(positive));
        match fog.density {
            FogDensity::None => {}
            FogDensity::Linear { start, end } => {
                let [start, end] = [start, end].map(positive);
                (uniform.fog_start, uniform.fog_slope) = (start, 1.0 / (end - start).max(1e-3));
            }
            FogDensity::Exponential { density } => uniform.fog_density = positive(density),
            FogDensity::Height { density, height, falloff } => {
                uniform.fog_density = positive(density);
                (uniform.fog_height, uniform.fog_falloff) = (bounded(height), 1.0 / positive(falloff).max(1e-3));
            }
        }
        uniform
    }
}

impl Default for PunctualLight {
    /// A white point light of 1 candela at the origin, without end and without shadows.
    fn default() -> Self {
        Self { position: [0.0; 3], color: [1.0; 3], intensity: 1.0, range: None, cone: None, shadow: false }
    }
}

impl PunctualLight {
    /// Whether the light lights nothing.
    pub(crate) fn is_dark(&self) -> bool {
        positive(self.intensity) == 0.0 || self.color.iter().all(|c| positive(*c) == 0.0)
    }

    /// Position with finite coordinates.
    pub(crate) fn bounded_position(&self) -> Vec3 {
        self.position.map(bounded).into()
    }

    /// Distance at which the light ends, metres.
    pub(crate) fn end(&self) -> Option<f32> {
        self.range.map(|range| positive(range).max(1e-3))
    }

    /// Unit vector along the axis of the cone; down without a usable one.
    pub(crate) fn direction(&self) -> Vec3 {
        self.cone.map_or(Vec3::NEG_Y, |cone| Vec3::from(cone.direction).normalize_or(Vec3::NEG_Y))
    }

    /// Angle from the axis at which a spot light ends, radians, 0..=pi/2; `None` for a point light.
    pub(crate) fn outer_angle(&self) -> Option<f32> {
        self.cone.map(|cone| positive(cone.outer).min(core::f32::consts::FRAC_PI_2))
    }
}

/// Layout of `GpuskinLight` in `shaders/lights.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PunctualUniform {
    pub(crate) position: [f32; 3],
    pub(crate) falloff: f32,
    pub(crate) color: [f32; 3],
    pub(crate) cone_scale: f32,
    pub(crate) direction: [f32; 3],
    pub(crate) cone_offset: f32,
}

impl PunctualUniform {
    pub(crate) fn new(light: &PunctualLight) -> Self {
        let intensity = positive(light.intensity) / core::f32::consts::PI;
        let [cone_scale, cone_offset] = light.cone.zip(light.outer_angle()).map_or([0.0, 1.0], |(cone, outer)| {
            let [inner, outer] = [positive(cone.inner).min(outer), outer].map(f32::cos);
            let scale = 1.0 / (inner - outer).max(1e-3);
            [scale, -outer * scale]
        });
        Self {
            position: light.bounded_position().into(),
            falloff: light.end().map_or(0.0, |range| 1.0 / (range * range)),
            color: light.color.map(|c| positive(positive(c) * intensity)),
            cone_scale,
            direction: light.direction().into(),
            cone_offset,
        }
    }
}

impl Sun {
    /// Unit vector towards the sun; up if the direction is unusable.
    pub(crate) fn direction(&self) -> Vec3 {
        Vec3::from(self.to_sun).normalize_or(Vec3::Y)
    }
}
