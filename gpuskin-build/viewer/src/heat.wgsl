// Errors of vertices as colours.

struct Heat {
    view_proj: mat4x4f,
    to_light: vec4f,
    time: vec2u,
}

@group(0) @binding(0) var<uniform> heat: Heat;
// Shares of the greatest error in 31sts, four per word.
@group(0) @binding(1) var<storage, read> shares: array<u32>;

struct Varyings {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) share: f32,
}

@vertex
fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, heat.time);
    let share = f32((shares[index / 4u] >> (8u * (index % 4u))) & 255u) / 31.0;
    return Varyings(heat.view_proj * vec4f(skinned.position, 1.0), skinned.normal, share);
}

// Black, blue, red, yellow, white at 0, 1/4, 1/2, 3/4 and 1; linear RGB.
fn color_of(share: f32) -> vec3f {
    let x = 4.0 * clamp(share, 0.0, 1.0);
    let blue = mix(vec3f(0.02, 0.02, 0.03), vec3f(0.05, 0.08, 0.5), clamp(x, 0.0, 1.0));
    let red = mix(blue, vec3f(0.6, 0.02, 0.05), clamp(x - 1.0, 0.0, 1.0));
    let yellow = mix(red, vec3f(0.95, 0.55, 0.02), clamp(x - 2.0, 0.0, 1.0));
    return mix(yellow, vec3f(1.0, 0.98, 0.85), clamp(x - 3.0, 0.0, 1.0));
}

@fragment
fn fragment(in: Varyings) -> @location(0) vec4f {
    let light = 0.75 + 0.25 * dot(normalize(in.normal), heat.to_light.xyz);
    return vec4f(light * color_of(in.share), 1.0);
}
