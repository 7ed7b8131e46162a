fn material_layers(i: u32) -> vec4<u32> {
    return material.layers[i];
}
