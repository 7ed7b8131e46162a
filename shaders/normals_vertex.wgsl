// Normals of the vertices.
fn set_directions(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned) {
    (*varyings).normal = skinned.normal;
}

// Unit normals on the visible side: of the mesh, and of the surface.
fn surface_normals(varyings: Varyings, visible_side: f32) -> array<vec3<f32>, 2> {
    let normal = visible_side * unit_or(varyings.normal, -normalize(varyings.from_eye) * visible_side);
    return array<vec3<f32>, 2>(normal, normal);
}
