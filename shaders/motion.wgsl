// Motion pass: writes the transforms of instances that move at constant rates. One thread per
// instance. CPU reference and formula: gpuskin-rt/src/motion.rs. root_motion.wgsl adds instances that
// follow their root motion; with root_motion_none.wgsl there are none. terrain.wgsl puts instances on the
// ground; with terrain_none.wgsl there is none.

// Layout of MotionUniform in gpuskin-rt/src/motion.rs.
struct GpuskinMotionParameters {
    // Seconds, fraction.
    time: vec2<u32>,
    instances: u32,
    // Not used, zero.
    reserved: u32,
}

@group(0) @binding(0) var<uniform> gpuskin_parameters: GpuskinMotionParameters;
// gpuskin_motion_vectors per instance: MotionRecord or RootMotionRecord in gpuskin-rt/src/motion.rs.
@group(0) @binding(1) var<storage, read> gpuskin_motions: array<vec4<u32>>;
// Place records, two vectors per instance.
@group(0) @binding(2) var<storage, read_write> gpuskin_places: array<vec4<u32>>;

const gpuskin_group_size: u32 = 64u;

// Fraction of a turn after some time, 0.32 fixed point. elapsed: 32.32; turns: per second, 56
// fraction bits. Takes bits 56 to 87 of the product.
fn gpuskin_turned(elapsed: vec2<u32>, turns: vec2<u32>) -> u32 {
    let low = gpuskin_multiply(elapsed.y, turns.y);
    let cross_0 = gpuskin_multiply(elapsed.y, turns.x);
    let cross_1 = gpuskin_multiply(elapsed.x, turns.y);
    let half = low.x + cross_0.y;
    let word_1 = half + cross_1.y;
    let carry = u32(half < low.x) + u32(word_1 < half);
    let word_2 = cross_0.x + cross_1.x + elapsed.x * turns.x + carry;
    return (word_2 << 8u) | (word_1 >> 24u);
}

// Sine and cosine of an angle of at most a quarter of a turn. Taylor series: built-in functions may
// be off by 2^-11.
fn gpuskin_sin_cos(angle: f32) -> vec2<f32> {
    let s = angle * angle;
    let sine = angle
        * (1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0))))));
    let cosine = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0 * (1.0 - s / 132.0)))));
    return vec2<f32>(sine, cosine);
}

@compute @workgroup_size(64)
fn gpuskin_move(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = (group.y * groups.x + group.x) * gpuskin_group_size + thread;
    if (number >= gpuskin_parameters.instances) {
        return;
    }
    let at = number * gpuskin_motion_vectors;
    let velocity = gpuskin_motions[at + 2u];
    if (velocity.w == 0u || gpuskin_move_by_root(number, at, velocity.w)) {
        return;
    }
    let origin = bitcast<vec4<f32>>(gpuskin_motions[at]);
    let rotation = bitcast<vec4<f32>>(gpuskin_motions[at + 1u]);
    let v = bitcast<vec3<f32>>(velocity.xyz);
    let times = gpuskin_motions[at + 3u];
    let elapsed = gpuskin_elapsed(gpuskin_parameters.time, times.xy);
    let seconds = f32(elapsed.x) + f32(elapsed.y) * (1.0 / 4294967296.0);
    let turn_rate = origin.w;
    // Half of the angle turned. A small one is more precise as a product; others wrap exactly.
    let product = 0.5 * turn_rate * seconds;
    let is_small = abs(product) < 0.25;
    let turned = f32(bitcast<i32>(gpuskin_turned(elapsed, times.zw))) * (3.14159265 / 4294967296.0);
    let half = select(select(turned, -turned, turn_rate < 0.0), product, is_small);
    let sin_cos = gpuskin_sin_cos(half);
    // 2 sin(half) / rate = seconds * sin(half) / half.
    let s = half * half;
    let sinc = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0));
    var chord = seconds * sinc;
    if (!is_small) {
        chord = 2.0 * sin_cos.x / turn_rate;
    }
    let along = vec2<f32>(v.x * sin_cos.y + v.z * sin_cos.x, v.z * sin_cos.y - v.x * sin_cos.x);
    let moved = vec3<f32>(along.x * chord, v.y * seconds, along.y * chord);
    // (0, sin, 0, cos) * rotation.
    let turned_rotation = vec4<f32>(
        sin_cos.y * rotation.x + sin_cos.x * rotation.z,
        sin_cos.y * rotation.y + sin_cos.x * rotation.w,
        sin_cos.y * rotation.z - sin_cos.x * rotation.x,
        sin_cos.y * rotation.w - sin_cos.x * rotation.y,
    );
    gpuskin_put(number, origin.xyz + moved, turned_rotation);
}

// Writes position and rotation of an instance in the world.
fn gpuskin_write_place(number: u32, position: vec3<f32>, rotation: vec4<f32>) {
    let at = number * 2u;
    gpuskin_places[at] = vec4<u32>(bitcast<vec3<u32>>(position), gpuskin_places[at].w);
    gpuskin_places[at + 1u] = vec4<u32>(gpuskin_pack_rotation(rotation), gpuskin_places[at + 1u].zw);
}
