// Dielectrics of any refractive index, strength and colour (KHR_materials_ior, KHR_materials_specular).

alias DielectricColor = vec3<f32>;

// Reflectance at normal incidence, and at grazing incidence.
var<private> dielectric: vec4<f32>;

fn set_dielectric(uv: vec2<f32>) {
    let texel = specular_texel(uv);
    let color = min(material.specular.rgb * texel.rgb, vec3<f32>(1.0));
    dielectric = vec4<f32>(color, 1.0) * (material.specular.a * texel.a);
}

fn dielectric_f0() -> DielectricColor {
    return dielectric.rgb;
}

fn dielectric_f90() -> f32 {
    return dielectric.a;
}

// Reflectance that the base does not get: the greatest of all channels, so that no complementary colour appears.
fn strongest(reflected: DielectricColor) -> f32 {
    return max(max(reflected.r, reflected.g), reflected.b);
}
