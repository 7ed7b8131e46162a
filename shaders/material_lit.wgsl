// Lit surfaces.

@fragment
fn fragment(varyings: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    select_material(varyings);
    second_uv = varyings.second_uv; // if second uv
    let color = base_color(varyings);
    let orm = orm_texel(varyings.uv);
    var point: SurfacePoint;
    point.emitted = material.emissive * emissive_texel(varyings.uv);
    set_dielectric(varyings.uv);
    set_clearcoat(varyings.uv);
    set_sheen(varyings.uv); // if sheen
    let visible_side = select(-1.0, 1.0, front);
    let normals = surface_normals(varyings, visible_side);
    // After all samples and derivatives: neighbouring pixels need this one for theirs.
    discard_masked(color.a);
    point.position = gpuskin_view.eye + varyings.from_eye;
    point.face_normal = normals[0];
    point.normal = normals[1];
    point.to_eye = normalize(-varyings.from_eye);
    point.base_color = color.rgb;
    point.metallic = clamp(material.metallic * orm.b, 0.0, 1.0);
    point.roughness = clamp(material.roughness * orm.g, 0.0, 1.0);
    point.occlusion = mix(1.0, orm.r, material.occlusion_strength);
    let radiance = radiance_of(changed_surface(point, varyings.uv));
    return vec4<f32>(gpuskin_tone_mapped(gpuskin_in_fog(radiance, point.position)), drawn_alpha(color.a));
}
