// Unlit: no normals.
fn set_directions(varyings: ptr<function, Varyings>, skinned: GpuskinSkinned) {}
