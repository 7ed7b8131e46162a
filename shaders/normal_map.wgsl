// Normal map, in the frame of the vertices' tangents as MikkTSpace defines it: neither vector is
// normalised before the sum.
fn set_directions(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned) {
    (*varyings).normal = skinned.normal;
    (*varyings).tangent = skinned.tangent;
}

// The back side of a surface has the opposite normals.
fn surface_normals(varyings: Varyings, visible_side: f32) -> array<vec3<f32>, 2> {
    let texel = normal_texel(varyings.uv);
    let coat_texel = clearcoat_normal_texel(varyings.uv); // if coat normals
    let bitangent = varyings.tangent.w * cross(varyings.normal, varyings.tangent.xyz);
    let mapped = texel.x * varyings.tangent.xyz + texel.y * bitangent + texel.z * varyings.normal;
    let normal = unit_or(varyings.normal, -normalize(varyings.from_eye) * visible_side);
    let coat = coat_texel.x * varyings.tangent.xyz + coat_texel.y * bitangent + coat_texel.z * varyings.normal; // if coat normals
    coat_normal = visible_side * unit_or(coat, normal); // if coat normals
    return array<vec3<f32>, 2>(visible_side * normal, visible_side * unit_or(mapped, normal));
}
