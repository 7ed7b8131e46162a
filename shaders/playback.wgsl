// Which two frames an instance shows, and how far between them. Twin of gpuskin-rt/src/playback.rs.
//
// WGSL has no 64-bit integers: a moment and a rate are vec2<u32>(high, low), in 32.32 fixed point.

// 16 bytes of the model's uniform buffer.
struct GpuskinClip {
    first_frame: u32,
    // From the clip's start to its end, at least 1.
    intervals: u32,
    // intervals + 1, or intervals where the last pose is the first; less those that are held.
    stored: u32,
    // Lower half: the first of the frames that show one pose. Upper half: how many follow it, and are not stored.
    held: u32,
}

struct GpuskinPlayback {
    // When it started, seconds.
    start: vec2<u32>,
    // Cycles per second, two's complement. A cycle is the length of the clip; there and back in ping-pong.
    rate: vec2<u32>,
    // Where it started, 0.32 fixed point of a cycle.
    offset: u32,
    // Bits 0..16: index of the clip. Bit 31: hold the pose at the end. Bit 30: turn round at both ends.
    clip: u32,
}

// Two frames of the animation texture; t = 0 shows a, t = 1 shows b.
struct GpuskinFramePair {
    a: u32,
    b: u32,
    t: f32,
    // The clip's first frame: ranges of packed values stand before it.
    first: u32,
}

struct GpuskinPhase {
    // 0.32 fixed point of the clip's length.
    value: u32,
    ended: bool,
}

const gpuskin_once: u32 = 0x80000000u;
const gpuskin_ping_pong: u32 = 0x40000000u;
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

// Whether elapsed * rate, both 32.32, reaches a whole cycle or more: the product's upper 64 bits of 128.
fn gpuskin_passes_a_cycle(elapsed: vec2<u32>, rate: vec2<u32>) -> bool {
    // The lower words of the cross products are below one cycle each; with the carry of the lowest product they can
    // be above it together.
    let cross_0 = gpuskin_multiply(elapsed.y, rate.x);
    let cross_1 = gpuskin_multiply(elapsed.x, rate.y);
    let fraction_0 = gpuskin_multiply(elapsed.y, rate.y).x + cross_0.y;
    let fraction = fraction_0 + cross_1.y;
    let carried = fraction_0 < cross_0.y || fraction < cross_1.y;
    let high = elapsed.x != 0u && rate.x != 0u;
    return carried || high || cross_0.x != 0u || cross_1.x != 0u;
}

// Where in its cycle it is.
fn gpuskin_cycle_phase(playback: GpuskinPlayback, now: vec2<u32>) -> GpuskinPhase {
    let elapsed = gpuskin_elapsed(now, playback.start);
    let backwards = (playback.rate.x >> 31u) != 0u;
    let negated = vec2<u32>(~playback.rate.x + u32(playback.rate.y == 0u), ~playback.rate.y + 1u);
    let rate = select(playback.rate, negated, backwards);

    // elapsed * rate in 64.64 fixed point; a loop needs 32 bits of it, those just below the point.
    let fraction = gpuskin_multiply(elapsed.y, rate.y).x + elapsed.y * rate.x + elapsed.x * rate.y;
    let value = select(playback.offset + fraction, playback.offset - fraction, backwards);
    // Only what ends must know of whole cycles. This runs for every vertex, and the rest of the product is most of it.
    if ((playback.clip & gpuskin_once) != 0u) {
        let passed_a_cycle = gpuskin_passes_a_cycle(elapsed, rate);
        if (backwards) {
            return GpuskinPhase(select(value, 0u, passed_a_cycle || fraction > playback.offset), false);
        }
        return GpuskinPhase(value, passed_a_cycle || value < fraction);
    }
    return GpuskinPhase(value, false);
}

// Where in the clip it is: there in the lower half of a cycle of ping-pong, back in the upper.
fn gpuskin_phase(playback: GpuskinPlayback, now: vec2<u32>) -> GpuskinPhase {
    let phase = gpuskin_cycle_phase(playback, now);
    let folded = (phase.value << 1u) ^ select(0u, 0xffffffffu, (phase.value >> 31u) != 0u);
    return GpuskinPhase(select(phase.value, folded, (playback.clip & gpuskin_ping_pong) != 0u), phase.ended);
}

// Index in the animation texture of what a frame shows.
fn gpuskin_stored_frame(clip: GpuskinClip, frame: u32) -> u32 {
    let held = clip.held & 0xffffu;
    let row = frame - min(max(frame, held) - held, clip.held >> 16u);
    return clip.first_frame + select(row, row - clip.stored, row >= clip.stored);
}

fn gpuskin_frame_pair(playback: GpuskinPlayback, clip: GpuskinClip, now: vec2<u32>) -> GpuskinFramePair {
    let phase = gpuskin_phase(playback, now);
    var position = gpuskin_multiply(phase.value, clip.intervals);
    if (phase.ended) {
        position = vec2<u32>(clip.intervals, 0u);
    }
    let a = position.x;
    return GpuskinFramePair(
        gpuskin_stored_frame(clip, a),
        gpuskin_stored_frame(clip, min(a + 1u, clip.intervals)),
        f32(position.y >> 8u) / 16777216.0,
        clip.first_frame,
    );
}
