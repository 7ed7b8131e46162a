// Structures and functions for a game's own compute passes, which write instances of a crowd. CPU
// reference: gpuskin-rt/src/record.rs, which documents the words.

// Element of the buffer of places: transform and appearance of an instance.
struct GpuskinPlaceRecord {
    // World space, metres.
    translation: vec3<f32>,
    scale: f32,
    // gpuskin_pack_rotation of a unit quaternion.
    rotation: vec2<u32>,
    // Linear RGBA, 8 bits each, red lowest.
    tint: u32,
    // Bits 1-16: hidden parts. Bits 17-30: hidden attachments. Bit 31: the whole instance is hidden.
    hidden: u32,
}

// Element of the buffer of playbacks: clips of an instance. The functions below write it.
struct GpuskinPlaybackRecord {
    start: vec2<u32>,
    rate_phase: vec2<u32>,
    clip_fade: vec2<u32>,
    source_0: vec2<u32>,
    source_1: vec2<u32>,
    // For the game's own shaders.
    custom: vec2<u32>,
}

// Rate of a clip, cycles per second: speed over the length of the clip in seconds, twice that in
// ping-pong.
fn gpuskin_cycles_per_second(speed: f32, seconds: f32) -> vec2<u32> {
    let cycles = min(abs(speed) / seconds, 16777216.0);
    if (!(seconds > 0.0) || !(cycles > 0.0)) {
        return vec2<u32>(0u);
    }
    let whole = floor(cycles);
    let rate = vec2<u32>(u32(whole), u32((cycles - whole) * 4294967040.0));
    return select(rate, vec2<u32>(~rate.x + u32(rate.y == 0u), ~rate.y + 1u), speed < 0.0);
}

fn gpuskin_shift_right(value: vec2<u32>, shift: u32) -> vec2<u32> {
    if (shift == 0u) {
        return value;
    }
    if (shift >= 32u) {
        return vec2<u32>(0u, value.x >> (shift - 32u));
    }
    return vec2<u32>(value.x >> shift, (value.y >> shift) | (value.x << (32u - shift)));
}

// Mantissa of some bits, left shift of five bits, sign. CPU reference: pack_rate.
fn gpuskin_pack_rate(rate: vec2<u32>, bits: u32) -> u32 {
    let negative = (rate.x >> 31u) != 0u;
    let size = select(rate, vec2<u32>(~rate.x + u32(rate.y == 0u), ~rate.y + 1u), negative);
    let length = select(32u - countLeadingZeros(size.y), 64u - countLeadingZeros(size.x), size.x != 0u);
    var shift = max(length, bits) - bits;
    var mantissa = 0u;
    // Rounding up may need one more bit.
    for (var turn = 0u; turn < 2u && shift < 32u; turn++) {
        let half = select(1u << (max(shift, 1u) - 1u), 0u, shift == 0u);
        let low = size.y + half;
        mantissa = gpuskin_shift_right(vec2<u32>(size.x + u32(low < half), low), shift).y;
        if ((mantissa >> bits) == 0u) {
            break;
        }
        shift += 1u;
    }
    if (shift >= 32u) {
        mantissa = (1u << bits) - 1u;
        shift = 31u;
    }
    return mantissa | (shift << bits) | (u32(negative) << (bits + 5u));
}

// Rounds a phase to 16 bits. The end of a clip stays its end.
fn gpuskin_round_phase(phase: u32) -> u32 {
    return min((phase >> 16u) + ((phase >> 15u) & 1u), 0xffffu);
}

// Changes the variant of the model's materials, 0..255; 0 is the model's own look.
fn gpuskin_set_variant(record: GpuskinPlaybackRecord, variant: u32) -> GpuskinPlaybackRecord {
    var changed = record;
    changed.source_1.y = (record.source_1.y & 0x807fffffu) | ((variant & 0xffu) << 23u);
    return changed;
}

fn gpuskin_playing_record(record: GpuskinPlaybackRecord) -> GpuskinInstance {
    return gpuskin_playing(record.start, record.rate_phase, record.clip_fade, vec4<u32>(record.source_0, record.source_1));
}

// Phase at a time, all ones after the end.
fn gpuskin_phase_at(playback: GpuskinPlayback, time: vec2<u32>) -> u32 {
    let phase = gpuskin_cycle_phase(playback, time);
    return select(phase.value, 0xffffffffu, phase.ended);
}

// Record with the same blend, whose times count from `time`. Does nothing before the start.
fn gpuskin_rebase(record: GpuskinPlaybackRecord, time: vec2<u32>) -> GpuskinPlaybackRecord {
    if (time.x < record.start.x || (time.x == record.start.x && time.y <= record.start.y)) {
        return record;
    }
    let instance = gpuskin_playing_record(record);
    let progress = gpuskin_progress(record.clip_fade.y, gpuskin_seconds_since_start(instance, time));
    var fade = (record.clip_fade.y & 0xffff0000u) | min(u32(progress * 65535.0 + 0.5), 0xfffeu);
    if (progress >= 1.0) {
        fade = 0xffffu;
    }
    var rebased = record;
    rebased.start = time;
    rebased.rate_phase.y = gpuskin_phase_at(instance.playback, time);
    rebased.clip_fade.y = fade;
    let phase_0 = gpuskin_round_phase(gpuskin_phase_at(gpuskin_source(instance, record.source_0), time));
    let phase_1 = gpuskin_round_phase(gpuskin_phase_at(gpuskin_source(instance, record.source_1), time));
    rebased.source_0.y = (record.source_0.y & 0xffff0000u) | phase_0;
    rebased.source_1.y = (record.source_1.y & 0xffff0000u) | phase_1;
    return rebased;
}

// Changes the rate of the current clip from `time` on, without a jump.
fn gpuskin_set_rate(record: GpuskinPlaybackRecord, rate: vec2<u32>, time: vec2<u32>) -> GpuskinPlaybackRecord {
    var changed = gpuskin_rebase(record, time);
    changed.rate_phase.x = gpuskin_pack_rate(rate, 26u);
    return changed;
}

// Index of the current clip.
fn gpuskin_current_clip(record: GpuskinPlaybackRecord) -> u32 {
    return gpuskin_get_clip(record.clip_fade.x);
}

// Plays another clip from `time` on. clip: its index, plus gpuskin_once or gpuskin_ping_pong. rate:
// gpuskin_cycles_per_second. phase: where it starts, 0.32 fixed point. seconds: length of the
// crossfade; 0: at once. Layers, variant and custom words stay.
fn gpuskin_play(
    record: GpuskinPlaybackRecord,
    clip: u32,
    rate: vec2<u32>,
    phase: u32,
    seconds: f32,
    time: vec2<u32>,
) -> GpuskinPlaybackRecord {
    let now = gpuskin_rebase(record, time);
    let flags = (clip & 0x3fffu) | (u32((clip & gpuskin_once) != 0u) << 14u) | (u32((clip & gpuskin_ping_pong) != 0u) << 15u);
    // Upper bits of the number of the layer set; variant of the model's materials.
    let kept = now.source_1.y & 0x7ff80000u;
    var next = GpuskinPlaybackRecord(
        time,
        vec2<u32>(gpuskin_pack_rate(rate, 26u), phase),
        vec2<u32>((now.clip_fade.x & 0xffff0000u) | flags, 0xffffu),
        vec2<u32>(0u),
        vec2<u32>(0u, kept),
        now.custom,
    );
    if (!(seconds > 0.0)) {
        return next;
    }
    let instance = gpuskin_playing_record(now);
    let fading = gpuskin_pack_rate(instance.playback.rate, 10u);
    let current = vec2<u32>((now.clip_fade.x & 0xffffu) | (fading << 16u), gpuskin_round_phase(now.rate_phase.y));
    next.source_0 = current;
    let weight = gpuskin_weight(instance, time);
    if (weight < 1.0) {
        // The two with the greatest weights fade out.
        let older = gpuskin_older_weight(instance);
        var first = now.source_0;
        var second = now.source_1;
        var weight_0 = (1.0 - weight) * (1.0 - older);
        var weight_1 = (1.0 - weight) * older;
        if (weight_1 > weight_0) {
            let other = weight_0;
            weight_0 = weight_1;
            weight_1 = other;
            first = now.source_1;
            second = now.source_0;
        }
        if (weight >= weight_0) {
            second = first;
            first = current;
            weight_1 = weight_0;
            weight_0 = weight;
        } else if (weight >= weight_1) {
            second = current;
            weight_1 = weight;
        }
        let share = u32(weight_1 / (weight_0 + weight_1) * 65535.0 + 0.5);
        next.source_0 = vec2<u32>(first.x, (first.y & 0xffffu) | (share << 16u));
        next.source_1 = vec2<u32>(second.x, (second.y & 0xffffu) | kept);
    }
    // A smooth curve.
    next.source_1.y |= 0x10000u;
    let rate_of_fade = gpuskin_cycles_per_second(1.0, seconds);
    next.clip_fade.y = (gpuskin_pack_rate(vec2<u32>(rate_of_fade.x, max(rate_of_fade.y, u32(rate_of_fade.x == 0u))), 11u) & 0xffffu) << 16u;
    return next;
}
