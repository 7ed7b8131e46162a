// local-packed: cached vertices of shared poses, skinned by a compute pass. CPU reference:
// gpuskin-rt/src/cache.rs.

// Index of the instance's vertex in the cache.
alias GpuskinPoseSource = u32;

fn gpuskin_pose_source(input: GpuskinInput, instance: GpuskinInstance, time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_list[input.drawn].x * gpuskin_model.vertices + input.vertex;
}

// The cache does not keep previous poses.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, previous_time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_pose_source(input, instance, previous_time);
}

fn gpuskin_cached_position(words: vec2<u32>) -> vec3<f32> {
    let steps = vec3<u32>(
        words.x & 0x1fffffu,
        (words.x >> 21u) | ((words.y & 0x3ffu) << 11u),
        (words.y >> 10u) & 0x1fffffu,
    );
    return gpuskin_model.value_min.xyz + gpuskin_model.value_extent.xyz * (vec3<f32>(steps) / 2097151.0);
}

fn gpuskin_cached_direction(word: u32) -> vec3<f32> {
    let e = vec2<f32>(gpuskin_high_snorm16(word << 16u), gpuskin_high_snorm16(word));
    let z = 1.0 - abs(e.x) - abs(e.y);
    let fold = max(-z, 0.0);
    let v = normalize(vec3<f32>(e - select(vec2<f32>(-fold), vec2<f32>(fold), e >= vec2<f32>(0.0)), z));
    return select(v, vec3<f32>(0.0), word == 0x80008000u);
}

// Vertex in model space.
fn gpuskin_in_model(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinSkinned {
    let words = gpuskin_cached_vertices[pose];
    return GpuskinSkinned(
        gpuskin_cached_position(words.xy),
        gpuskin_cached_direction(words.z),
        vec4<f32>(gpuskin_cached_direction(words.w), vertex.tangent.w),
        vertex.uv,
        vertex.color,
    );
}
