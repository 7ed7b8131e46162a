// Unlit surfaces (KHR_materials_unlit): the base colour is the colour of the picture, neither exposed nor
// tone mapped; fog is in front of it.

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    select_material(varyings);
    let color = base_color(varyings);
    discard_masked(color.a);
    let position = gpuskin_view.eye + varyings.from_eye;
    let fog = gpuskin_tone_mapped(gpuskin_in_fog(vec3<f32>(0.0), position));
    return vec4<f32>(color.rgb * (1.0 - gpuskin_fog_amount(position)) + fog, drawn_alpha(color.a));
}
