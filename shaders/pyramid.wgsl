// The depth pyramid: a level has for each 2x2 of what stands before it what is farthest. That is never nearer than any pixel
// that the texel stands for: at a border, where there are fewer than four, the last are read again. What stands before is read
// by gpuskin_before. Twin of DepthPyramid in gpuskin-rt/src/cull/pyramid.rs.

// Twin of LevelUniform in gpuskin-rt/src/cull/pyramid.rs.
struct GpuskinLevel {
    // Texels of the level, across and down.
    size: vec2<u32>,
    // Of what stands before it, likewise.
    before: vec2<u32>,
}

@group(0) @binding(1) var gpuskin_level: texture_storage_2d<r32float, write>;
@group(0) @binding(2) var<uniform> gpuskin_parameters: GpuskinLevel;

@compute @workgroup_size(8, 8)
fn gpuskin_write_level(@builtin(global_invocation_id) at: vec3<u32>) {
    if (any(at.xy >= gpuskin_parameters.size)) {
        return;
    }
    let last = gpuskin_parameters.before - vec2<u32>(1u);
    let a = min(at.xy * 2u, last);
    let b = min(at.xy * 2u + vec2<u32>(1u), last);
    let row = max(gpuskin_before(a), gpuskin_before(vec2<u32>(b.x, a.y)));
    let next_row = max(gpuskin_before(vec2<u32>(a.x, b.y)), gpuskin_before(b));
    textureStore(gpuskin_level, at.xy, vec4<f32>(max(row, next_row), 0.0, 0.0, 0.0));
}
