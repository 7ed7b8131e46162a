// One character: 48 bytes, three attributes of four words that step per instance. Twin of gpuskin-rt/src/instance.rs.

struct GpuskinInstance {
    // Metres.
    translation: vec3<f32>,
    // Applied first.
    scale: f32,
    // Quaternion x, y, z, w; as far from unit length as its 16 bits left it.
    rotation: vec4<f32>,
    playback: GpuskinPlayback,
}

// The number in the upper 16 bits, as -1..1.
fn gpuskin_high_snorm16(word: u32) -> f32 {
    return max(f32(bitcast<i32>(word) >> 16u) / 32767.0, -1.0);
}

fn gpuskin_instance(words_0: vec4<u32>, words_1: vec4<u32>, words_2: vec4<u32>) -> GpuskinInstance {
    let transform = bitcast<vec4<f32>>(words_0);
    return GpuskinInstance(
        transform.xyz,
        transform.w,
        vec4<f32>(
            gpuskin_high_snorm16(words_1.x << 16u),
            gpuskin_high_snorm16(words_1.x),
            gpuskin_high_snorm16(words_1.y << 16u),
            gpuskin_high_snorm16(words_1.y),
        ),
        GpuskinPlayback(words_1.zw, words_2.xy, words_2.z, words_2.w),
    );
}

// Rotation by a quaternion of any length but zero: v + 2 u x (u x v + w v) / |q|^2, where q = (u, w).
fn gpuskin_rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let inner = cross(q.xyz, v) + v * q.w;
    return v + cross(q.xyz, inner) * (2.0 / dot(q, q));
}

// From the model's space to the world.
fn gpuskin_point(instance: GpuskinInstance, point: vec3<f32>) -> vec3<f32> {
    return instance.translation + gpuskin_rotate(instance.rotation, point * instance.scale);
}

// A direction from the model's space to the world's; keeps its length.
fn gpuskin_direction(instance: GpuskinInstance, direction: vec3<f32>) -> vec3<f32> {
    return gpuskin_rotate(instance.rotation, direction);
}
