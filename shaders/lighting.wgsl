// Camera, time and light of a view, for the renderer's material and for a game's own pipelines. Colours
// are linear, distances in metres.

// Layout of CullView in gpuskin-rt/src/cull.rs, without its last word.
struct GpuskinView {
    // World to clip space.
    view_proj: mat4x4<f32>,
    // Position of the camera, world space.
    eye: vec3<f32>,
}

// First words of SceneUniform in gpuskin-rt/src/render/view.rs.
struct GpuskinScene {
    // Current time: seconds, fraction. WebGL2 binds multiples of 16 bytes alone.
    @size(16) time: vec2<u32>,
}

// Layout of LightingUniform in gpuskin-rt/src/lighting.rs.
struct GpuskinLighting {
    // Unit vector towards the sun.
    to_sun: vec3<f32>,
    // Factor from radiance to the picture.
    exposure: f32,
    // Illuminance over pi: radiance of a white Lambert surface that faces the sun.
    sun: vec3<f32>,
    // Optical density of the fog per metre.
    fog_density: f32,
    fog_color: vec3<f32>,
    // Distance at which linear fog starts.
    fog_start: f32,
    // Radiance of fog in the direction of the sun, in addition.
    fog_glow: vec3<f32>,
    // Inverse of the depth of linear fog.
    fog_slope: f32,
    // Height of the given density, world space; inverse of the height over which it falls to 1/e.
    fog_height: f32,
    fog_falloff: f32,
    // Coarsest mip level of the environment map.
    environment_top: f32,
    // Irradiance over pi as coefficients of spherical harmonics, times the constants of the basis:
    // 1; y; z; x; xy; yz; 3zz - 1; zx; xx - yy.
    ambient: array<vec4<f32>, 9>,
}

@group(GROUP) @binding(0) var<uniform> gpuskin_view: GpuskinView;
@group(GROUP) @binding(1) var<uniform> gpuskin_scene: GpuskinScene;
@group(GROUP) @binding(2) var<uniform> gpuskin_lighting: GpuskinLighting;

// Spherical harmonics of the ambient light, with a factor per band (R. Ramamoorthi and P. Hanrahan 2001,
// "An Efficient Representation for Irradiance Environment Maps").
fn gpuskin_harmonics(n: vec3<f32>, band_1: f32, band_2: f32) -> vec3<f32> {
    let c = &gpuskin_lighting.ambient;
    let first = (*c)[1].rgb * n.y + (*c)[2].rgb * n.z + (*c)[3].rgb * n.x;
    let second = (*c)[4].rgb * (n.x * n.y)
        + (*c)[5].rgb * (n.y * n.z)
        + (*c)[6].rgb * (3.0 * n.z * n.z - 1.0)
        + (*c)[7].rgb * (n.z * n.x)
        + (*c)[8].rgb * (n.x * n.x - n.y * n.y);
    return max((*c)[0].rgb + band_1 * first + band_2 * second, vec3<f32>(0.0));
}

// Ambient irradiance over pi of a surface with this unit normal: radiance of a white Lambert surface.
fn gpuskin_ambient(normal: vec3<f32>) -> vec3<f32> {
    return gpuskin_harmonics(normal, 1.0, 1.0);
}
