// Surfaces with one colour per vertex, and shapes in the plane of the picture.

@group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
}

// World space; linear colour.
@vertex
fn surface(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
) -> Varyings {
    let light = 0.55 + 0.45 * dot(normal, normalize(vec3<f32>(0.4, 0.8, 0.45)));
    return Varyings(view_proj * vec4<f32>(position, 1.0), vec4<f32>(color.rgb * light, color.a));
}

// Clip space; linear colour.
@vertex
fn shape(@location(0) position: vec2<f32>, @location(1) color: vec4<f32>) -> Varyings {
    return Varyings(vec4<f32>(position, 0.0, 1.0), color);
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    return varyings.color;
}
