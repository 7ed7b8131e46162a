// Base colour of a surface whose tint is weighted by a mask: the alpha of the base colour texture. The surface is opaque.

fn pass_color(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned, input: GpuskinInput) {
    (*varyings).color = gpuskin_unpack_color(input); // if vertex colors
    (*varyings).tint = gpuskin_appearance_words(input).x;
}

// Texture * base colour factor * vertex colour * share of the tint.
fn base_color(varyings: Varyings) -> vec4<f32> {
    let texel = base_color_texel(varyings);
    let tint = mix(vec3<f32>(1.0), gpuskin_unorm4x8(varyings.tint).rgb, texel.a);
    let color = material.base_color; // unless vertex colors
    let color = material.base_color * varyings.color; // if vertex colors
    return vec4<f32>(texel.rgb * tint, 1.0) * color;
}
