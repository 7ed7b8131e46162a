// Tests whether a box is occluded by depth drawn before. CPU reference:
// gpuskin-rt/src/cull/pyramid.rs.

// Layout of PyramidUniform in gpuskin-rt/src/cull/pyramid.rs.
struct GpuskinPyramid {
    // Size of the picture in pixels.
    size: vec2<f32>,
    // Number of levels; with 0, nothing is occluded.
    mip_levels: u32,
    // Factor that makes depths grow with the distance: 1, or -1 for reversed depth.
    depth_sign: f32,
    // Largest rounding error of a stored depth.
    depth_tolerance: f32,
    // Not used, zero.
    reserved_0: f32,
    reserved_1: f32,
    reserved_2: f32,
}

@group(1) @binding(0) var<uniform> gpuskin_pyramid: GpuskinPyramid;
// Farthest depth of each 2x2, 4x4, ... pixels.
@group(1) @binding(1) var gpuskin_farthest: texture_2d<f32>;

// Whether every pixel that a box covers has a depth nearer than the nearest corner of the box.
// middle: its centre; edges: half of each edge. CPU reference: DepthPyramid::hides.
fn gpuskin_is_occluded(view_proj: mat4x4<f32>, centre: vec3<f32>, edges: mat3x3<f32>) -> bool {
    // Rounding errors of sums of terms of this size, here and in the vertex shader.
    let rows = transpose(view_proj);
    let extent = abs(centre) + abs(edges[0]) + abs(edges[1]) + abs(edges[2]);
    let off_z = gpuskin_rounding * (dot(abs(rows[2].xyz), extent) + abs(rows[2].w));
    let off_w = gpuskin_rounding * (dot(abs(rows[3].xyz), extent) + abs(rows[3].w));
    var low = vec2<f32>(3e38);
    var high = vec2<f32>(-3e38);
    var nearest = 3e38;
    for (var i = 0u; i < 8u; i++) {
        let sides = vec3<f32>(vec3<u32>(i, i >> 1u, i >> 2u) & vec3<u32>(1u)) * 2.0 - 1.0;
        let clip = view_proj * vec4<f32>(centre + edges * sides, 1.0);
        // The box reaches behind the eye.
        if (!(clip.w > off_w)) {
            return false;
        }
        let projected = clip.xyz / clip.w;
        low = min(low, projected.xy);
        high = max(high, projected.xy);
        nearest = min(nearest, gpuskin_pyramid.depth_sign * projected.z - (off_z + abs(projected.z) * off_w) / clip.w);
    }
    // Rows count from the top; half a pixel of margin covers the rasteriser's rounding of edges.
    let end = gpuskin_pyramid.size - vec2<f32>(1.0);
    let from_pixel = vec2<f32>(0.5 + 0.5 * low.x, 0.5 - 0.5 * high.y) * gpuskin_pyramid.size - 0.5;
    let to_pixel = vec2<f32>(0.5 + 0.5 * high.x, 0.5 - 0.5 * low.y) * gpuskin_pyramid.size + 0.5;
    let first = vec2<u32>(clamp(floor(from_pixel), vec2<f32>(0.0), end));
    let last = vec2<u32>(clamp(floor(to_pixel), vec2<f32>(0.0), end));
    // Finest level in which the box covers few texels.
    var mip_level = 1u;
    while (mip_level < gpuskin_pyramid.mip_levels
        && any((last >> vec2<u32>(mip_level)) - (first >> vec2<u32>(mip_level)) >= vec2<u32>(gpuskin_texels_across))) {
        mip_level++;
    }
    let begin = first >> vec2<u32>(mip_level);
    let stop = last >> vec2<u32>(mip_level);
    for (var y = begin.y; y <= stop.y; y++) {
        for (var x = begin.x; x <= stop.x; x++) {
            let farthest = textureLoad(gpuskin_farthest, vec2<u32>(x, y), i32(mip_level) - 1).x;
            if (!(nearest > farthest + gpuskin_pyramid.depth_tolerance)) {
                return false;
            }
        }
    }
    return gpuskin_pyramid.mip_levels > 0u;
}
