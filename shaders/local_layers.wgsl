// Layers over the current clip of an instance: two layers of clips with masks, then live bones. CPU
// reference: gpuskin-rt/src/layers.rs, which documents layout and formulas.

// Layer; layer 0 is the instance's own animation.
struct GpuskinLayer {
    // Weight of the layer over the pose below.
    weight: f32,
    // Weight of the layer's current clip over its fade-out clips.
    current: f32,
    // Weight of the second fade-out clip in the blend of both.
    older: f32,
    // Index of the mask plus one; 0 is all nodes.
    mask: u32,
}

// Live bones: a pose computed by the game.
struct GpuskinLive {
    weight: f32,
    // 1: transform of each node to its parent. 2: matrix of each bone to model space.
    kind: u32,
    // Start of the pose in gpuskin_layer_words.
    at: u32,
}

const gpuskin_live_locals: u32 = 1u;
const gpuskin_live_matrices: u32 = 2u;

// Layers of this workgroup's instance, evaluated once. Three clips per layer: the current one and
// two fade-out clips.
var<workgroup> gpuskin_clips: array<GpuskinLocalFrames, 9>;
var<workgroup> gpuskin_layers: array<GpuskinLayer, 3>;
var<workgroup> gpuskin_live: GpuskinLive;

// Weight that fades from one value to another; ends: both, 16 bits each.
fn gpuskin_layer_weight(ends: u32, fade: u32, curve: u32, elapsed: vec2<u32>) -> f32 {
    let p = gpuskin_curve(curve, gpuskin_progress(fade, elapsed));
    let fraction = vec2<f32>(vec2<u32>(ends & 0xffffu, ends >> 16u)) * (1.0 / 65535.0);
    return fraction.x * (1.0 - p) + fraction.y * p;
}

// Factor of the weight of a layer that fades out at the end of its clip; rate: the packed rate of its
// clip, which a pause does not change. units: 0 for a layer that stays, else 1 plus 64 times the
// seconds of the fade-out.
fn gpuskin_fade_out(units: u32, rate: u32, curve: u32, playback: GpuskinPlayback, time: vec2<u32>) -> f32 {
    let mantissa = gpuskin_get_rate_mantissa(rate);
    if (units == 0u || mantissa == 0u || (playback.clip & gpuskin_once) == 0u) {
        return 1.0;
    }
    let phase = gpuskin_cycle_phase(playback, time);
    let phase_left = select(select(~phase.value, phase.value, gpuskin_get_rate_sign(rate) != 0u), 0u, phase.ended);
    if (phase_left == 0u) {
        return 0.0;
    }
    // Both in units of 2^-32.
    let per_second = f32(mantissa) * bitcast<f32>((gpuskin_get_rate_shift(rate) + 127u) << 23u);
    let fade_outs_left = f32(phase_left) / per_second * 64.0 / max(f32(units - 1u), 1e-6);
    return gpuskin_curve(curve, min(fade_outs_left, 1.0));
}

// Evaluates clips, weights and live bones of an instance, one clip per thread. slot: number of the
// layer set; 0: no layers. live_at: start of the live poses of this time.
fn gpuskin_find_pose_blend(thread: u32, base: GpuskinInstance, slot: u32, time: vec2<u32>, live_at: u32) {
    let layer = thread / 3u;
    let clip = thread % 3u;
    if (layer > select(0u, 2u, slot != 0u)) {
        return;
    }
    var instance = base;
    var sample = GpuskinLayer(1.0, 1.0, 0.0, 0u);
    if (layer > 0u) {
        let at = (slot - 1u) * gpuskin_slot_vectors + (layer - 1u) * gpuskin_layer_vectors;
        let a = gpuskin_layer_vector(at);
        let b = gpuskin_layer_vector(at + 1u);
        instance = gpuskin_playing(a.xy, a.zw, b.xy, gpuskin_layer_vector(at + 2u));
        let curve = gpuskin_get_weight_curve(b.x);
        sample.weight = gpuskin_layer_weight(b.z, b.w, curve, gpuskin_seconds_since_start(instance, time));
        sample.weight *= gpuskin_fade_out(gpuskin_get_layer_fade_out(instance.sources.w >> 16u), a.z, curve, instance.playback, time);
        sample.mask = gpuskin_get_mask(b.x);
    }
    var playback = instance.playback;
    if (clip == 0u) {
        sample.current = gpuskin_weight(instance, time);
        sample.older = gpuskin_older_weight(instance);
        gpuskin_layers[layer] = sample;
    } else {
        playback = gpuskin_source(instance, select(instance.sources.xy, instance.sources.zw, clip == 2u));
    }
    gpuskin_clips[thread] = gpuskin_local_frames(playback, time);
    if (thread == 0u) {
        var live = GpuskinLive(0.0, 0u, 0u);
        if (slot != 0u) {
            let at = (slot - 1u) * gpuskin_slot_vectors + gpuskin_live_vector;
            let a = gpuskin_layer_vector(at);
            let b = gpuskin_layer_vector(at + 1u);
            live.kind = gpuskin_get_live_kind(b.x);
            let weight = gpuskin_layer_weight(a.z, a.w, gpuskin_get_live_curve(b.x), gpuskin_elapsed(time, a.xy));
            live.weight = select(0.0, weight, live.kind != 0u);
            live.at = live_at + b.y * gpuskin_parameters.live_stride;
        }
        gpuskin_live = live;
    }
}

fn gpuskin_in_mask(mask: u32, node: u32) -> bool {
    if (mask == 0u) {
        return true;
    }
    let words = (gpuskin_word(gpuskin_node_count) + 31u) / 32u;
    let at = gpuskin_word(gpuskin_masks_at) + (mask - 1u) * words;
    return ((gpuskin_word(at + node / 32u) >> (node & 31u)) & 1u) != 0u;
}

// Applies an additive clip to a transform: adds the difference from reference to pose, in the
// node's own space.
fn gpuskin_add_local(under: GpuskinLocal, reference: GpuskinLocal, pose: GpuskinLocal) -> GpuskinLocal {
    let back = vec4<f32>(-reference.rotation.xyz, reference.rotation.w);
    let stretch = select(pose.scale / reference.scale, vec3<f32>(1.0), reference.scale == vec3<f32>(0.0));
    return GpuskinLocal(
        gpuskin_multiply_rotations(under.rotation, gpuskin_multiply_rotations(back, pose.rotation)),
        under.translation + (pose.translation - reference.translation),
        under.scale * stretch,
    );
}

// Pose of one clip of a layer for a node: the clip's own pose, or for an additive clip the pose
// below plus the clip.
fn gpuskin_blend_clip(under: GpuskinLocal, clip_frames: GpuskinLocalFrames, node: u32, layer: u32) -> GpuskinLocal {
    let reference = select(gpuskin_word(clip_frames.clip_at + gpuskin_reference), 0u, layer == 0u);
    var own: GpuskinLocal;
    var sampled = clip_frames;
    if (reference != 0u) {
        sampled = GpuskinLocalFrames(gpuskin_local_clip_at(reference - 1u), 0u, 0u, 0.0);
    }
    // A loop of one or two turns: drivers inline every call, and compiling two copies takes long.
    for (var turn = select(1u, 0u, reference != 0u); turn < 2u; turn++) {
        let pose = gpuskin_local(sampled, node);
        if (reference != 0u && turn == 1u) {
            own = gpuskin_add_local(under, own, pose);
        } else {
            own = pose;
        }
        sampled = clip_frames;
    }
    return own;
}

fn gpuskin_all_finite(words: vec4<u32>) -> bool {
    return all((words & vec4<u32>(0x7f800000u)) != vec4<u32>(0x7f800000u));
}

// Live transform of a node; not sound if a number is not finite or the rotation has no length.
struct GpuskinLiveLocal {
    local: GpuskinLocal,
    is_sound: bool,
}

fn gpuskin_live_local(at: u32) -> GpuskinLiveLocal {
    let a = gpuskin_layer_vector(at);
    let b = gpuskin_layer_vector(at + 1u);
    let c = gpuskin_layer_vector(at + 2u);
    let rotation = bitcast<vec4<f32>>(a);
    let square = dot(rotation, rotation);
    let finite = gpuskin_all_finite(a) && gpuskin_all_finite(b) && gpuskin_all_finite(c);
    return GpuskinLiveLocal(
        GpuskinLocal(rotation / sqrt(square), bitcast<vec3<f32>>(b.xyz), bitcast<vec3<f32>>(vec3(b.w, c.xy))),
        finite && square > 1e-30 && square < 1e30,
    );
}

// Blends the layers of a node: layer 0 is the instance's own animation, the last one live bones.
fn gpuskin_layered(node: u32, layers: u32) -> GpuskinLocal {
    var under: GpuskinLocal;
    for (var layer = 0u; layer < layers; layer++) {
        var pose: GpuskinLocal;
        var weight: f32;
        if (layer == 3u) {
            if (gpuskin_live.kind != gpuskin_live_locals || gpuskin_live.weight <= 0.0) {
                continue;
            }
            let own = gpuskin_live_local(gpuskin_live.at + node * 3u);
            if (!own.is_sound) {
                continue;
            }
            pose = own.local;
            weight = gpuskin_live.weight;
        } else {
            let sample = gpuskin_layers[layer];
            if (sample.weight <= 0.0 || !gpuskin_in_mask(sample.mask, node)) {
                continue;
            }
            // Fade-out clips first, then the current clip. The first one with a weight is taken as
            // it is.
            for (var part = select(0u, 2u, sample.current >= 1.0); part < 3u; part++) {
                var t = select(1.0, sample.older, part == 1u);
                t = select(t, sample.current, part == 2u);
                if (t <= 0.0) {
                    continue;
                }
                let own = gpuskin_blend_clip(under, gpuskin_clips[layer * 3u + (part + 1u) % 3u], node, layer);
                if (part == 0u || t >= 1.0) {
                    pose = own;
                } else {
                    pose = gpuskin_mix_locals(pose, own, t);
                }
            }
            weight = sample.weight;
        }
        if (layer == 0u || weight >= 1.0) {
            under = pose;
        } else {
            under = gpuskin_mix_locals(under, pose, weight);
        }
    }
    return under;
}

// Rotation of an affine matrix: from its first column, and the part of its second column
// perpendicular to it. Identity if either has no length.
fn gpuskin_rotation_of(m: mat3x4<f32>) -> vec4<f32> {
    let x = vec3<f32>(m[0].x, m[1].x, m[2].x);
    let x_square = dot(x, x);
    let across = vec3<f32>(m[0].y, m[1].y, m[2].y);
    let y = across - x * (dot(x, across) / x_square);
    let y_square = dot(y, y);
    if (!(x_square > 1e-30 && x_square < 1e30 && y_square > 1e-30 && y_square < 1e30)) {
        return vec4<f32>(0.0, 0.0, 0.0, 1.0);
    }
    let a = x / sqrt(x_square);
    let b = y / sqrt(y_square);
    let c = cross(a, b);
    // Starts with the greatest of the four components.
    let trace = a.x + b.y + c.z;
    var q: vec4<f32>;
    if (trace > 0.0) {
        q = vec4<f32>(b.z - c.y, c.x - a.z, a.y - b.x, 1.0 + trace);
    } else if (a.x >= b.y && a.x >= c.z) {
        q = vec4<f32>(1.0 + a.x - b.y - c.z, a.y + b.x, c.x + a.z, b.z - c.y);
    } else if (b.y >= c.z) {
        q = vec4<f32>(a.y + b.x, 1.0 + b.y - a.x - c.z, b.z + c.y, c.x - a.z);
    } else {
        q = vec4<f32>(c.x + a.z, b.z + c.y, 1.0 + c.z - a.x - b.y, a.y - b.x);
    }
    return normalize(q);
}

// Interpolates affine matrices from a (t = 0) to b: rotations along the shorter arc; translations,
// and the rest of the 3x3 without rotation, component-wise.
fn gpuskin_mix_matrices(a: mat3x4<f32>, b: mat3x4<f32>, t: f32) -> mat3x4<f32> {
    let from_a = gpuskin_rotation_of(a);
    let from_b = gpuskin_rotation_of(b);
    let back_a = gpuskin_from_trs(vec4<f32>(-from_a.xyz, from_a.w), vec3<f32>(0.0), 1.0);
    let back_b = gpuskin_from_trs(vec4<f32>(-from_b.xyz, from_b.w), vec3<f32>(0.0), 1.0);
    let rest = gpuskin_compose(back_a, a) * (1.0 - t) + gpuskin_compose(back_b, b) * t;
    let turned = gpuskin_compose(gpuskin_from_trs(gpuskin_slerp(from_a, from_b, t), vec3<f32>(0.0), 1.0), rest);
    return mat3x4<f32>(
        vec4<f32>(turned[0].xyz, a[0].w * (1.0 - t) + b[0].w * t),
        vec4<f32>(turned[1].xyz, a[1].w * (1.0 - t) + b[1].w * t),
        vec4<f32>(turned[2].xyz, a[2].w * (1.0 - t) + b[2].w * t),
    );
}

// Applies live bones to a bone's transform to model space; unchanged if the live matrix is not
// finite.
fn gpuskin_with_live_bone(global: mat3x4<f32>, bone: u32) -> mat3x4<f32> {
    let live = gpuskin_live;
    if (live.kind != gpuskin_live_matrices || live.weight <= 0.0) {
        return global;
    }
    let a = gpuskin_layer_vector(live.at + bone * 3u);
    let b = gpuskin_layer_vector(live.at + bone * 3u + 1u);
    let c = gpuskin_layer_vector(live.at + bone * 3u + 2u);
    if (!(gpuskin_all_finite(a) && gpuskin_all_finite(b) && gpuskin_all_finite(c))) {
        return global;
    }
    let own = mat3x4<f32>(bitcast<vec4<f32>>(a), bitcast<vec4<f32>>(b), bitcast<vec4<f32>>(c));
    if (live.weight >= 1.0) {
        return own;
    }
    return gpuskin_mix_matrices(global, own, live.weight);
}
