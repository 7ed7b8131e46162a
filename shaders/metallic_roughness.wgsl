// glTF's metallic-roughness model: Cook-Torrance with GGX (glTF 2.0 specification, appendix B), with
// compensation for light that is scattered several times between microfacets.

// Red: directional albedo of GGX with a Fresnel term of 1, single scattering. Green: its part that is
// multiplied with (1 - f0). Columns: square root of dot(normal, to eye). Rows: roughness.
@group(0) @binding(3) var ggx_albedo_table: texture_2d<f32>;
@group(0) @binding(4) var ggx_albedo_sampler: sampler;

// Below this roughness, highlights are smaller than f32 resolves.
const MIN_ROUGHNESS = 0.045;
const GGX_TABLE_SIDE = 32.0;

// Point of a surface.
struct SurfacePoint {
    // World space.
    position: vec3<f32>,
    // Unit normals on the visible side: of the mesh, and with the normal map.
    face_normal: vec3<f32>,
    normal: vec3<f32>,
    // Unit vector.
    to_eye: vec3<f32>,
    base_color: vec3<f32>,
    metallic: f32,
    roughness: f32,
    // Fraction of the ambient light that reaches the surface.
    occlusion: f32,
    emitted: vec3<f32>,
}

// Values of a point that do not depend on the light.
struct Reflectance {
    roughness: f32,
    n_dot_v: f32,
    diffuse: vec3<f32>,
    bounces_dielectric: DielectricColor,
    bounces_metal: vec3<f32>,
}

// pi * D * V: distribution and visibility of GGX microfacets (Walter et al. 2007; Heitz 2014, height-correlated).
fn ggx(n_dot_l: f32, n_dot_v: f32, n_dot_h: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let f = (n_dot_h * a2 - n_dot_h) * n_dot_h + 1.0;
    let masking = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    let shadowing = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    return a2 / (f * f) * 0.5 / (masking + shadowing);
}

// Directional albedo of GGX: see ggx_albedo_table.
fn ggx_albedo(n_dot_v: f32, roughness: f32) -> vec2<f32> {
    let at = vec2<f32>(sqrt(n_dot_v), roughness) * ((GGX_TABLE_SIDE - 1.0) / GGX_TABLE_SIDE) + 0.5 / GGX_TABLE_SIDE;
    return textureSampleLevel(ggx_albedo_table, ggx_albedo_sampler, at, 0.0).rg;
}

// Radiance of a point towards the eye. Dielectric and metal are mixed as the specification does. Light that
// leaves the microfacets after several bounces is added to the specular part: 1 + f0 * (1 / albedo - 1)
// (S. Lagarde and E. Golubev 2018, "The road toward unified rendering with Unity's HDRP"). A dielectric
// base gets the light that its specular layer does not reflect, so that no energy is gained or lost.
fn radiance_of(point: SurfacePoint) -> vec3<f32> {
    let roughness = clamp(point.roughness, MIN_ROUGHNESS, 1.0);
    let n = point.normal;
    let v = point.to_eye;
    let n_dot_v = clamp(dot(n, v), 1e-3, 1.0);
    let albedo = ggx_albedo(n_dot_v, roughness);
    let lost = 1.0 / albedo.r - 1.0;
    let f0 = dielectric_f0();
    let f90 = dielectric_f90();
    let bounces_dielectric = 1.0 + f0 * lost;
    let bounces_metal = 1.0 + point.base_color * lost;
    let reflected_dielectric = (f0 * (albedo.r - albedo.g) + f90 * albedo.g) * bounces_dielectric;
    let reflected_metal = mix(vec3<f32>(albedo.g), vec3<f32>(albedo.r), point.base_color) * bounces_metal;
    let diffuse = point.base_color * ((1.0 - point.metallic) * (1.0 - strongest(reflected_dielectric)));

    // Ambient light.
    let reflected = mix(vec3<f32>(reflected_dielectric), reflected_metal, point.metallic);
    let environment = gpuskin_reflected(n, v, point.roughness);
    var light = point.occlusion * (diffuse * gpuskin_ambient(n) + reflected * environment);
    light = ambient_with_sheen(light, point, n_dot_v); // if sheen

    // The sun.
    let response = Reflectance(roughness, n_dot_v, diffuse, bounces_dielectric, bounces_metal);
    let l = gpuskin_lighting.to_sun;
    // Negative where it is not needed so far: a coat has other normals, those of the mesh.
    var sun_visible = -1.0;
    if (receives_light(dot(n, l))) {
        sun_visible = gpuskin_sun_visibility(point.position, point.face_normal);
        light += direct_light(point, response, l, gpuskin_lighting.sun * sun_visible);
    }
    return coated(add_lights(light, point, response) + point.emitted, point, sun_visible); // unless sheen
    return coated(add_lights(light, point, response) + below_sheen * point.emitted, point, sun_visible); // if sheen
}
