// Material that all instances of a draw call share.

@group(2) @binding(0) var<uniform> material: Material;

fn pass_material(varyings: ptr<function, Varyings>, input: GpuskinInput) {}

fn pass_depth_material(varyings: ptr<function, DepthVaryings>, input: GpuskinInput) {}

fn select_material(varyings: Varyings) {}

fn select_depth_material(varyings: DepthVaryings) {}
