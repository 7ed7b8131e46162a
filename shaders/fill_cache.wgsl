// Fills the pose cache: skins poses of a palette and stores their vertices, one vertex per thread.
// CPU reference: gpuskin-rt/src/cache.rs, which documents the layout and adds functions that read
// the mesh before this text.

// Beginning of PaletteUniform in gpuskin-rt/src/local/shader.rs.
struct GpuskinFillParameters {
    time: vec2<u32>,
    previous_time: vec2<u32>,
    // Number of poses to skin.
    instances: u32,
    // First of these poses.
    first_instance: u32,
    // Matrices per pose.
    stride: u32,
}

@group(1) @binding(0) var<uniform> gpuskin_fill: GpuskinFillParameters;
// Vertex words.
@group(1) @binding(1) var<storage, read> gpuskin_mesh: array<u32>;
// Vertices of cached poses. [pose][vertex]
@group(1) @binding(2) var<storage, read_write> gpuskin_cached_vertices: array<vec4<u32>>;

// Octahedral direction, two signed 16-bit numbers; 0x80008000 for a zero vector.
fn gpuskin_direction_word(v: vec3<f32>) -> u32 {
    let p = v.xy / max(abs(v.x) + abs(v.y) + abs(v.z), 1.17549435e-38);
    let folded = (vec2<f32>(1.0) - abs(p.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), p >= vec2<f32>(0.0));
    let e = clamp(select(folded, p, v.z >= 0.0), vec2<f32>(-1.0), vec2<f32>(1.0));
    let steps = bitcast<vec2<u32>>(vec2<i32>(round(e * 32767.0)));
    return select((steps.x & 0xffffu) | (steps.y << 16u), 0x80008000u, all(v == vec3<f32>(0.0)));
}

fn gpuskin_pack_cached(position: vec3<f32>, normal: vec3<f32>, tangent: vec3<f32>) -> vec4<u32> {
    let unit = (position - gpuskin_model.value_min.xyz) / max(gpuskin_model.value_extent.xyz, vec3<f32>(1.17549435e-38));
    let p = vec3<u32>(round(clamp(unit, vec3<f32>(0.0), vec3<f32>(1.0)) * 2097151.0));
    return vec4<u32>(
        p.x | (p.y << 21u),
        (p.y >> 11u) | (p.z << 10u),
        gpuskin_direction_word(normal),
        gpuskin_direction_word(tangent),
    );
}

@compute @workgroup_size(gpuskin_fill_group)
fn gpuskin_fill_cache(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let count = gpuskin_vertex_count();
    let number = group.x * gpuskin_fill_group + thread;
    if (number >= count || group.y >= gpuskin_fill.instances) {
        return;
    }
    let pose = gpuskin_fill.first_instance + group.y;
    let skinned = gpuskin_in_model(pose * gpuskin_fill.stride, gpuskin_unpack(gpuskin_mesh_vertex(number)));
    gpuskin_cached_vertices[pose * count + number] =
        gpuskin_pack_cached(skinned.position, skinned.normal, skinned.tangent.xyz);
}
