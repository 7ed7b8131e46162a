// Sheen over a surface, as of cloth (KHR_materials_sheen): fibres that stand up from it reflect light at grazing angles.
// Distribution and visibility: A. Conty Estevez and C. Kulla 2017, "Production Friendly Microfacet Sheen BRDF". The
// surface below gets the light that the sheen does not reflect.

// Smoother fibres reflect in a rim that is narrower than pixels. three.js has the same limit.
const MIN_SHEEN_ROUGHNESS = 0.07;

// Colour, and roughness in w.
var<private> sheen: vec4<f32>;
// Share of the light that reaches the surface below.
var<private> below_sheen: f32;
// Factor for direct light: the distribution would reflect more light than there is where its albedo exceeds 1.
var<private> sheen_scale: f32;

fn set_sheen(uv: vec2<f32>) {
    let value = clamp(material.sheen * sheen_texel(uv), vec4<f32>(0.0), vec4<f32>(1.0));
    sheen = vec4<f32>(value.rgb, max(value.a, MIN_SHEEN_ROUGHNESS));
}

// Exponent of the masking of fibres, as fitted in the publication.
fn sheen_exponent(x: f32, alpha: f32) -> f32 {
    let t = (1.0 - alpha) * (1.0 - alpha);
    let fraction = mix(21.5473, 25.3245, t) / (1.0 + mix(3.82987, 3.32435, t) * pow(x, mix(0.19823, 0.16801, t)));
    return fraction + mix(-1.97760, -1.27393, t) * x + mix(-4.32054, -4.85967, t);
}

fn sheen_masking(cosine: f32, alpha: f32) -> f32 {
    let low = cosine < 0.5;
    let exponent = sheen_exponent(max(select(1.0 - cosine, cosine, low), 1e-6), alpha);
    return exp(select(2.0 * sheen_exponent(0.5, alpha) - exponent, exponent, low));
}

// Reflectance of the sheen, times pi and the cosine of the light's angle.
fn sheen_lobe(n_dot_l: f32, n_dot_v: f32, n_dot_h: f32) -> vec3<f32> {
    let alpha = sheen.w * sheen.w;
    let distribution = (1.0 + 0.5 / alpha) * pow(max(1.0 - n_dot_h * n_dot_h, 1e-7), 0.5 / alpha);
    let masking = 1.0 + sheen_masking(n_dot_v, alpha) + sheen_masking(n_dot_l, alpha);
    return sheen.rgb * (sheen_scale * distribution / (4.0 * n_dot_v * masking));
}

// Directional albedo of the distribution with a white sheen. A fit of our own to the integral: off by at most 0.004, and
// by 0.4 % above 1.
fn sheen_albedo(n_dot_v: f32, roughness: f32) -> f32 {
    let s = 2.0 * pow(n_dot_v, 1.0 / 3.0) - 1.0;
    let t = 0.5 * log2(roughness) + 1.0;
    var e = -0.446;
    e = e * s + 0.7309 * t - 0.5018;
    e = e * s + (-0.9877 * t + 2.5695) * t - 1.7113;
    e = e * s + ((0.6776 * t - 3.064) * t + 3.928) * t - 1.4763;
    e = e * s + (((-0.1089 * t + 1.6819) * t - 4.2478) * t + 4.3639) * t - 2.2606;
    e = e * s + ((((0.062 * t - 0.3195) * t + 1.2885) * t - 3.0728) * t + 3.7686) * t - 2.9665;
    e = e * s + (((((-0.6008 * t - 0.3697) * t + 0.4968) * t + 1.1745) * t - 0.2205) * t + 0.0289) * t - 1.0615;
    return exp2(e);
}

// Ambient light that sheen and surface reflect, and values for direct light. Fibres get light from all sides: that of the
// normal's hemisphere.
fn ambient_with_sheen(light: vec3<f32>, point: SurfacePoint, n_dot_v: f32) -> vec3<f32> {
    let albedo = sheen_albedo(n_dot_v, sheen.w);
    let reflected = sheen.rgb * min(albedo, 1.0);
    sheen_scale = 1.0 / max(albedo, 1.0);
    below_sheen = 1.0 - max(max(reflected.r, reflected.g), reflected.b);
    return light * below_sheen + point.occlusion * reflected * gpuskin_ambient(point.normal);
}
