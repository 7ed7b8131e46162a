// Constants of a material whose base colour texture has layers.

// Layout of FullMaterialUniform in gpuskin-rt/src/render/material.rs.
struct Material {
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    normal_scale: f32,
    // Reflectance at normal incidence, and strength.
    specular: vec4<f32>,
    // Strength and roughness of the clear coat.
    clearcoat: vec2<f32>,
    // Layer of the base colour texture, a byte per variant of the model.
    layers: array<vec4<u32>, 16>,
}
