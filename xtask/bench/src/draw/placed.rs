//! Placement and shading of instances, the same for all methods.

/// Number of shadow passes.
pub(super) const SUNS: usize = 4;

/// View and shading of all methods, in bind group 0.
pub(super) const SHADING: &str = r"
@group(0) @binding(0) var<uniform> view: View;
struct View { view_proj: mat4x4<f32>, clock: vec4<u32> }
struct Varyings { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) normal: vec3<f32> }
@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let light = 0.3 + 0.7 * max(dot(normalize(varyings.normal), vec3<f32>(0.48, 0.8, 0.36)), 0.0);
    return vec4<f32>(vec3<f32>(light) * (0.5 + 0.5 * fract(varyings.uv.x)), 1.0);
}
";

/// Transform and clip of an instance, for every method.
pub(super) struct Placed {
    /// Translation in metres, and scale in w.
    pub(super) place: [f32; 4],
    /// Rotation quaternion x, y, z, w.
    pub(super) rotation: [f32; 4],
    pub(super) clip: u16,
    pub(super) phase: f32,
}
