// Builds a mip level of the depth pyramid: each texel is the farthest depth of 2x2 texels of the
// level before, never nearer than any pixel that it covers. At a border with fewer than four
// texels, the last ones are read again. gpuskin_source_depth reads the level before. CPU reference:
// DepthPyramid in gpuskin-rt/src/cull/pyramid.rs.

// Layout of MipUniform in gpuskin-rt/src/cull/pyramid.rs.
struct GpuskinMip {
    // Width and height of this level in texels.
    size: vec2<u32>,
    // Width and height of the level before in texels.
    source_size: vec2<u32>,
}

@group(0) @binding(1) var gpuskin_mip: texture_storage_2d<r32float, write>;
@group(0) @binding(2) var<uniform> gpuskin_parameters: GpuskinMip;

@compute @workgroup_size(8, 8)
fn gpuskin_write_mip(@builtin(global_invocation_id) at: vec3<u32>) {
    if (any(at.xy >= gpuskin_parameters.size)) {
        return;
    }
    let last = gpuskin_parameters.source_size - vec2<u32>(1u);
    let a = min(at.xy * 2u, last);
    let b = min(at.xy * 2u + vec2<u32>(1u), last);
    let row = max(gpuskin_source_depth(a), gpuskin_source_depth(vec2<u32>(b.x, a.y)));
    let next_row = max(gpuskin_source_depth(vec2<u32>(a.x, b.y)), gpuskin_source_depth(b));
    textureStore(gpuskin_mip, at.xy, vec4<f32>(max(row, next_row), 0.0, 0.0, 0.0));
}
