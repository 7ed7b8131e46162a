// Materials of all models that are drawn together, selected by the number that the vertex shader passes on.

@group(2) @binding(0) var<storage, read> gpuskin_materials: array<Material>;

var<private> material_number: u32;
var<private> material: Material;

fn pass_material(varyings: ptr<function, Varyings>, input: GpuskinInput) {
    (*varyings).material = gpuskin_material_of(input);
}

fn pass_depth_material(varyings: ptr<function, DepthVaryings>, input: GpuskinInput) {
    (*varyings).material = gpuskin_material_of(input);
}

// Called before all other functions of the fragment shader.
fn select_material(varyings: Varyings) {
    material_number = varyings.material;
    material = gpuskin_materials[material_number];
}

fn select_depth_material(varyings: DepthVaryings) {
    material_number = varyings.material;
    material = gpuskin_materials[material_number];
}
