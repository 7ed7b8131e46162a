// Material of the renderer in the metallic-roughness model, and its depth pass. The model is group 1.

@vertex
fn vertex(input: GpuskinInput) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, gpuskin_scene.time);
    var varyings: Varyings;
    varyings.position = gpuskin_view.view_proj * vec4<f32>(skinned.position, 1.0);
    varyings.uv = skinned.uv;
    pass_color(&varyings, skinned, input);
    varyings.from_eye = skinned.position - gpuskin_view.eye;
    set_directions(&varyings, skinned);
    set_variant(&varyings, input);
    pass_material(&varyings, input);
    return varyings;
}

// For shadow maps and depth passes, without a fragment shader or with fragment_depth_masked.
@vertex
fn vertex_depth(input: GpuskinInput) -> DepthVaryings {
    let skinned = gpuskin_skin_vertex(input, gpuskin_scene.time);
    let position = gpuskin_view.view_proj * vec4<f32>(skinned.position, 1.0);
    return depth_varyings_of(position, skinned, input);
}

@fragment
fn fragment_depth_masked(varyings: DepthVaryings) {
    select_depth_material(varyings);
    let color = material.base_color * depth_base_color_texel(varyings);
    if (color.a * varyings.alpha < material.alpha_cutoff) {
        discard;
    }
}
