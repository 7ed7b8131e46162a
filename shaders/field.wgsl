// Fields: derives each instance from its number and position by a formula. CPU reference:
// gpuskin-rt/src/field.rs, which documents the meaning of all values.

// Layout of FieldUniform in gpuskin-rt/src/field.rs.
struct GpuskinField {
    // Corner with the smallest x and z, metres.
    origin: vec3<f32>,
    // Instances along x; rows follow along z.
    columns: u32,
    // Metres between instances along x and z.
    spacing: vec2<f32>,
    // Number of the first cell along x and z, in a world-wide grid of this spacing.
    first_cell: vec2<u32>,
    // Smallest scale, and the range above it.
    scale: vec2<f32>,
    // Range of the offset from the cell's centre, in cells: both sides together.
    jitter: f32,
    seed: u32,
    // Largest turn about y: y of a quaternion with |y| + |w| = 32767.
    turn: u32,
    clip_count: u32,
    // Lowest speed as a fraction of the highest, 0.32 fixed point.
    slowest: u32,
    // Range of random phases, 0.32 fixed point of a cycle.
    scatter: u32,
    // Two colours, RGBA, 8 bits per channel.
    tints: vec2<u32>,
    // Factors from metres to units of 256 noise cells: for the choice of clips, where 0 makes it
    // random; and for waves.
    patches: f32,
    waves: f32,
    // Phase difference between crest and trough of a wave, in cycles.
    sway: f32,
    // Weight of the gust clip at a crest; then that clip, as word 12 of an instance.
    gusts: f32,
    gust: u32,
    // Number of variants to choose from; 0 for the own look of the model.
    variants: u32,
    // Wave speed along x, then z: 32.32 fixed point, units of 256 noise cells per second.
    travel: vec4<u32>,
    // Words 8 and 10 of an instance that plays the clip at the highest speed.
    clips: array<vec4<u32>, 8>,
}

// Hash of a number ("lowbias32", by C. Wellons).
fn gpuskin_hash(number: u32) -> u32 {
    var x = number;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}

fn gpuskin_hash_cell(position: vec2<u32>, seed: u32) -> u32 {
    return gpuskin_hash(position.x + gpuskin_hash(position.y + gpuskin_hash(seed)));
}

// The k-th random number of a hash.
fn gpuskin_random(hash: u32, k: u32) -> u32 {
    return gpuskin_hash(hash + k * 0x9e3779b9u);
}

// Upper 24 bits of a number, as 0..1.
fn gpuskin_unit(number: u32) -> f32 {
    return f32(number >> 8u) * (1.0 / 16777216.0);
}

// Position in the noise, which repeats after 256 cells: 0.32 fixed point of 256 cells.
fn gpuskin_noise_cell(metres: vec2<f32>, of_a_metre: f32) -> vec2<u32> {
    let turns = metres * of_a_metre;
    // A value slightly below zero would round up to one.
    return vec2<u32>(min(turns - floor(turns), vec2<f32>(0.99999994)) * 4294967296.0);
}

// Smooth noise, 0..1, with 256 x 256 cells of 2^24 steps.
fn gpuskin_noise(position: vec2<u32>, seed: u32) -> f32 {
    let cell = position >> vec2<u32>(24u);
    let next = (cell + 1u) & vec2<u32>(255u);
    let t = vec2<f32>(position & vec2<u32>(0xffffffu)) * (1.0 / 16777216.0);
    let smooth_t = t * t * (3.0 - 2.0 * t);
    let near = mix(
        gpuskin_unit(gpuskin_hash_cell(cell, seed)),
        gpuskin_unit(gpuskin_hash_cell(vec2<u32>(next.x, cell.y), seed)),
        smooth_t.x,
    );
    let far = mix(
        gpuskin_unit(gpuskin_hash_cell(vec2<u32>(cell.x, next.y), seed)),
        gpuskin_unit(gpuskin_hash_cell(next, seed)),
        smooth_t.x,
    );
    return mix(near, far, smooth_t.y);
}

// Fraction of a period travelled at a rate, both 32.32 fixed point: 0.32 fixed point.
fn gpuskin_wind_travel(rate: vec2<u32>, time: vec2<u32>) -> u32 {
    return gpuskin_multiply(time.y, rate.y).x + time.y * rate.x + time.x * rate.y;
}

// Hash of an instance of a field, from which its random numbers derive.
fn gpuskin_field_hash(number: u32) -> u32 {
    let cell = vec2<u32>(number % gpuskin_field.columns, number / gpuskin_field.columns);
    return gpuskin_hash_cell(gpuskin_field.first_cell + cell, gpuskin_field.seed);
}

// Instance of a field, by its number and the current time.
fn gpuskin_field_instance(number: u32, time: vec2<u32>) -> GpuskinInstance {
    let hash = gpuskin_field_hash(number);
    let cell = vec2<f32>(vec2<u32>(number % gpuskin_field.columns, number / gpuskin_field.columns));
    let random = vec2<f32>(gpuskin_unit(gpuskin_random(hash, 1u)), gpuskin_unit(gpuskin_random(hash, 2u)));
    let position = gpuskin_field.origin.xz + (cell + 0.5 + gpuskin_field.jitter * (random - 0.5)) * gpuskin_field.spacing;
    let scale = gpuskin_field.scale.x + gpuskin_field.scale.y * gpuskin_unit(gpuskin_random(hash, 3u));
    let turn = gpuskin_multiply(gpuskin_random(hash, 4u), 2u * gpuskin_field.turn + 1u).x;
    let y = i32(turn) - i32(gpuskin_field.turn);

    var choice = gpuskin_multiply(gpuskin_random(hash, 5u), gpuskin_field.clip_count).x;
    if (gpuskin_field.patches > 0.0) {
        let noise = gpuskin_noise(gpuskin_noise_cell(position, gpuskin_field.patches), gpuskin_field.seed);
        choice = min(u32(noise * f32(gpuskin_field.clip_count)), gpuskin_field.clip_count - 1u);
    }
    let clip = gpuskin_field.clips[choice].xy;
    // Scales the rate between the lowest speed and the full one; shift and sign stay.
    let more = gpuskin_multiply(gpuskin_random(hash, 6u), 0xffffffffu - gpuskin_field.slowest).x;
    let share = gpuskin_field.slowest + more;
    let mantissa = gpuskin_get_rate_mantissa(clip.x);
    let pace = gpuskin_multiply(mantissa, share).x | (clip.x - mantissa);

    var offset = gpuskin_multiply(gpuskin_random(hash, 7u), gpuskin_field.scatter).x;
    var fade = 0xffffu;
    if (gpuskin_field.waves > 0.0) {
        let travel = gpuskin_field.travel;
        let gone = vec2<u32>(gpuskin_wind_travel(travel.xy, time), gpuskin_wind_travel(travel.zw, time));
        let wave = gpuskin_noise(gpuskin_noise_cell(position, gpuskin_field.waves) - gone, gpuskin_field.seed + 1u);
        let ahead = wave * gpuskin_field.sway;
        offset += u32(min(ahead - floor(ahead), 0.99999994) * 4294967296.0);
        // 65535 shows nothing of the gust.
        fade -= u32(wave * wave * (3.0 - 2.0 * wave) * gpuskin_field.gusts * 65535.0);
    }
    return gpuskin_with_transform(
        gpuskin_playing(
            vec2<u32>(0u),
            vec2<u32>(pace, offset),
            vec2<u32>(clip.y, fade),
            vec4<u32>(gpuskin_field.gust, offset >> 16u, 0u, 0u),
        ),
        vec4<f32>(position.x, gpuskin_field.origin.y, position.y, scale),
        vec4<f32>(0.0, f32(y), 0.0, f32(32767 - abs(y))) / 32767.0,
    );
}

// Words of the appearance of an instance of a field.
fn gpuskin_field_appearance_words(number: u32) -> vec4<u32> {
    let hash = gpuskin_field_hash(number);
    let share = gpuskin_random(hash, 8u) >> 24u;
    let shifts = vec4<u32>(0u, 8u, 16u, 24u);
    let a = (vec4<u32>(gpuskin_field.tints.x) >> shifts) & vec4<u32>(0xffu);
    let b = (vec4<u32>(gpuskin_field.tints.y) >> shifts) & vec4<u32>(0xffu);
    let tint = ((a * (255u - share) + b * share) / 255u) << shifts;
    return vec4<u32>(tint.x | tint.y | tint.z | tint.w, 0u, hash, 0u);
}

// Appearance of an instance of a field.
fn gpuskin_field_appearance(number: u32) -> GpuskinAppearance {
    return gpuskin_appearance(gpuskin_field_appearance_words(number));
}
