// Tint of an instance, weighted by a mask: the alpha of the base colour texture. The surface is opaque.

// Passes the tint on, and the vertex colour without the tint's colour. The tint's alpha stays in the colour.
fn pass_tint(varyings: ptr<function, Varyings>, input: GpuskinInput) {
    (*varyings).color = vec4<f32>(gpuskin_unpack_color(input).rgb, (*varyings).color.a);
    (*varyings).tint = gpuskin_appearance_of(input).tint.rgb;
}

// Base colour factor * texture * vertex colour * share of the tint.
fn base_color_in_mask(varyings: Varyings) -> vec4<f32> {
    let texel = base_color_texel(varyings);
    let tint = mix(vec3<f32>(1.0), varyings.tint, texel.a);
    return vec4<f32>(texel.rgb * tint, 1.0) * material.base_color * varyings.color;
}
