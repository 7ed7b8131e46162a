// Which two frames an instance shows, and how far between them. Twin of gpuskin-rt/src/playback.rs.
//
// WGSL has no 64-bit integers: a moment and a rate are vec2<u32>(high, low), in 32.32 fixed point.

// 16 bytes of the model's uniform buffer.
struct GpuskinClip {
    first_frame: u32,
    // From the clip's start to its end, at least 1.
    intervals: u32,
    // intervals + 1, or intervals where the last pose is the first.
    stored: u32,
    reserved: u32,
}

struct GpuskinPlayback {
    // When it started, seconds.
    start: vec2<u32>,
    // Cycles of the clip per second, two's complement.
    rate: vec2<u32>,
    // Where in the clip it started, 0.32 fixed point of the clip's length.
    offset: u32,
    // Bits 0..16: index of the clip. Bit 31: hold the pose at the end.
    clip: u32,
}

// Two frames of the animation texture; t = 0 shows a, t = 1 shows b.
struct GpuskinFramePair {
    a: u32,
    b: u32,
    t: f32,
}

struct GpuskinPhase {
    // 0.32 fixed point of the clip's length.
    value: u32,
    ended: bool,
}

const gpuskin_once: u32 = 0x80000000u;
const gpuskin_clip_mask: u32 = 0xffffu;

// All 64 bits of a product, (high, low): long multiplication with digits of 16 bits. No sum overflows:
// (2^16 - 1)^2 + 2^16 - 1 < 2^32.
fn gpuskin_multiply(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 16u);
    let cross = a_low * b_high + (middle & 0xffffu);
    return vec2<u32>(a_high * b_high + (middle >> 16u) + (cross >> 16u), (cross << 16u) | (low & 0xffffu));
}

// now - start; 0 where now is earlier.
fn gpuskin_elapsed(now: vec2<u32>, start: vec2<u32>) -> vec2<u32> {
    let borrow = now.y < start.y;
    let early = now.x < start.x || (now.x == start.x && borrow);
    return select(vec2<u32>(now.x - start.x - u32(borrow), now.y - start.y), vec2<u32>(0u), early);
}

fn gpuskin_phase(playback: GpuskinPlayback, now: vec2<u32>) -> GpuskinPhase {
    let elapsed = gpuskin_elapsed(now, playback.start);
    let backwards = (playback.rate.x >> 31u) != 0u;
    let negated = vec2<u32>(~playback.rate.x + u32(playback.rate.y == 0u), ~playback.rate.y + 1u);
    let rate = select(playback.rate, negated, backwards);

    // elapsed * rate in 64.64 fixed point: four words, of which the lowest is dropped.
    let low = gpuskin_multiply(elapsed.y, rate.y);
    let cross_0 = gpuskin_multiply(elapsed.y, rate.x);
    let cross_1 = gpuskin_multiply(elapsed.x, rate.y);
    let high = gpuskin_multiply(elapsed.x, rate.x);
    let fraction_0 = low.x + cross_0.y;
    let fraction = fraction_0 + cross_1.y;
    let carry = u32(fraction_0 < cross_0.y) + u32(fraction < cross_1.y);
    let whole_0 = cross_0.x + cross_1.x;
    let whole_1 = whole_0 + high.y;
    let whole = whole_1 + carry;
    let beyond = high.x + u32(whole_0 < cross_1.x) + u32(whole_1 < high.y) + u32(whole < carry);

    let once = (playback.clip & gpuskin_once) != 0u;
    let passed_a_cycle = beyond != 0u || whole != 0u;
    if (backwards) {
        let at_start = once && (passed_a_cycle || fraction > playback.offset);
        return GpuskinPhase(select(playback.offset - fraction, 0u, at_start), false);
    }
    let value = playback.offset + fraction;
    return GpuskinPhase(value, once && (passed_a_cycle || value < fraction));
}

fn gpuskin_frame_pair(playback: GpuskinPlayback, clip: GpuskinClip, now: vec2<u32>) -> GpuskinFramePair {
    let phase = gpuskin_phase(playback, now);
    var position = gpuskin_multiply(phase.value, clip.intervals);
    if (phase.ended) {
        position = vec2<u32>(clip.intervals, 0u);
    }
    let a = position.x;
    let b = min(a + 1u, clip.intervals);
    return GpuskinFramePair(
        clip.first_frame + select(a, a - clip.stored, a >= clip.stored),
        clip.first_frame + select(b, b - clip.stored, b >= clip.stored),
        f32(position.y >> 8u) / 16777216.0,
    );
}
