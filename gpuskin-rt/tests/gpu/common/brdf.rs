//! The metallic-roughness material in `f64`, evaluated without tables: reference of `shaders/metallic_roughness.wgsl`.

use core::f64::consts::PI;

use glam::DVec3;
use gpuskin_rt::internals::Lighting;

/// A point of a surface. Vectors have unit length.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    pub normal: DVec3,
    pub to_eye: DVec3,
    pub base_color: DVec3,
    pub metallic: f64,
    pub roughness: f64,
    /// Reflectance of the dielectric at normal and at grazing incidence.
    pub f0: DVec3,
    pub f90: f64,
    /// Strength and roughness of the clear coat.
    pub coat: [f64; 2],
    pub coat_normal: DVec3,
    pub sheen: Option<Sheen>,
    pub occlusion: f64,
    pub emitted: DVec3,
}

/// Sheen of a point, under its coat.
#[derive(Clone, Copy, Debug)]
pub struct Sheen {
    pub color: DVec3,
    pub roughness: f64,
    /// Directional albedo of its distribution in white.
    pub albedo: f64,
}

impl Sheen {
    pub fn new(color: DVec3, roughness: f64, n_dot_v: f64) -> Option<Self> {
        let roughness = roughness.max(0.07);
        let albedo = sheen_albedo(n_dot_v, roughness);
        color.cmpgt(DVec3::ZERO).any().then_some(Self { color, roughness, albedo })
    }

    /// Share of uniform ambient light that is reflected.
    fn reflected(&self) -> DVec3 {
        self.color * self.albedo.min(1.0)
    }
}

/// Masking of fibres, as fitted by Conty Estevez and Kulla.
fn sheen_masking(cosine: f64, alpha: f64) -> f64 {
    let t = (1.0 - alpha).powi(2);
    let mix = |rough: f64, smooth: f64| rough + (smooth - rough) * t;
    let exponent = |x: f64| {
        let fraction = mix(21.5473, 25.3245) / (1.0 + mix(3.82987, 3.32435) * x.powf(mix(0.19823, 0.16801)));
        fraction + mix(-1.97760, -1.27393) * x + mix(-4.32054, -4.85967)
    };
    if cosine < 0.5 { exponent(cosine).exp() } else { (2.0 * exponent(0.5) - exponent(1.0 - cosine)).exp() }
}

/// Distribution and visibility of fibres, times pi and the cosine of the light's angle.
fn sheen_lobe(n_dot_l: f64, n_dot_v: f64, n_dot_h: f64, roughness: f64) -> f64 {
    let alpha = roughness * roughness;
    let distribution = (2.0 + 1.0 / alpha) * (1.0 - n_dot_h * n_dot_h).max(0.0).powf(0.5 / alpha) / (2.0 * PI);
    let masking = 1.0 + sheen_masking(n_dot_v, alpha) + sheen_masking(n_dot_l, alpha);
    PI * distribution / (4.0 * n_dot_v * n_dot_l * masking) * n_dot_l
}

/// Integral of [`sheen_lobe`] over all directions of light.
pub fn sheen_albedo(n_dot_v: f64, roughness: f64) -> f64 {
    const STEPS: u32 = 256;
    let v = DVec3::new((1.0 - n_dot_v * n_dot_v).max(0.0).sqrt(), 0.0, n_dot_v);
    let step = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    let of_light = |i: u32| {
        // Squared: most of the light comes from the horizon.
        let (n_dot_l, width) = (step(i).powi(2), 2.0 * step(i) / f64::from(STEPS));
        let lobe = |turn: u32| {
            let (sin, cos) = (PI * step(turn)).sin_cos();
            let across = (1.0 - n_dot_l * n_dot_l).sqrt();
            let h = (DVec3::new(across * cos, across * sin, n_dot_l) + v).normalize();
            sheen_lobe(n_dot_l, n_dot_v, h.z, roughness)
        };
        (0..STEPS).map(lobe).sum::<f64>() * 2.0 / f64::from(STEPS) * width
    };
    (0..STEPS).map(of_light).sum()
}

/// Visibility and distribution of GGX, times pi.
fn ggx(n_dot_l: f64, n_dot_v: f64, n_dot_h: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    let f = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    let masking = n_dot_l * (n_dot_v * n_dot_v * (1.0 - a2) + a2).sqrt();
    let shadowing = n_dot_v * (n_dot_l * n_dot_l * (1.0 - a2) + a2).sqrt();
    a2 / (f * f) * 0.5 / (masking + shadowing)
}

/// Directional albedo with a Fresnel term of 1, and the integral of (1 - dot(v, h))^5.
pub fn albedo(n_dot_v: f64, roughness: f64) -> [f64; 2] {
    const SAMPLES: u32 = 16_384;
    let a2 = roughness.powi(4);
    let v = [(1.0 - n_dot_v * n_dot_v).max(0.0).sqrt(), n_dot_v];
    let mut sums = [0.0; 2];
    for i in 0..SAMPLES {
        let turn = 2.0 * PI * (f64::from(i) + 0.5) / f64::from(SAMPLES);
        let random = f64::from(i.reverse_bits()) / 4_294_967_296.0;
        let cos = ((1.0 - random) / (1.0 + (a2 - 1.0) * random)).sqrt();
        let v_dot_h = v[0] * (1.0 - cos * cos).sqrt() * turn.cos() + v[1] * cos;
        let n_dot_l = 2.0 * v_dot_h * cos - v[1];
        if n_dot_l > 0.0 && v_dot_h > 0.0 {
            let d = a2 / (PI * (cos * cos * (a2 - 1.0) + 1.0).powi(2));
            let weight = ggx(n_dot_l, n_dot_v, cos, roughness * roughness) / (PI * d) * n_dot_l * 4.0 * v_dot_h / cos;
            sums[0] += weight;
            sums[1] += weight * (1.0 - v_dot_h).powi(5);
        }
    }
    sums.map(|sum| sum / f64::from(SAMPLES))
}

/// Reflectance of a point for light from a direction: BRDF times pi, without the cosine. The coat has the same normal.
pub fn brdf(point: &SurfacePoint, to_light: DVec3, albedo: [f64; 2]) -> DVec3 {
    reflected_light(point, to_light, albedo) / point.normal.dot(to_light)
}

/// BRDF of a point times pi and the cosine, for each layer that of its own normal.
fn reflected_light(point: &SurfacePoint, to_light: DVec3, albedo: [f64; 2]) -> DVec3 {
    let roughness = point.roughness.clamp(0.045, 1.0);
    let (n, v, l) = (point.normal, point.to_eye, to_light);
    let h = (v + l).normalize();
    let n_dot_v = n.dot(v).clamp(1e-3, 1.0);
    let lost = 1.0 / albedo[0] - 1.0;
    let grazing = (1.0 - v.dot(h)).clamp(0.0, 1.0).powi(5);
    let fresnel = |f0: DVec3, f90: f64| (f0 + (f90 - f0) * grazing) * (1.0 + f0 * lost);
    let (dielectric, metal) = (fresnel(point.f0, point.f90), fresnel(point.base_color, 1.0));
    let lobe = ggx(n.dot(l), n_dot_v, n.dot(h).clamp(0.0, 1.0), roughness * roughness);
    let base = point.base_color * (1.0 - reflected(point.f0, point.f90, albedo).max_element());
    let mut below = (base + dielectric * lobe) * (1.0 - point.metallic) + metal * lobe * point.metallic;
    if let Some(sheen) = &point.sheen {
        let fibres = sheen_lobe(n.dot(l), n_dot_v, n.dot(h).clamp(0.0, 1.0), sheen.roughness) / n.dot(l);
        below = below * below_sheen(point) + sheen.color * fibres / sheen.albedo.max(1.0);
    }
    below = if n.dot(l) > 0.0 { below * n.dot(l) } else { DVec3::ZERO };
    let [strength, coat_roughness] = point.coat;
    if strength == 0.0 {
        return below;
    }
    let coat_roughness = coat_roughness.clamp(0.045, 1.0);
    let n = point.coat_normal;
    let n_dot_v = n.dot(v).clamp(1e-3, 1.0);
    let coat_albedo = self::albedo(n_dot_v, coat_roughness);
    let f = (0.04 + 0.96 * grazing) * (1.0 + 0.04 * (1.0 / coat_albedo[0] - 1.0));
    let coat = f * ggx(n.dot(l), n_dot_v, n.dot(h).clamp(0.0, 1.0), coat_roughness * coat_roughness);
    below * (1.0 - coat_reflected(point)) + if n.dot(l) > 0.0 { strength * coat * n.dot(l) } else { 0.0 }
}

/// Share of light that the sheen leaves to the surface below.
fn below_sheen(point: &SurfacePoint) -> f64 {
    point.sheen.map_or(1.0, |sheen| 1.0 - sheen.reflected().max_element())
}

/// Share of light from all directions that the clear coat reflects.
fn coat_reflected(point: &SurfacePoint) -> f64 {
    let albedo = albedo(point.coat_normal.dot(point.to_eye).clamp(1e-3, 1.0), point.coat[1].clamp(0.045, 1.0));
    point.coat[0] * reflected(DVec3::splat(0.04), 1.0, albedo).x
}

/// Share of light from all directions that the specular layer reflects.
pub fn reflected(f0: DVec3, f90: f64, albedo: [f64; 2]) -> DVec3 {
    (f0 * albedo[0] + (f90 - f0) * albedo[1]) * (1.0 + f0 * (1.0 / albedo[0] - 1.0))
}

/// Radiance of a point in the light of the sun and in uniform ambient light, without exposure.
pub fn radiance(point: &SurfacePoint, lighting: &Lighting, ambient: DVec3) -> DVec3 {
    let roughness = point.roughness.clamp(0.045, 1.0);
    let albedo = albedo(point.normal.dot(point.to_eye).clamp(1e-3, 1.0), roughness);
    let metal = reflected(point.base_color, 1.0, albedo) * point.metallic;
    let layer = reflected(point.f0, point.f90, albedo);
    let dielectric = (layer + point.base_color * (1.0 - layer.max_element())) * (1.0 - point.metallic);
    let to_sun = DVec3::from(lighting.sun.to_sun.map(f64::from)).normalize();
    let sun = DVec3::from(lighting.sun.color.map(f64::from)) * f64::from(lighting.sun.illuminance) / PI;
    let lit = sun * reflected_light(point, to_sun, albedo);
    let coat = coat_reflected(point);
    let base = ambient * (dielectric + metal) * point.occlusion + point.emitted;
    let fibres = point.sheen.map_or(DVec3::ZERO, |sheen| sheen.reflected());
    let below = base * below_sheen(point) + ambient * fibres * point.occlusion;
    lit + below * (1.0 - coat) + ambient * coat * point.occlusion
}
