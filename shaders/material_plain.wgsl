// Constants of a material.

// Layout of FullMaterialUniform in gpuskin-rt/src/render/material.rs, without its last members.
struct Material {
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    normal_scale: f32,
}
