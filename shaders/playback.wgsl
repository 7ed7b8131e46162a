// Finds the two frames that an instance plays, and the interpolation factor between them. CPU
// reference: gpuskin-rt/src/playback.rs.
//
// WGSL has no 64-bit integers: times and rates are vec2<u32>(high, low), in 32.32 fixed point.

// 16 bytes of the model's uniform buffer.
struct GpuskinClip {
    first_frame: u32,
    // Frame intervals from the clip's start to its end, at least 1.
    intervals: u32,
    // Number of stored frames: intervals + 1, or intervals if the last pose equals the first; less
    // the frames that `held` leaves out.
    stored: u32,
    // Bits 0-14: first of several equal frames. Bits 16-31: number of frames after it that are not
    // stored. Bit 15: each frame is shown until the next one.
    held: u32,
}

struct GpuskinPlayback {
    // Start time, seconds, 32.32 fixed point.
    start: vec2<u32>,
    // Cycles per second, 32.32 fixed point, two's complement. A cycle is the length of the clip;
    // twice that in ping-pong.
    rate: vec2<u32>,
    // Phase at the start time, 0.32 fixed point of a cycle.
    offset: u32,
    // Bits 0-15: index of the clip. Bit 31: play once and hold the last pose. Bit 30: ping-pong.
    clip: u32,
}

// Two frames of the animation texture; t = 0 is a, t = 1 is b.
struct GpuskinFramePair {
    a: u32,
    b: u32,
    t: f32,
    // First frame of the clip: the value ranges of packed frames are stored before it.
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

// 64-bit product (high, low) of two words: long multiplication with 16-bit digits. No sum
// overflows: (2^16 - 1)^2 + 2^16 - 1 < 2^32.
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

// now - start; 0 if now is earlier.
fn gpuskin_elapsed(time: vec2<u32>, start: vec2<u32>) -> vec2<u32> {
    let borrow = time.y < start.y;
    let early = time.x < start.x || (time.x == start.x && borrow);
    return select(vec2<u32>(time.x - start.x - u32(borrow), time.y - start.y), vec2<u32>(0u), early);
}

// Whether elapsed * rate, both 32.32, is a whole cycle or more: tests the upper 64 of the product's
// 128 bits.
fn gpuskin_exceeds_cycle(elapsed: vec2<u32>, rate: vec2<u32>) -> bool {
    // The lower words of the cross products are below one cycle each; together with the carry of
    // the lowest product they can exceed one.
    let cross_0 = gpuskin_multiply(elapsed.y, rate.x);
    let cross_1 = gpuskin_multiply(elapsed.x, rate.y);
    let fraction_0 = gpuskin_multiply(elapsed.y, rate.y).x + cross_0.y;
    let fraction = fraction_0 + cross_1.y;
    let carried = fraction_0 < cross_0.y || fraction < cross_1.y;
    let high = elapsed.x != 0u && rate.x != 0u;
    return carried || high || cross_0.x != 0u || cross_1.x != 0u;
}

// Phase within the cycle.
fn gpuskin_cycle_phase(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinPhase {
    let elapsed = gpuskin_elapsed(time, playback.start);
    let backwards = (playback.rate.x >> 31u) != 0u;
    let negated = vec2<u32>(~playback.rate.x + u32(playback.rate.y == 0u), ~playback.rate.y + 1u);
    let rate = select(playback.rate, negated, backwards);

    // elapsed * rate in 64.64 fixed point; a loop needs only the 32 bits just below the point.
    let fraction = gpuskin_multiply(elapsed.y, rate.y).x + elapsed.y * rate.x + elapsed.x * rate.y;
    let value = select(playback.offset + fraction, playback.offset - fraction, backwards);
    // Only a clip that plays once needs the whole cycles. This runs per vertex, and the rest of the
    // product is most of its cost.
    if ((playback.clip & gpuskin_once) != 0u) {
        let passed_a_cycle = gpuskin_exceeds_cycle(elapsed, rate);
        if (backwards) {
            return GpuskinPhase(select(value, 0u, passed_a_cycle || fraction > playback.offset), false);
        }
        return GpuskinPhase(value, passed_a_cycle || value < fraction);
    }
    return GpuskinPhase(value, false);
}

// Phase within the clip: a ping-pong cycle plays forwards in its lower half, backwards in its upper
// half.
fn gpuskin_phase(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinPhase {
    let phase = gpuskin_cycle_phase(playback, time);
    let folded = (phase.value << 1u) ^ select(0u, 0xffffffffu, (phase.value >> 31u) != 0u);
    return GpuskinPhase(select(phase.value, folded, (playback.clip & gpuskin_ping_pong) != 0u), phase.ended);
}

// Index in the animation texture of a frame of the clip.
fn gpuskin_stored_frame(clip: GpuskinClip, frame: u32) -> u32 {
    let held = clip.held & 0x7fffu;
    let row = frame - min(max(frame, held) - held, clip.held >> 16u);
    return clip.first_frame + select(row, row - clip.stored, row >= clip.stored);
}

// Interpolation factor of values that each frame holds until the next one. Times of keys are rounded, and may
// lie slightly before the frame that they name.
fn gpuskin_stepped(t: f32) -> f32 {
    return select(0.0, 1.0, t >= 0.9921875);
}

fn gpuskin_frame_pair(playback: GpuskinPlayback, clip: GpuskinClip, time: vec2<u32>) -> GpuskinFramePair {
    let phase = gpuskin_phase(playback, time);
    var position = gpuskin_multiply(phase.value, clip.intervals);
    if (phase.ended) {
        position = vec2<u32>(clip.intervals, 0u);
    }
    let a = position.x;
    let t = f32(position.y >> 8u) / 16777216.0;
    return GpuskinFramePair(
        gpuskin_stored_frame(clip, a),
        gpuskin_stored_frame(clip, min(a + 1u, clip.intervals)),
        select(t, gpuskin_stepped(t), (clip.held & 0x8000u) != 0u),
        clip.first_frame,
    );
}
