// Base colour of a surface with vertex colours.

fn pass_color(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned, input: GpuskinInput) {
    (*varyings).color = skinned.color;
}

// Texture * base colour factor * vertex colour * tint.
fn base_color(varyings: Varyings) -> vec4<f32> {
    return base_color_texel(varyings) * material.base_color * varyings.color;
}
