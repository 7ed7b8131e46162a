// Words 4 and 5 of a place record, from a unit quaternion x, y, z, w.
fn gpuskin_pack_rotation(rotation: vec4<f32>) -> vec2<u32> {
    let steps = vec4<i32>(floor(clamp(rotation, vec4<f32>(-1.0), vec4<f32>(1.0)) * 32767.0 + 0.5));
    let words = bitcast<vec4<u32>>(steps) & vec4<u32>(0xffffu);
    return words.xz | (words.yw << vec2<u32>(16u));
}
