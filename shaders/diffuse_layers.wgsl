// Interface of the diffuse material: the base colour texture has layers.

// Layout of MaterialUniform in gpuskin-rt/src/render/material.rs.
struct Material {
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    alpha_cutoff: f32,
    layers: array<vec4<u32>, 16>,
}

struct Varyings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    // With flat shading: vector from the eye to the surface.
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>, // if vertex colors
    @location(3) @interpolate(flat) variant: u32,
    // RGBA, 8 bits each; for gpuskin_unorm4x8. // if tint word
    @location(7) @interpolate(flat) tint: u32, // if tint word
    @location(8) second_uv: vec2<f32>, // if second uv
}

fn varyings_of(position: vec4<f32>, normal: vec3<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> Varyings {
    var varyings: Varyings;
    varyings.position = position;
    varyings.uv = skinned.uv;
    varyings.second_uv = gpuskin_second_uv(input); // if second uv
    varyings.normal = normal;
    pass_color(&varyings, skinned, input);
    varyings.variant = gpuskin_variant_of(input);
    pass_material(&varyings, input);
    return varyings;
}
