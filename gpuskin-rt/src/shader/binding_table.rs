//! WGSL of materials and their textures: those of a draw call, or tables with the materials of many models.

use super::InstanceSource;

/// Member with the number of the material in its table.
const MATERIAL_NUMBER: &str = "    @location(6) @interpolate(flat) material: u32,\n";

/// Extension of WGSL that arrays of textures need: that of wgpu, which browsers do not have.
pub(super) const ARRAYS: &str = "enable wgpu_binding_array;\n";

/// Returns the bindings of a texture and its sampler, and a function that samples it.
pub(super) fn texture(name: &str, binding: u32, layered: bool, instances: InstanceSource) -> String {
    let (kind, layer, at) = match layered {
        true => ("texture_2d_array<f32>", ", layer: u32", ", layer"),
        false => ("texture_2d<f32>", "", ""),
    };
    let (kind, number) = match instances.has_table() {
        true => (format!("binding_array<{kind}>"), "[material_number]"),
        false => (kind.to_owned(), ""),
    };
    let sampler = binding + 1;
    format!(
        "\n@group(2) @binding({binding}) var {name}_texture: {kind};\n\
         @group(2) @binding({sampler}) var {name}_sampler: sampler;\n\n\
         fn {name}_sampled(uv: vec2<f32>{layer}) -> vec4<f32> {{\n    \
         return textureSample({name}_texture{number}, {name}_sampler, uv{at});\n}}\n"
    )
}

/// Adds the binding of the constants to a shader with `Material`, `Varyings` and `DepthVaryings`, and how its entry
/// points select a material. `layers`: whether the constants have the layers of variants.
pub(super) fn with_constants(mut text: String, layers: bool, instances: InstanceSource) -> String {
    let (module, of_layers) = match instances.has_table() {
        true => (include_str!("../../shaders/material_table.wgsl"), include_str!("../../shaders/layers_table.wgsl")),
        false => {
            (include_str!("../../shaders/material_uniform.wgsl"), include_str!("../../shaders/layers_uniform.wgsl"))
        }
    };
    if instances.has_table() {
        for structure in ["struct Varyings {\n", "struct DepthVaryings {\n"] {
            let members = text.find(structure).map(|start| start + structure.len());
            let end = members.and_then(|members| Some(members + text[members..].find("}\n")?));
            if let Some(end) = end {
                text.insert_str(end, MATERIAL_NUMBER);
            }
        }
    }
    let mut text = if instances.has_table() { ARRAYS.to_owned() + &text } else { text };
    for module in [module].into_iter().chain(layers.then_some(of_layers)) {
        text.push('\n');
        text.push_str(module);
    }
    text
}
