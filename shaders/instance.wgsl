// One character: 64 bytes, four attributes of four words that step per instance. Twin of gpuskin-rt/src/record.rs, whose
// documentation has the layout.

struct GpuskinInstance {
    // Metres.
    translation: vec3<f32>,
    // Applied first.
    scale: f32,
    // Quaternion x, y, z, w; as far from unit length as its 16 bits left it.
    rotation: vec4<f32>,
    // What it plays.
    playback: GpuskinPlayback,
    // What it fades from, and how far it is: words 11 to 15.
    fade: u32,
    sources: vec4<u32>,
}

// The number in the upper 16 bits, as -1..1.
fn gpuskin_high_snorm16(word: u32) -> f32 {
    return max(f32(bitcast<i32>(word) >> 16u) / 32767.0, -1.0);
}

// Two words shifted left by less than 32.
fn gpuskin_shift_left(word: u32, shift: u32) -> vec2<u32> {
    return vec2<u32>((word >> 1u) >> (31u - shift), word << shift);
}

// A rate: a number shifted left, and its sign.
fn gpuskin_rate(mantissa: u32, shift: u32, negative: bool) -> vec2<u32> {
    let rate = gpuskin_shift_left(mantissa, shift & 31u);
    return select(rate, vec2<u32>(~rate.x + u32(rate.y == 0u), ~rate.y + 1u), negative);
}

// A clip as playback has it: 10 bits, once, ping-pong.
fn gpuskin_unpack_clip(word: u32) -> u32 {
    return (word & 0x3ffu) | ((word << 21u) & gpuskin_once) | ((word << 19u) & gpuskin_ping_pong);
}

fn gpuskin_is_paused(instance_sources: vec4<u32>) -> bool {
    return (instance_sources.w & 0x40000u) != 0u;
}

// Of the two clips that an instance fades from, the one in these words.
fn gpuskin_source(instance: GpuskinInstance, words: vec2<u32>) -> GpuskinPlayback {
    let rate = gpuskin_rate((words.x >> 16u) & 0x3ffu, words.x >> 26u, (words.x >> 31u) != 0u);
    return GpuskinPlayback(
        instance.playback.start,
        select(rate, vec2<u32>(0u), gpuskin_is_paused(instance.sources)),
        words.y << 16u,
        gpuskin_unpack_clip(words.x),
    );
}

// The weight of a fade at a progress of 0..1. Twin of Curve::weight in gpuskin-rt/src/transition.rs.
fn gpuskin_curve(curve: u32, p: f32) -> f32 {
    if (curve == 0u) {
        return p;
    } else if (curve == 1u) {
        return p * p * (3.0 - 2.0 * p);
    } else if (curve == 2u) {
        return p * p;
    }
    return p * (2.0 - p);
}

// How far a fade is, 0..1: 16 bits of it were done at the start; progress a second is 11 bits shifted left, in 2^-32.
fn gpuskin_progress(fade: u32, elapsed: vec2<u32>) -> f32 {
    let at_start = fade & 0xffffu;
    if (at_start == 0xffffu) {
        return 1.0;
    }
    let seconds = f32(elapsed.x) + f32(elapsed.y) * (1.0 / 4294967296.0);
    let rate = f32((fade >> 16u) & 0x7ffu) * bitcast<f32>(((fade >> 27u) + 95u) << 23u);
    return min(f32(at_start) * (1.0 / 65535.0) + seconds * rate, 1.0);
}

// What has passed for an instance since its start: nothing while it stands still.
fn gpuskin_since_start(instance: GpuskinInstance, now: vec2<u32>) -> vec2<u32> {
    let elapsed = gpuskin_elapsed(now, instance.playback.start);
    return select(elapsed, vec2<u32>(0u), gpuskin_is_paused(instance.sources));
}

// Weight of what an instance plays over what it fades from: 1 where nothing fades.
fn gpuskin_weight(instance: GpuskinInstance, now: vec2<u32>) -> f32 {
    if ((instance.fade & 0xffffu) == 0xffffu) {
        return 1.0;
    }
    let progress = gpuskin_progress(instance.fade, gpuskin_since_start(instance, now));
    return gpuskin_curve((instance.sources.w >> 16u) & 3u, progress);
}

// Weight of the second of the clips that an instance fades from, in the mix of both.
fn gpuskin_older(instance: GpuskinInstance) -> f32 {
    return f32(instance.sources.y >> 16u) * (1.0 / 65535.0);
}

fn gpuskin_instance(
    words_0: vec4<u32>,
    words_1: vec4<u32>,
    words_2: vec4<u32>,
    words_3: vec4<u32>,
) -> GpuskinInstance {
    let transform = bitcast<vec4<f32>>(words_0);
    let rate = gpuskin_rate(words_2.x & 0x3ffffffu, words_2.x >> 26u, (words_2.x >> 31u) != 0u);
    return GpuskinInstance(
        transform.xyz,
        transform.w,
        vec4<f32>(
            gpuskin_high_snorm16(words_1.x << 16u),
            gpuskin_high_snorm16(words_1.x),
            gpuskin_high_snorm16(words_1.y << 16u),
            gpuskin_high_snorm16(words_1.y),
        ),
        GpuskinPlayback(
            words_1.zw,
            select(rate, vec2<u32>(0u), gpuskin_is_paused(words_3)),
            words_2.y,
            gpuskin_unpack_clip(words_2.z),
        ),
        words_2.w,
        words_3,
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
