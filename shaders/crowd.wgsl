// Material of the renderer, and its depth pass. The model is group 1.

// Layout of CullView in gpuskin-rt/src/cull.rs, without its last word.
struct View {
    // World to clip space.
    view_proj: mat4x4<f32>,
    // Position of the camera, world space, metres.
    eye: vec3<f32>,
}

// Layout of SceneUniform in gpuskin-rt/src/render/view.rs. Colours are linear.
struct Scene {
    // Current time: seconds, fraction.
    time: vec2<u32>,
    // Wrap of the sunlight around to the dark side: 0 is Lambert, 1 half-Lambert.
    wrap: f32,
    // Unit vector towards the sun.
    to_sun: vec3<f32>,
    sun: vec3<f32>,
    // Ambient light from above; then from below.
    sky: vec3<f32>,
    ground: vec3<f32>,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> scene: Scene;

// Flat shading: each triangle has one normal, from the positions of its corners.
override flat_triangles: bool = false;

@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, scene.time);
    let position = view.view_proj * vec4<f32>(skinned.position, 1.0);
    let normal = select(skinned.normal, skinned.position - view.eye, flat_triangles);
    return varyings_of(position, normal, skinned, input);
}

// Emissive factor * texture.
fn emitted(varyings: Varyings) -> vec3<f32> {
    return emissive_sampled(varyings.uv).rgb * material.emissive; // unless second uv
    return emissive_sampled(varyings.second_uv).rgb * material.emissive; // if second uv
}

// Unit normal on the visible side.
fn seen_normal(varyings: Varyings, front: bool) -> vec3<f32> {
    if (flat_triangles) {
        // Screen down cross screen right points towards the viewer.
        return normalize(cross(dpdy(varyings.normal), dpdx(varyings.normal)));
    }
    return normalize(select(-varyings.normal, varyings.normal, front));
}

// Base colour * light = ambient by height + sun, wrapped: max((n.l + w) / (1 + w), 0).
fn shade(color: vec4<f32>, normal: vec3<f32>) -> vec4<f32> {
    let ambient = mix(scene.ground, scene.sky, normal.y * 0.5 + 0.5);
    let sun = scene.sun * max((dot(normal, scene.to_sun) + scene.wrap) / (1.0 + scene.wrap), 0.0);
    return vec4<f32>(color.rgb * (ambient + sun), drawn_alpha(color.a));
}

@fragment
fn fragment(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    select_material(varyings);
    return shade(base_color(varyings), seen_normal(varyings, front));
}

@fragment
fn fragment_emissive(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    select_material(varyings);
    return shade(base_color(varyings), seen_normal(varyings, front)) + vec4<f32>(emitted(varyings), 0.0);
}

@fragment
fn fragment_masked(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    select_material(varyings);
    let color = base_color(varyings);
    // Before the discard: neighbouring pixels need this one for their derivatives.
    let normal = seen_normal(varyings, front);
    if (color.a < material.alpha_cutoff) {
        discard;
    }
    return shade(color, normal);
}

@fragment
fn fragment_masked_emissive(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    select_material(varyings);
    let color = base_color(varyings);
    // Before the discard: neighbouring pixels need this one for their derivatives.
    let light = emitted(varyings);
    let normal = seen_normal(varyings, front);
    if (color.a < material.alpha_cutoff) {
        discard;
    }
    return shade(color, normal) + vec4<f32>(light, 0.0);
}

@fragment
fn fragment_unlit(varyings: Varyings) -> @location(0) vec4<f32> {
    select_material(varyings);
    let color = base_color(varyings);
    return vec4<f32>(color.rgb, drawn_alpha(color.a));
}

@fragment
fn fragment_masked_unlit(varyings: Varyings) -> @location(0) vec4<f32> {
    select_material(varyings);
    let color = base_color(varyings);
    if (color.a < material.alpha_cutoff) {
        discard;
    }
    return vec4<f32>(color.rgb, drawn_alpha(color.a));
}

// For shadow maps and depth passes, without a fragment shader or with fragment_depth_masked.
@vertex
fn vertex_depth(input: GpuskinInput) -> DepthVaryings {
    let skinned = gpuskin_skin_vertex(input, scene.time);
    return depth_varyings_of(view.view_proj * vec4<f32>(skinned.position, 1.0), skinned, input);
}

@fragment
fn fragment_depth_masked(varyings: DepthVaryings) {
    select_depth_material(varyings);
    let texel = depth_base_color_texel(varyings);
    if (texel.a * material.base_color.a * varyings.alpha < material.alpha_cutoff) {
        discard;
    }
}
