// What fragments get of vertices, for crowd.wgsl: of models whose vertices have colours.

struct Varyings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
}

fn vary(position: vec4<f32>, skinned: GpuskinSkinned) -> Varyings {
    return Varyings(position, skinned.uv, skinned.normal, skinned.color);
}

// What the base colour is multiplied by.
fn vertex_color(varyings: Varyings) -> vec4<f32> {
    return varyings.color;
}

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

fn vary_depth(position: vec4<f32>, skinned: GpuskinSkinned) -> DepthVaryings {
    return DepthVaryings(position, skinned.uv, skinned.color.a);
}

// What its alpha is multiplied by.
fn vertex_alpha(varyings: DepthVaryings) -> f32 {
    return varyings.alpha;
}
