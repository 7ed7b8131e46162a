// Base colour texture that all instances share.

@group(2) @binding(1) var base_color_texture: texture_2d<f32>;
@group(2) @binding(2) var base_color_sampler: sampler;

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

fn depth_varyings_of(position: vec4<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> DepthVaryings {
    return DepthVaryings(position, skinned.uv, skinned.color.a);
}

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    return textureSample(base_color_texture, base_color_sampler, varyings.uv);
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    return textureSample(base_color_texture, base_color_sampler, varyings.uv);
}
