// Instance: a place record of 32 bytes and a playback record of 48 bytes. CPU reference:
// gpuskin-rt/src/record.rs, which documents the layout.

struct GpuskinInstance {
    // World space, metres.
    translation: vec3<f32>,
    // Applied first.
    scale: f32,
    // Quaternion x, y, z, w, 16 bits per component; its length is close to 1.
    rotation: vec4<f32>,
    // Current clip.
    playback: GpuskinPlayback,
    // Fade, and the clips that fade out: words 5 to 9 of the playback record.
    fade: u32,
    sources: vec4<u32>,
}

// Word shifted left by less than 32, as 64 bits (high, low).
fn gpuskin_shift_left(word: u32, shift: u32) -> vec2<u32> {
    return vec2<u32>((word >> 1u) >> (31u - shift), word << shift);
}

// Rate from mantissa, shift and sign.
fn gpuskin_rate(mantissa: u32, shift: u32, negative: bool) -> vec2<u32> {
    let rate = gpuskin_shift_left(mantissa, shift & 31u);
    return select(rate, vec2<u32>(~rate.x + u32(rate.y == 0u), ~rate.y + 1u), negative);
}

// Clip word of GpuskinPlayback, from 14 bits of index and the bits for play once and ping-pong.
fn gpuskin_unpack_clip(word: u32) -> u32 {
    return gpuskin_get_clip(word) | (gpuskin_get_once(word) << 31u) | (gpuskin_get_ping_pong(word) << 30u);
}

fn gpuskin_is_paused(instance_sources: vec4<u32>) -> bool {
    return gpuskin_get_paused(instance_sources.w >> 16u) != 0u;
}

// Fade-out clip from its two words.
fn gpuskin_source(instance: GpuskinInstance, words: vec2<u32>) -> GpuskinPlayback {
    let packed = words.x >> 16u;
    let shift = gpuskin_get_fading_rate_shift(packed);
    let rate = gpuskin_rate(gpuskin_get_fading_rate_mantissa(packed), shift, gpuskin_get_fading_rate_sign(packed) != 0u);
    return GpuskinPlayback(
        instance.playback.start,
        select(rate, vec2<u32>(0u), gpuskin_is_paused(instance.sources)),
        words.y << 16u,
        gpuskin_unpack_clip(words.x),
    );
}

// Weight of a fade at a progress of 0..1. CPU reference: Curve::weight in
// gpuskin-rt/src/transition.rs.
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

// Progress of a fade, 0..1. fade: 16 bits of progress at the start; then the rate per second, 11
// bits shifted left, in units of 2^-32.
fn gpuskin_progress(fade: u32, elapsed: vec2<u32>) -> f32 {
    let at_start = fade & 0xffffu;
    if (at_start == 0xffffu) {
        return 1.0;
    }
    let seconds = f32(elapsed.x) + f32(elapsed.y) * (1.0 / 4294967296.0);
    let packed = fade >> 16u;
    let rate = f32(gpuskin_get_fade_rate_mantissa(packed)) * bitcast<f32>((gpuskin_get_fade_rate_shift(packed) + 95u) << 23u);
    return min(f32(at_start) * (1.0 / 65535.0) + seconds * rate, 1.0);
}

// Time since the start of an instance; zero while it is paused.
fn gpuskin_seconds_since_start(instance: GpuskinInstance, time: vec2<u32>) -> vec2<u32> {
    let elapsed = gpuskin_elapsed(time, instance.playback.start);
    return select(elapsed, vec2<u32>(0u), gpuskin_is_paused(instance.sources));
}

// Weight of the current clip over the fade-out clips: 1 without a fade.
fn gpuskin_weight(instance: GpuskinInstance, time: vec2<u32>) -> f32 {
    if ((instance.fade & 0xffffu) == 0xffffu) {
        return 1.0;
    }
    let progress = gpuskin_progress(instance.fade, gpuskin_seconds_since_start(instance, time));
    return gpuskin_curve(gpuskin_get_fade_curve(instance.sources.w >> 16u), progress);
}

// Weight of the second fade-out clip in the blend of both.
fn gpuskin_older_weight(instance: GpuskinInstance) -> f32 {
    return f32(instance.sources.y >> 16u) * (1.0 / 65535.0);
}

// Quaternion from words 4 and 5 of a place record.
fn gpuskin_unpack_rotation(words: vec2<u32>) -> vec4<f32> {
    let all = vec4<i32>(bitcast<vec2<i32>>(words << vec2<u32>(16u)), bitcast<vec2<i32>>(words)) >> vec4<u32>(16u);
    return max(vec4<f32>(all.xzyw) / 32767.0, vec4<f32>(-1.0));
}

// Instance with another transform. place: translation, scale; rotation: quaternion.
fn gpuskin_with_transform(instance: GpuskinInstance, place: vec4<f32>, rotation: vec4<f32>) -> GpuskinInstance {
    return GpuskinInstance(
        place.xyz,
        place.w,
        rotation,
        instance.playback,
        instance.fade,
        instance.sources,
    );
}

// Instance at the origin, from the words of a playback record: start time; rate and phase; clip and
// fade; the clips that fade out. Custom words are not part of it.
fn gpuskin_playing(
    start: vec2<u32>,
    rate_phase: vec2<u32>,
    clip_fade: vec2<u32>,
    sources: vec4<u32>,
) -> GpuskinInstance {
    let shift = gpuskin_get_rate_shift(rate_phase.x);
    let rate = gpuskin_rate(gpuskin_get_rate_mantissa(rate_phase.x), shift, gpuskin_get_rate_sign(rate_phase.x) != 0u);
    return GpuskinInstance(
        vec3<f32>(0.0),
        1.0,
        vec4<f32>(0.0, 0.0, 0.0, 1.0),
        GpuskinPlayback(
            start,
            select(rate, vec2<u32>(0u), gpuskin_is_paused(sources)),
            rate_phase.y,
            gpuskin_unpack_clip(clip_fade.x),
        ),
        clip_fade.y,
        sources,
    );
}

// Rotates by a quaternion of any length but zero: v + 2 u x (u x v + w v) / |q|^2, where q = (u,
// w).
fn gpuskin_rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let inner = cross(q.xyz, v) + v * q.w;
    return v + cross(q.xyz, inner) * (2.0 / dot(q, q));
}

// Transforms a point from model to world space.
fn gpuskin_point(instance: GpuskinInstance, point: vec3<f32>) -> vec3<f32> {
    return instance.translation + gpuskin_rotate(instance.rotation, point * instance.scale);
}

// Rotates a direction from model to world space; keeps its length.
fn gpuskin_direction(instance: GpuskinInstance, direction: vec3<f32>) -> vec3<f32> {
    return gpuskin_rotate(instance.rotation, direction);
}
