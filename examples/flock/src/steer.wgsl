// Flock: each starling follows the mean of its surroundings. Two passes per step, one thread per
// bird: `gather` adds each bird to its cell of a grid, `steer` moves it by the cells around it.
// After gpuskin_rt::pipeline::instance_writer_source and the constants of the clips.

struct Step {
    // Time::words().
    time: vec2<u32>,
    // Length of the step, seconds.
    seconds: f32,
    birds: u32,
    // Point that the flock circles, and its distance at which birds turn back, metres.
    roost: vec4<f32>,
    // Position of a hawk, and the distance at which birds flee, metres.
    hawk: vec4<f32>,
}

// State of a bird that its instance does not have.
struct Bird {
    // World space, metres per second.
    velocity: vec3<f32>,
    // Seconds until the bird may change its clip.
    wait: f32,
    // Direction of its back, unit length.
    up: vec3<f32>,
    // Random number from 0 to 1.
    lot: f32,
}

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read_write> places: array<GpuskinPlaceRecord>;
@group(0) @binding(2) var<storage, read_write> playbacks: array<GpuskinPlaybackRecord>;
@group(0) @binding(3) var<storage, read_write> birds: array<Bird>;
// Four sums per cell: birds, and their velocities in units of 1/256 m/s.
@group(0) @binding(4) var<storage, read_write> cells: array<atomic<i32>>;

// Metres. The grid repeats, so that the flock may be anywhere.
const CELL: f32 = 4.0;
const GRID: vec3<i32> = vec3<i32>(64, 32, 64);
// Birds per cubic metre that the flock settles at.
const DENSITY: f32 = 0.5;

fn cell_at(cell: vec3<i32>) -> u32 {
    let wrapped = cell & (GRID - 1);
    return u32((wrapped.y * GRID.z + wrapped.z) * GRID.x + wrapped.x) * 4u;
}

// Birds, and the sum of their velocities.
fn sums(cell: vec3<i32>) -> vec4<f32> {
    let at = cell_at(cell);
    let birds = f32(atomicLoad(&cells[at]));
    let x = f32(atomicLoad(&cells[at + 1u]));
    let y = f32(atomicLoad(&cells[at + 2u]));
    let z = f32(atomicLoad(&cells[at + 3u]));
    return vec4<f32>(vec3<f32>(x, y, z) / 256.0, birds);
}

@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= step.birds) {
        return;
    }
    let at = cell_at(vec3<i32>(floor(places[id.x].translation / CELL)));
    let velocity = vec3<i32>(round(birds[id.x].velocity * 256.0));
    atomicAdd(&cells[at], 1);
    atomicAdd(&cells[at + 1u], velocity.x);
    atomicAdd(&cells[at + 2u], velocity.y);
    atomicAdd(&cells[at + 3u], velocity.z);
}

// Quaternion of the rotation whose columns are left, up and ahead.
fn quaternion(left: vec3<f32>, up: vec3<f32>, ahead: vec3<f32>) -> vec4<f32> {
    // The largest of the four components, squared and times four, is at least 1.
    let w = 1.0 + left.x + up.y + ahead.z;
    let x = 1.0 + left.x - up.y - ahead.z;
    let y = 1.0 - left.x + up.y - ahead.z;
    let z = 1.0 - left.x - up.y + ahead.z;
    let most = max(max(w, x), max(y, z));
    var q = vec4<f32>(up.z - ahead.y, ahead.x - left.z, left.y - up.x, w);
    if (most == x) {
        q = vec4<f32>(x, up.x + left.y, ahead.x + left.z, up.z - ahead.y);
    } else if (most == y) {
        q = vec4<f32>(up.x + left.y, y, ahead.y + up.z, ahead.x - left.z);
    } else if (most == z) {
        q = vec4<f32>(ahead.x + left.z, ahead.y + up.z, z, left.y - up.x);
    }
    return normalize(q);
}

fn limited(v: vec3<f32>, most: f32) -> vec3<f32> {
    return v * min(1.0, most / max(length(v), 1e-6));
}

// Acceleration that a bird wants, m/s2.
fn wanted(place: vec3<f32>, bird: Bird) -> vec3<f32> {
    // The eight cells around the bird, weighted by distance; the gradient of their density.
    let corner = place / CELL - 0.5;
    let base = floor(corner);
    let t = corner - base;
    var near = vec4<f32>(0.0);
    var slope = vec3<f32>(0.0);
    for (var k = 0; k < 8; k++) {
        let offset = vec3<i32>(k & 1, (k >> 1u) & 1, k >> 2u);
        let side = vec3<f32>(offset);
        let cell = sums(vec3<i32>(base) + offset);
        let share = mix(1.0 - t, t, side);
        near += cell * (share.x * share.y * share.z);
        let sign = 2.0 * side - 1.0;
        slope += cell.w * sign * vec3<f32>(share.y * share.z, share.z * share.x, share.x * share.y);
    }
    let density = near.w / (CELL * CELL * CELL);
    let others = near.xyz / max(near.w, 1e-3);
    let align = (others - bird.velocity) * 1.6;
    // Towards the others where they are few, away where they are many.
    let crowded = clamp((density - DENSITY) / DENSITY, -1.0, 3.0);
    let apart = -normalize(slope + vec3<f32>(1e-6)) * crowded * 5.0;

    let home = step.roost.xyz - place;
    let far = max(length(home) - step.roost.w, 0.0);
    let back = normalize(home) * min(far * 0.5, 9.0);
    let to_hawk = place - step.hawk.xyz;
    let danger = max(1.0 - length(to_hawk) / step.hawk.w, 0.0);
    let flee = normalize(to_hawk) * danger * 60.0;

    // A turn of its own, slowly changing.
    let phase = 6.2831853 * bird.lot + f32(step.time.x % 4096u) + f32(step.time.y >> 8u) / 16777216.0;
    let own = vec3<f32>(sin(phase * 0.9), 0.5 * sin(phase * 1.3 + 2.0), cos(phase * 0.7 + bird.lot * 40.0)) * 2.2;

    // Level flight at 11 m/s; not lower than trees.
    let speed = length(bird.velocity);
    let cruise = bird.velocity / max(speed, 1e-3) * (11.0 - speed) * 1.2;
    let level = vec3<f32>(0.0, -0.35 * bird.velocity.y + 3.0 * max(14.0 - place.y, 0.0), 0.0);
    return limited(align + apart + back + flee + own + cruise + level, 38.0);
}

@compute @workgroup_size(64)
fn steer(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= step.birds) {
        return;
    }
    var bird = birds[id.x];
    let place = places[id.x].translation;
    let acceleration = wanted(place, bird);
    var velocity = bird.velocity + acceleration * step.seconds;
    velocity *= clamp(length(velocity), 6.0, 19.0) / max(length(velocity), 1e-3);
    bird.velocity = velocity;
    let ahead = normalize(velocity);
    // Birds bank: the wings carry them against gravity and into the turn.
    let lift = acceleration * 0.8 + vec3<f32>(0.0, 9.8, 0.0);
    let blend = 1.0 - exp(-step.seconds * 7.0);
    let back = mix(bird.up, normalize(lift), blend);
    let left = normalize(cross(back, ahead) + vec3<f32>(1e-6, 0.0, 0.0));
    bird.up = cross(ahead, left);
    places[id.x].translation = place + velocity * step.seconds;
    places[id.x].rotation = gpuskin_pack_rotation(quaternion(left, bird.up, ahead));

    // Wings beat on the way up and after slow flight, are held on the way down, and fold in a dive.
    bird.wait -= step.seconds;
    let speed = length(velocity);
    var clip = STARLING_FLAP;
    var seconds = FLAP_SECONDS;
    // Beats faster the steeper and the slower it flies.
    var rate = 2.6 + 0.25 * velocity.y - 0.06 * speed + 0.6 * bird.lot;
    if (velocity.y < -5.0 && speed > 12.0) {
        clip = STARLING_DIVE;
        seconds = DIVE_SECONDS;
        rate = 1.0;
    } else if (velocity.y < -0.4 && speed > 9.5) {
        clip = STARLING_GLIDE;
        seconds = GLIDE_SECONDS;
        rate = 1.0;
    }
    if (bird.wait <= 0.0) {
        let cycles = gpuskin_cycles_per_second(clamp(rate, 0.9, 4.0), seconds);
        if (clip != gpuskin_current_clip(playbacks[id.x])) {
            let phase = u32(bird.lot * 4294967040.0);
            playbacks[id.x] = gpuskin_play(playbacks[id.x], clip, cycles, phase, 0.2, step.time);
        } else {
            playbacks[id.x] = gpuskin_set_rate(playbacks[id.x], cycles, step.time);
        }
        bird.wait = 0.35 + 0.5 * bird.lot;
    }
    birds[id.x] = bird;
}
