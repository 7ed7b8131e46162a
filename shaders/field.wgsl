// Instances that a formula makes of their number and the place where they stand: fields. Twin of gpuskin-rt/src/field.rs,
// whose documentation has the meaning of all.

// Twin of FieldUniform in gpuskin-rt/src/field.rs.
struct GpuskinField {
    // Metres: the corner of least x and z.
    origin: vec3<f32>,
    // Instances along x; rows follow each other along z.
    columns: u32,
    // Metres from one to the next along x and z.
    spacing: vec2<f32>,
    // Number of the first along x and z, among all that fields of this spacing have in the world.
    first_cell: vec2<u32>,
    // Least, and how much more there may be.
    scale: vec2<f32>,
    // How far one may stand from the middle of its cell, in cells: both sides together.
    jitter: f32,
    seed: u32,
    // How far one may be turned: y of a quaternion whose |y| + |w| is 32767.
    turn: u32,
    clip_count: u32,
    // Of the greatest speed, the least, in 0.32 fixed point.
    slowest: u32,
    // Of a cycle, what phases of their own differ by, in 0.32 fixed point.
    scatter: u32,
    // Two colours, RGBA of 8 bits each.
    tints: vec2<u32>,
    // What metres are multiplied by for 256 cells of noise: for the choice of clips, 0 to draw lots; for waves.
    patches: f32,
    waves: f32,
    // Cycles that a wave's crest is ahead of its trough.
    sway: f32,
    // How much of the gust's clip a crest shows, and which: word 12 of an instance.
    gusts: f32,
    gust: u32,
    reserved: u32,
    // What waves go a second along x, then z, in 32.32 fixed point of 256 cells.
    travel: vec4<u32>,
    // Words 8 and 10 of an instance that plays the clip, at the greatest speed.
    clips: array<vec4<u32>, 8>,
}

// A number that tells nothing of the one that it is made of ("lowbias32", by C. Wellons).
fn gpuskin_hash(number: u32) -> u32 {
    var x = number;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}

fn gpuskin_hash_2(place: vec2<u32>, seed: u32) -> u32 {
    return gpuskin_hash(place.x + gpuskin_hash(place.y + gpuskin_hash(seed)));
}

// The k-th of the numbers that are drawn for a hash.
fn gpuskin_lot(hash: u32, k: u32) -> u32 {
    return gpuskin_hash(hash + k * 0x9e3779b9u);
}

// The upper 24 bits of a number, as 0..1.
fn gpuskin_unit(number: u32) -> f32 {
    return f32(number >> 8u) * (1.0 / 16777216.0);
}

// A length of 256 cells of noise, which then starts over, in 0.32 fixed point.
fn gpuskin_noise_place(metres: vec2<f32>, of_a_metre: f32) -> vec2<u32> {
    let turns = metres * of_a_metre;
    // What lies a little below zero would round up to one.
    return vec2<u32>(min(turns - floor(turns), vec2<f32>(0.99999994)) * 4294967296.0);
}

// Smooth noise, 0..1: a place has 256 x 256 cells of 2^24 steps.
fn gpuskin_noise(place: vec2<u32>, seed: u32) -> f32 {
    let cell = place >> vec2<u32>(24u);
    let next = (cell + 1u) & vec2<u32>(255u);
    let t = vec2<f32>(place & vec2<u32>(0xffffffu)) * (1.0 / 16777216.0);
    let smooth_t = t * t * (3.0 - 2.0 * t);
    let near = mix(
        gpuskin_unit(gpuskin_hash_2(cell, seed)),
        gpuskin_unit(gpuskin_hash_2(vec2<u32>(next.x, cell.y), seed)),
        smooth_t.x,
    );
    let far = mix(
        gpuskin_unit(gpuskin_hash_2(vec2<u32>(cell.x, next.y), seed)),
        gpuskin_unit(gpuskin_hash_2(next, seed)),
        smooth_t.x,
    );
    return mix(near, far, smooth_t.y);
}

// How far something has come that goes round at a rate, both 32.32 fixed point: the part of a round, 0.32.
fn gpuskin_travelled(rate: vec2<u32>, now: vec2<u32>) -> u32 {
    return gpuskin_multiply(now.y, rate.y).x + now.y * rate.x + now.x * rate.y;
}

// Of an instance of a field, the number that its lots are drawn for.
fn gpuskin_field_hash(number: u32) -> u32 {
    let cell = vec2<u32>(number % gpuskin_field.columns, number / gpuskin_field.columns);
    return gpuskin_hash_2(gpuskin_field.first_cell + cell, gpuskin_field.seed);
}

// The instance of that number at a moment.
fn gpuskin_field_instance(number: u32, now: vec2<u32>) -> GpuskinInstance {
    let hash = gpuskin_field_hash(number);
    let cell = vec2<f32>(vec2<u32>(number % gpuskin_field.columns, number / gpuskin_field.columns));
    let lots = vec2<f32>(gpuskin_unit(gpuskin_lot(hash, 1u)), gpuskin_unit(gpuskin_lot(hash, 2u)));
    let place = gpuskin_field.origin.xz + (cell + 0.5 + gpuskin_field.jitter * (lots - 0.5)) * gpuskin_field.spacing;
    let scale = gpuskin_field.scale.x + gpuskin_field.scale.y * gpuskin_unit(gpuskin_lot(hash, 3u));
    let turn = gpuskin_multiply(gpuskin_lot(hash, 4u), 2u * gpuskin_field.turn + 1u).x;
    let y = i32(turn) - i32(gpuskin_field.turn);

    var choice = gpuskin_multiply(gpuskin_lot(hash, 5u), gpuskin_field.clip_count).x;
    if (gpuskin_field.patches > 0.0) {
        let noise = gpuskin_noise(gpuskin_noise_place(place, gpuskin_field.patches), gpuskin_field.seed);
        choice = min(u32(noise * f32(gpuskin_field.clip_count)), gpuskin_field.clip_count - 1u);
    }
    let clip = gpuskin_field.clips[choice].xy;
    // Of the pace, between the least and all of it: the shift and the sign stay.
    let more = gpuskin_multiply(gpuskin_lot(hash, 6u), 0xffffffffu - gpuskin_field.slowest).x;
    let share = gpuskin_field.slowest + more;
    let pace = gpuskin_multiply(clip.x & 0x3ffffffu, share).x | (clip.x & 0xfc000000u);

    var offset = gpuskin_multiply(gpuskin_lot(hash, 7u), gpuskin_field.scatter).x;
    var fade = 0xffffu;
    if (gpuskin_field.waves > 0.0) {
        let travel = gpuskin_field.travel;
        let gone = vec2<u32>(gpuskin_travelled(travel.xy, now), gpuskin_travelled(travel.zw, now));
        let wave = gpuskin_noise(gpuskin_noise_place(place, gpuskin_field.waves) - gone, gpuskin_field.seed + 1u);
        let ahead = wave * gpuskin_field.sway;
        offset += u32(min(ahead - floor(ahead), 0.99999994) * 4294967296.0);
        // 65535 is none of the gust.
        fade -= u32(wave * wave * (3.0 - 2.0 * wave) * gpuskin_field.gusts * 65535.0);
    }
    return gpuskin_instance(
        bitcast<vec4<u32>>(vec4<f32>(place.x, gpuskin_field.origin.y, place.y, scale)),
        vec4<u32>(u32(y) << 16u, u32(32767 - abs(y)) << 16u, 0u, 0u),
        vec4<u32>(pace, offset, clip.y, fade),
        vec4<u32>(gpuskin_field.gust, offset >> 16u, 0u, 0u),
    );
}

// How the instance of that number looks.
fn gpuskin_field_look(number: u32) -> GpuskinLook {
    let hash = gpuskin_field_hash(number);
    let share = gpuskin_lot(hash, 8u) >> 24u;
    let shifts = vec4<u32>(0u, 8u, 16u, 24u);
    let a = (vec4<u32>(gpuskin_field.tints.x) >> shifts) & vec4<u32>(0xffu);
    let b = (vec4<u32>(gpuskin_field.tints.y) >> shifts) & vec4<u32>(0xffu);
    let tint = ((a * (255u - share) + b * share) / 255u) << shifts;
    return gpuskin_look(vec4<u32>(tint.x | tint.y | tint.z | tint.w, 0u, hash, 0u));
}
