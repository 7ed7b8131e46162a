// Normal map of a mesh without tangents: its frame is derived from positions and texture coordinates of
// neighbouring pixels (C. Schueler 2013, "Followup: Normal Mapping Without Precomputed Tangents").
fn set_directions(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned) {
    (*varyings).normal = skinned.normal;
}

fn surface_normals(varyings: Varyings, visible_side: f32) -> array<vec3<f32>, 2> {
    let right = dpdx(varyings.from_eye);
    let down = dpdy(varyings.from_eye);
    let uv_right = dpdx(varyings.uv); // unless second normals
    let uv_down = dpdy(varyings.uv); // unless second normals
    let uv_right = dpdx(varyings.second_uv); // if second normals
    let uv_down = dpdy(varyings.second_uv); // if second normals
    let texel = normal_texel(varyings.uv);
    let coat_texel = clearcoat_normal_texel(varyings.uv); // if coat normals
    let normal = unit_or(varyings.normal, -normalize(varyings.from_eye) * visible_side);
    let along = cross(down, normal);
    let across = cross(normal, right);
    // Sign of the area of a pixel on the surface.
    let side = sign(dot(right, along));
    let tangent = side * (along * uv_right.x + across * uv_down.x);
    // Texture coordinates grow downwards, y of the map upwards.
    let bitangent = -side * (along * uv_right.y + across * uv_down.y);
    let longest = max(dot(tangent, tangent), dot(bitangent, bitangent));
    // Without texture coordinates that vary, the map has no direction.
    let scale = select(0.0, inverseSqrt(longest), longest > 1e-30);
    let mapped = (texel.x * scale) * tangent + (texel.y * scale) * bitangent + texel.z * normal;
    let coat = (coat_texel.x * scale) * tangent + (coat_texel.y * scale) * bitangent + coat_texel.z * normal; // if coat normals
    coat_normal = visible_side * unit_or(coat, normal); // if coat normals
    return array<vec3<f32>, 2>(visible_side * normal, visible_side * unit_or(mapped, normal));
}
