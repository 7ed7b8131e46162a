// Base colour texture with a layer per look of the material. The variant of an instance selects the layer.

@group(2) @binding(1) var base_color_texture: texture_2d_array<f32>;
@group(2) @binding(2) var base_color_sampler: sampler;

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat) variant: u32,
}

fn depth_varyings_of(position: vec4<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> DepthVaryings {
    return DepthVaryings(position, skinned.uv, skinned.color.a, gpuskin_variant_of(input));
}

// Layer of a variant of the model: a byte of the material's constants.
fn base_color_layer(variant: u32) -> u32 {
    let word = material.layers[(variant >> 4u) & 15u][(variant >> 2u) & 3u];
    return (word >> ((variant & 3u) * 8u)) & 0xffu;
}

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    let layer = base_color_layer(varyings.variant);
    return textureSample(base_color_texture, base_color_sampler, varyings.uv, layer);
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    let layer = base_color_layer(varyings.variant);
    return textureSample(base_color_texture, base_color_sampler, varyings.uv, layer);
}
