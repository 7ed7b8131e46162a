// Flat shading: each triangle has one normal, from the positions of its corners.
fn set_directions(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned) {}

// Screen down cross screen right points towards the viewer.
fn mesh_normal(varyings: Varyings) -> vec3<f32> {
    return normalize(cross(dpdy(varyings.from_eye), dpdx(varyings.from_eye)));
}

fn surface_normals(varyings: Varyings, visible_side: f32) -> array<vec3<f32>, 2> {
    let normal = mesh_normal(varyings);
    return array<vec3<f32>, 2>(normal, normal);
}
