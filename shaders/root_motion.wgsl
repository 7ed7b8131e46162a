// Root motion of instances in the motion pass. CPU reference and formulas:
// gpuskin-rt/src/root_motion.rs, gpuskin-rt/src/root_blend.rs, and gpuskin-rt/src/root_table.rs for
// whole loops.

// Playback records, three vectors per instance.
@group(0) @binding(3) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;
// Clips and their keys: gpuskin-rt/src/root_table.rs.
@group(0) @binding(4) var<storage, read> gpuskin_roots: array<vec4<u32>>;

const gpuskin_motion_vectors: u32 = 7u;
const gpuskin_moves_by_root: u32 = 2u;

// First the rotation, a unit quaternion, then the translation in metres.
struct GpuskinDisplacement {
    rotation: vec4<f32>,
    translation: vec3<f32>,
}

fn gpuskin_then(a: GpuskinDisplacement, b: GpuskinDisplacement) -> GpuskinDisplacement {
    return GpuskinDisplacement(
        gpuskin_quaternion_product(a.rotation, b.rotation),
        a.translation + gpuskin_rotate(a.rotation, b.translation),
    );
}

fn gpuskin_inverse(a: GpuskinDisplacement) -> GpuskinDisplacement {
    let rotation = vec4<f32>(-a.rotation.xyz, a.rotation.w);
    return GpuskinDisplacement(rotation, gpuskin_rotate(rotation, -a.translation));
}

// Number of loops completed since the start of a clip that loops, modulo 2^32; 0 for other clips.
fn gpuskin_loops(playback: GpuskinPlayback, time: vec2<u32>) -> u32 {
    if ((playback.clip & (gpuskin_once | gpuskin_ping_pong)) != 0u) {
        return 0u;
    }
    let elapsed = gpuskin_elapsed(time, playback.start);
    let backwards = (playback.rate.x >> 31u) != 0u;
    let negated = vec2<u32>(~playback.rate.x + u32(playback.rate.y == 0u), ~playback.rate.y + 1u);
    let rate = select(playback.rate, negated, backwards);
    // Whole cycles and fraction of elapsed * rate, in 64.64 fixed point.
    let cross_0 = gpuskin_multiply(elapsed.y, rate.x);
    let cross_1 = gpuskin_multiply(elapsed.x, rate.y);
    let fraction_0 = gpuskin_multiply(elapsed.y, rate.y).x + cross_0.y;
    let fraction = fraction_0 + cross_1.y;
    let carry = u32(fraction_0 < cross_0.y) + u32(fraction < cross_1.y);
    let cycles = cross_0.x + cross_1.x + elapsed.x * rate.x + carry;
    if (backwards) {
        return 0u - cycles - u32(fraction > playback.offset);
    }
    return cycles + u32(playback.offset + fraction < fraction);
}

// Displacement since the start of the loop.
fn gpuskin_root_at(playback: GpuskinPlayback, header: vec4<u32>, time: vec2<u32>) -> GpuskinDisplacement {
    let phase = gpuskin_phase(playback, time);
    var position = gpuskin_multiply(phase.value, header.y);
    if (phase.ended) {
        position = vec2<u32>(header.y, 0u);
    }
    let key = header.x + position.x * 3u;
    let next = header.x + min(position.x + 1u, header.y) * 3u;
    let t = f32(position.y) * (1.0 / 4294967296.0);
    let a = bitcast<vec3<f32>>(gpuskin_roots[key].xyz);
    let b = bitcast<vec3<f32>>(gpuskin_roots[next].xyz);
    let half_turn = bitcast<vec3<f32>>(gpuskin_roots[key + 2u].xyz);
    let half = length(half_turn);
    let sin_cos = gpuskin_sin_cos(half * t);
    let turn = vec4<f32>(half_turn * select(t, sin_cos.x / half, half > 1e-6), sin_cos.y);
    let rotation = gpuskin_quaternion_product(bitcast<vec4<f32>>(gpuskin_roots[key + 1u]), turn);
    return GpuskinDisplacement(rotation, a + (b - a) * t);
}

// Part of a displacement over some loops that no vector depends on.
struct GpuskinScrew {
    loops: f32,
    // Sine and cosine of half of the angle.
    sin_cos: vec2<f32>,
    // sin(n a / 2) / (a / 2), where a is the angle per loop.
    arc: f32,
}

// Negative loops are backwards.
fn gpuskin_screw(clip: u32, loops: i32) -> GpuskinScrew {
    let turns = gpuskin_roots[clip * 4u].zw;
    let angle = bitcast<f32>(gpuskin_roots[clip * 4u + 1u].w);
    let count = f32(loops);
    // Half of the angle. A small one is more precise as a product; others wrap exactly.
    var half = 0.5 * angle * count;
    if (abs(half) < 0.25) {
        let s = half * half;
        let sinc = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0));
        return GpuskinScrew(count, gpuskin_sin_cos(half), count * sinc);
    }
    let times = u32(abs(loops));
    let turned = gpuskin_multiply(times, turns.y).x + times * turns.x;
    half = f32(bitcast<i32>(turned)) * (3.14159265 / 4294967296.0) * sign(count);
    let sin_cos = gpuskin_sin_cos(half);
    return GpuskinScrew(count, sin_cos, sin_cos.x * 2.0 / angle);
}

fn gpuskin_screw_translation(screw: GpuskinScrew, axis: vec3<f32>, along: vec3<f32>, across: vec3<f32>) -> vec3<f32> {
    let turned = across * screw.sin_cos.y + cross(axis, across) * screw.sin_cos.x;
    return along * screw.loops + turned * screw.arc;
}

// Displacement by a clip alone between two times.
fn gpuskin_by_clip(playback: GpuskinPlayback, start: vec2<u32>, end: vec2<u32>) -> GpuskinDisplacement {
    let clip = playback.clip & gpuskin_clip_mask;
    let header = gpuskin_roots[clip * 4u];
    if (header.y == 0u) {
        return GpuskinDisplacement(vec4<f32>(0.0, 0.0, 0.0, 1.0), vec3<f32>(0.0));
    }
    var moved = gpuskin_root_at(playback, header, end);
    let loops = bitcast<i32>(gpuskin_loops(playback, end) - gpuskin_loops(playback, start));
    if (loops != 0) {
        let screw = gpuskin_screw(clip, loops);
        let axis = bitcast<vec3<f32>>(gpuskin_roots[clip * 4u + 1u].xyz);
        let along = bitcast<vec3<f32>>(gpuskin_roots[clip * 4u + 2u].xyz);
        let across = bitcast<vec3<f32>>(gpuskin_roots[clip * 4u + 3u].xyz);
        let translation = gpuskin_screw_translation(screw, axis, along, across);
        moved = gpuskin_then(GpuskinDisplacement(vec4<f32>(axis * screw.sin_cos.x, screw.sin_cos.y), translation), moved);
    }
    return gpuskin_then(gpuskin_inverse(gpuskin_root_at(playback, header, start)), moved);
}

// Mean weight of a fade between two progresses of 0..1. CPU reference: Curve::mean_weight in
// gpuskin-rt/src/transition.rs.
fn gpuskin_mean_weight(curve: u32, start: f32, end: f32) -> f32 {
    let p = 0.5 * (start + end);
    let square = (start * start + start * end + end * end) / 3.0;
    if (curve == 0u) {
        return p;
    } else if (curve == 1u) {
        return 3.0 * square - p * (start * start + end * end);
    } else if (curve == 2u) {
        return square;
    }
    return 2.0 * p - square;
}

fn gpuskin_seconds(time: vec2<u32>) -> f32 {
    return f32(time.x) + f32(time.y) * (1.0 / 4294967296.0);
}

fn gpuskin_add_times(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.y + b.y;
    return vec2<u32>(a.x + b.x + u32(low < b.y), low);
}

fn gpuskin_times(time: vec2<u32>, count: u32) -> vec2<u32> {
    let low = gpuskin_multiply(time.y, count);
    return vec2<u32>(low.x + time.x * count, low.y);
}

fn gpuskin_is_before(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

// Displacement since the start of a crossfade, which goes on at `time`. It has `steps` steps of `step`
// seconds.
fn gpuskin_fade_displacement(
    instance: GpuskinInstance,
    step: vec2<u32>,
    steps: u32,
    time: vec2<u32>,
) -> GpuskinDisplacement {
    let curve = gpuskin_get_fade_curve(instance.sources.w >> 16u);
    let older = gpuskin_older_weight(instance);
    let progress = f32(instance.fade & 0xffffu) * (1.0 / 65535.0);
    let each = (1.0 - progress) / f32(steps);
    var sum = GpuskinDisplacement(vec4<f32>(0.0, 0.0, 0.0, 1.0), vec3<f32>(0.0));
    var start = instance.playback.start;
    for (var i = 0u; i < steps && gpuskin_is_before(start, time); i++) {
        let next = gpuskin_add_times(start, step);
        var end = next;
        if (gpuskin_is_before(time, next)) {
            end = time;
        }
        let before = progress + each * f32(i);
        let part = gpuskin_seconds(gpuskin_elapsed(end, start)) / gpuskin_seconds(step);
        let weight = gpuskin_mean_weight(curve, before, before + each * part);
        var translation = vec3<f32>(0.0);
        var rotation = vec4<f32>(0.0);
        // A loop, so that compilers expand the function once.
        for (var j = 0u; j < 3u; j++) {
            var playback = instance.playback;
            var share = weight;
            if (j == 1u) {
                playback = gpuskin_source(instance, instance.sources.xy);
                share = (1.0 - weight) * (1.0 - older);
            } else if (j == 2u) {
                playback = gpuskin_source(instance, instance.sources.zw);
                share = (1.0 - weight) * older;
            }
            if (share > 0.0) {
                let moved = gpuskin_by_clip(playback, start, end);
                let turn = select(moved.rotation, -moved.rotation, moved.rotation.w < 0.0);
                // Half of the turn, backwards.
                translation += gpuskin_rotate(vec4<f32>(-turn.xyz, turn.w + 1.0), moved.translation) * share;
                rotation += turn * share;
            }
        }
        let size = length(rotation);
        rotation = select(vec4<f32>(0.0, 0.0, 0.0, 1.0), rotation / size, size > 1e-3);
        translation = gpuskin_rotate(vec4<f32>(rotation.xyz, rotation.w + 1.0), translation);
        sum = gpuskin_then(sum, GpuskinDisplacement(rotation, translation));
        start = next;
    }
    return sum;
}

// Writes the transform of an instance that follows its root motion. Returns false for others.
fn gpuskin_move_by_root(number: u32, at: u32, moving: u32) -> bool {
    if (moving != gpuskin_moves_by_root) {
        return false;
    }
    let words_0 = gpuskin_playbacks[number * 3u];
    let words_1 = gpuskin_playbacks[number * 3u + 1u];
    let words_2 = gpuskin_playbacks[number * 3u + 2u];
    let sources = vec4<u32>(words_1.zw, words_2.xy);
    let instance = gpuskin_playing(words_0.xy, words_0.zw, words_1.xy, sources);
    let times = gpuskin_motions[at + 3u];
    var time = gpuskin_parameters.time;
    if (gpuskin_is_before(time, times.xy)) {
        time = times.xy;
    }
    let last = gpuskin_motions[at + 6u];
    let steps = last.w;
    let fades = steps != 0u
        && gpuskin_is_before(gpuskin_elapsed(time, instance.playback.start), gpuskin_times(times.zw, steps));
    var origin = bitcast<vec3<f32>>(gpuskin_motions[at].xyz);
    var rotation = bitcast<vec4<f32>>(gpuskin_motions[at + 1u]);
    var moved = GpuskinDisplacement(vec4<f32>(0.0, 0.0, 0.0, 1.0), vec3<f32>(0.0));
    if (fades) {
        moved = gpuskin_fade_displacement(instance, times.zw, steps, time);
    } else {
        let loop_origin = gpuskin_motions[at + 4u];
        origin = bitcast<vec3<f32>>(loop_origin.xyz);
        rotation = bitcast<vec4<f32>>(gpuskin_motions[at + 5u]);
        let clip = instance.playback.clip & gpuskin_clip_mask;
        let header = gpuskin_roots[clip * 4u];
        if (header.y != 0u) {
            moved = gpuskin_root_at(instance.playback, header, time);
            let loops = bitcast<i32>(gpuskin_loops(instance.playback, time) - loop_origin.w);
            if (loops != 0) {
                // In world space, because rotating a vector of kilometres would round more.
                let screw = gpuskin_screw(clip, loops);
                let axis = bitcast<vec3<f32>>(gpuskin_roots[clip * 4u + 1u].xyz);
                let along = bitcast<vec3<f32>>(gpuskin_motions[at + 2u].xyz);
                let across = bitcast<vec3<f32>>(last.xyz);
                origin += gpuskin_screw_translation(screw, gpuskin_rotate(rotation, axis), along, across);
                rotation = gpuskin_quaternion_product(rotation, vec4<f32>(axis * screw.sin_cos.x, screw.sin_cos.y));
            }
        }
    }
    let scale = gpuskin_places[number * 2u].w;
    let position = origin + gpuskin_rotate(rotation, moved.translation * bitcast<f32>(scale));
    gpuskin_put(number, position, normalize(gpuskin_quaternion_product(rotation, moved.rotation)));
    return true;
}
