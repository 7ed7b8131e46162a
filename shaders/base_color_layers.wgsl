// Base colour texture with a layer per look of the material. The variant of an instance selects the layer.

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
    @location(2) @interpolate(flat) variant: u32,
}

fn depth_varyings_of(position: vec4<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> DepthVaryings {
    var varyings: DepthVaryings;
    varyings.position = position;
    varyings.uv = skinned.uv;
    varyings.alpha = skinned.color.a;
    varyings.variant = gpuskin_variant_of(input);
    pass_depth_material(&varyings, input);
    return varyings;
}

// Layer of a variant of the model: a byte of the material's constants.
fn base_color_layer(variant: u32) -> u32 {
    let word = material_layers((variant >> 4u) & 15u)[(variant >> 2u) & 3u];
    return (word >> ((variant & 3u) * 8u)) & 0xffu;
}

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    return base_color_sampled(varyings.uv, base_color_layer(varyings.variant));
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    return base_color_sampled(varyings.uv, base_color_layer(varyings.variant));
}
