// From the table: the private copy would be an array in memory.
fn material_layers(i: u32) -> vec4<u32> {
    return gpuskin_materials[material_number].layers[i];
}
