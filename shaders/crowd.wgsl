// The renderer's own material and its depth pass. The model is group 1.

// Twin of ViewUniform in gpuskin-rt/src/render/view.rs.
struct View {
    // World to clip space.
    view_proj: mat4x4<f32>,
    // Where the camera stands, metres.
    eye: vec3<f32>,
}

// Twin of SceneUniform in gpuskin-rt/src/render/view.rs. Colours are linear.
struct Scene {
    // The moment that is drawn: seconds, fraction.
    clock: vec2<u32>,
    // How far the sun's light reaches around to the dark side: 0 is Lambert, 1 half-Lambert.
    wrap: f32,
    // Unit vector towards the sun.
    to_sun: vec3<f32>,
    sun: vec3<f32>,
    // Ambient light from above and from below.
    sky: vec3<f32>,
    ground: vec3<f32>,
}

// Twin of MaterialUniform in gpuskin-rt/src/render/material.rs.
struct Material {
    base_color: vec4<f32>,
    alpha_cutoff: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> scene: Scene;
@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_color_texture: texture_2d<f32>;
@group(2) @binding(2) var base_color_sampler: sampler;

struct Varyings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, scene.clock);
    return Varyings(view.view_proj * vec4<f32>(skinned.position, 1.0), skinned.uv, skinned.normal);
}

// base colour factor * texture; light = ambient by height + sun, wrapped: max((n.l + w) / (1 + w), 0).
fn shade(base_color: vec4<f32>, surface_normal: vec3<f32>, front: bool) -> vec4<f32> {
    let normal = normalize(select(-surface_normal, surface_normal, front));
    let ambient = mix(scene.ground, scene.sky, normal.y * 0.5 + 0.5);
    let sun = scene.sun * max((dot(normal, scene.to_sun) + scene.wrap) / (1.0 + scene.wrap), 0.0);
    return vec4<f32>(base_color.rgb * (ambient + sun), base_color.a);
}

@fragment
fn fragment(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base_color = textureSample(base_color_texture, base_color_sampler, varyings.uv) * material.base_color;
    return shade(base_color, varyings.normal, front);
}

@fragment
fn fragment_masked(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let base_color = textureSample(base_color_texture, base_color_sampler, varyings.uv) * material.base_color;
    if (base_color.a < material.alpha_cutoff) {
        discard;
    }
    return shade(base_color, varyings.normal, front);
}

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

// For shadow maps and depth passes. Without a fragment shader, or with fragment_depth_masked.
@vertex
fn vertex_depth(input: GpuskinInput) -> DepthVaryings {
    let skinned = gpuskin_skin_vertex(input, scene.clock);
    return DepthVaryings(view.view_proj * vec4<f32>(skinned.position, 1.0), skinned.uv);
}

@fragment
fn fragment_depth_masked(varyings: DepthVaryings) {
    let base_color = textureSample(base_color_texture, base_color_sampler, varyings.uv) * material.base_color;
    if (base_color.a < material.alpha_cutoff) {
        discard;
    }
}
