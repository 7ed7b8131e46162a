// What fragments get of vertices, for crowd.wgsl: of models without colours of their own.

struct Varyings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) normal: vec3<f32>,
}

fn vary(position: vec4<f32>, skinned: GpuskinSkinned) -> Varyings {
    return Varyings(position, skinned.uv, skinned.normal);
}

// What the base colour is multiplied by.
fn vertex_color(varyings: Varyings) -> vec4<f32> {
    return vec4<f32>(1.0);
}

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

fn vary_depth(position: vec4<f32>, skinned: GpuskinSkinned) -> DepthVaryings {
    return DepthVaryings(position, skinned.uv);
}

// What its alpha is multiplied by.
fn vertex_alpha(varyings: DepthVaryings) -> f32 {
    return 1.0;
}
