// local-packed: poses from local tracks. CPU reference: gpuskin-rt/src/local.rs, whose module
// `layout` documents the words. The shader text before this file declares gpuskin_words: array<u32>
// and the constants of that layout.

// Transform from a node to its parent: scale first, then rotation, then translation.
struct GpuskinLocal {
    // Unit quaternion x, y, z, w.
    rotation: vec4<f32>,
    // Metres, in the parent's space.
    translation: vec3<f32>,
    scale: vec3<f32>,
}

// Unit quaternion from its stereographic projection, xyz / (1 + w).
fn gpuskin_from_projection(p: vec3<f32>) -> vec4<f32> {
    let square = dot(p, p);
    return vec4<f32>(p * 2.0, 1.0 - square) * (1.0 / (1.0 + square));
}

// Product of quaternions: b rotates first.
fn gpuskin_multiply_rotations(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(b.xyz * a.w + a.xyz * b.w + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// sin(t x) / sin(x) for x up to 45 degrees, where versine is 1 - cos(x).
fn gpuskin_arc_weight(t: f32, versine: f32) -> f32 {
    let square = t * t;
    var series = 1.0 + 1.15 * ((4.0 / 9.0 - square / 36.0) * versine);
    series = 1.0 + (3.0 / 7.0 - square / 21.0) * versine * series;
    series = 1.0 + (2.0 / 5.0 - square / 10.0) * versine * series;
    return t * (1.0 + (1.0 / 3.0 - square / 3.0) * versine * series);
}

// Interpolates unit quaternions at constant speed along the shorter arc.
fn gpuskin_slerp(a: vec4<f32>, b: vec4<f32>, t: f32) -> vec4<f32> {
    let nearest = select(b, -b, dot(a, b) < 0.0);
    let middle = normalize(a + nearest);
    let first_half = t < 0.5;
    let start = select(middle, a, first_half);
    let end = select(nearest, middle, first_half);
    let along = select(2.0 * t - 1.0, 2.0 * t, first_half);
    let difference = end - start;
    let versine = 0.5 * dot(difference, difference);
    return normalize(start * gpuskin_arc_weight(1.0 - along, versine) + end * gpuskin_arc_weight(along, versine));
}

fn gpuskin_word_vector(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(gpuskin_word(at), gpuskin_word(at + 1u), gpuskin_word(at + 2u)));
}

fn gpuskin_word_vector4(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(
        vec4<u32>(gpuskin_word(at), gpuskin_word(at + 1u), gpuskin_word(at + 2u), gpuskin_word(at + 3u)),
    );
}

// Component of a frame, in steps from the middle of its range. width: at most 24 bits.
fn gpuskin_component(block: u32, bit: u32, width: u32) -> f32 {
    let word = block + (bit >> 5u);
    let shift = bit & 31u;
    let low = gpuskin_word(word) >> shift;
    // Shifted twice, because a shift by 32 has no effect.
    let high = (gpuskin_word(word + 1u) << (31u - shift)) << 1u;
    let mask = (1u << width) - 1u;
    return f32((low | high) & mask) - 0.5 * f32(mask);
}

// Offset of an animated track in a frame from the track's origin. block: first word of the frame.
fn gpuskin_track_offset(track: u32, block: u32) -> vec3<f32> {
    let bit = gpuskin_word(track);
    let shape = gpuskin_word(track + 1u);
    let width_x = shape & 31u;
    let width_y = (shape >> 5u) & 31u;
    let width_z = (shape >> 10u) & 31u;
    return vec3<f32>(
        gpuskin_component(block, bit, width_x),
        gpuskin_component(block, bit + width_x, width_y),
        gpuskin_component(block, bit + width_x + width_y, width_z),
    ) * bitcast<f32>(shape & 0xffff0000u);
}

// Interpolation factor of an animated track. kind: 2 is interpolated, 3 holds each frame until the next one.
fn gpuskin_track_blend(kind: u32, t: f32) -> f32 {
    return select(t, gpuskin_stepped(t), kind == 3u);
}

// Translation or scale that differs from the rest pose. kind: 1 is constant, 2 and 3 are animated.
fn gpuskin_track_vector(kind: u32, track: u32, block_a: u32, block_b: u32, t: f32) -> vec3<f32> {
    if (kind == 1u) {
        return gpuskin_word_vector(track);
    }
    let blend = gpuskin_track_blend(kind, t);
    let offset = gpuskin_track_offset(track, block_a) * (1.0 - blend) + gpuskin_track_offset(track, block_b) * blend;
    return gpuskin_word_vector(track + gpuskin_track_origin) + offset;
}

// Words of a track of this kind.
fn gpuskin_track_words(kind: u32) -> u32 {
    return select(kind * gpuskin_constant_words, gpuskin_moving_words, kind > 1u);
}

// Word offset of a clip.
fn gpuskin_local_clip_at(clip: u32) -> u32 {
    return gpuskin_word(gpuskin_word(gpuskin_clips_at) + min(clip, gpuskin_word(gpuskin_clip_count) - 1u));
}

// Clip for the playback functions; frames count from 0.
fn gpuskin_local_clip(clip_at: u32) -> GpuskinClip {
    return GpuskinClip(
        0u,
        gpuskin_word(clip_at + gpuskin_intervals),
        gpuskin_word(clip_at + gpuskin_stored),
        gpuskin_word(clip_at + gpuskin_held),
    );
}

// Two frames of a clip, counted from its first one; t = 0 is a, t = 1 is b.
struct GpuskinLocalFrames {
    // Word offset of the clip.
    clip_at: u32,
    a: u32,
    b: u32,
    t: f32,
}

fn gpuskin_local_frames(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinLocalFrames {
    let clip_at = gpuskin_local_clip_at(playback.clip & gpuskin_clip_mask);
    let frames = gpuskin_frame_pair(playback, gpuskin_local_clip(clip_at), time);
    return GpuskinLocalFrames(clip_at, frames.a, frames.b, frames.t);
}

// Interpolates transforms from a (t = 0) to b: rotations at constant speed along the shorter arc,
// the rest component-wise.
fn gpuskin_mix_locals(a: GpuskinLocal, b: GpuskinLocal, t: f32) -> GpuskinLocal {
    return GpuskinLocal(
        gpuskin_slerp(a.rotation, b.rotation, t),
        a.translation * (1.0 - t) + b.translation * t,
        a.scale * (1.0 - t) + b.scale * t,
    );
}

// Local transform of a node, interpolated between two frames of a clip.
fn gpuskin_local(frames: GpuskinLocalFrames, node: u32) -> GpuskinLocal {
    let clip_at = frames.clip_at;
    let entry = gpuskin_word(clip_at + gpuskin_entries + node);
    let rest = gpuskin_word(gpuskin_nodes_at) + node * gpuskin_node_words;
    let first = gpuskin_word(clip_at + gpuskin_frames_at);
    let frame_words = gpuskin_word(clip_at + gpuskin_frame_words);
    let block_a = first + frames.a * frame_words;
    let block_b = first + frames.b * frame_words;
    var track = entry >> 6u;
    var local: GpuskinLocal;

    let rotation_kind = entry & 3u;
    if (rotation_kind == 0u) {
        local.rotation = gpuskin_word_vector4(rest + gpuskin_node_rotation);
    } else if (rotation_kind == 1u) {
        local.rotation = gpuskin_from_projection(gpuskin_word_vector(track));
    } else {
        let a = gpuskin_from_projection(gpuskin_track_offset(track, block_a));
        let b = gpuskin_from_projection(gpuskin_track_offset(track, block_b));
        let origin = gpuskin_from_projection(gpuskin_word_vector(track + gpuskin_track_origin));
        local.rotation = gpuskin_multiply_rotations(origin, gpuskin_slerp(a, b, gpuskin_track_blend(rotation_kind, frames.t)));
    }
    track += gpuskin_track_words(rotation_kind);

    let translation_kind = (entry >> 2u) & 3u;
    if (translation_kind == 0u) {
        local.translation = gpuskin_word_vector(rest + gpuskin_node_translation);
    } else {
        local.translation = gpuskin_track_vector(translation_kind, track, block_a, block_b, frames.t);
    }
    track += gpuskin_track_words(translation_kind);

    let scale_kind = (entry >> 4u) & 3u;
    if (scale_kind == 0u) {
        local.scale = gpuskin_word_vector(rest + gpuskin_node_scale);
    } else {
        local.scale = gpuskin_track_vector(scale_kind, track, block_a, block_b, frames.t);
    }
    return local;
}

// Matrix of a local transform, by rows.
fn gpuskin_local_matrix(local: GpuskinLocal) -> mat3x4<f32> {
    let m = gpuskin_from_trs(local.rotation, local.translation, 1.0);
    let scale = vec4<f32>(local.scale, 1.0);
    return mat3x4<f32>(m[0] * scale, m[1] * scale, m[2] * scale);
}

// a * b of affine matrices, by rows: b acts first.
fn gpuskin_compose(a: mat3x4<f32>, b: mat3x4<f32>) -> mat3x4<f32> {
    return mat3x4<f32>(
        b[0] * a[0].x + b[1] * a[0].y + b[2] * a[0].z + vec4<f32>(0.0, 0.0, 0.0, a[0].w),
        b[0] * a[1].x + b[1] * a[1].y + b[2] * a[1].z + vec4<f32>(0.0, 0.0, 0.0, a[1].w),
        b[0] * a[2].x + b[1] * a[2].y + b[2] * a[2].z + vec4<f32>(0.0, 0.0, 0.0, a[2].w),
    );
}

// Parent of a node, or start of the next chain link, as selected by word; 0xffffffff: none.
fn gpuskin_chain_parent(node: u32, word: u32) -> u32 {
    return gpuskin_word(gpuskin_word(gpuskin_nodes_at) + node * gpuskin_node_words + word);
}

// Word offset of a bone.
fn gpuskin_bone_at(bone: u32) -> u32 {
    return gpuskin_word(gpuskin_bones_at) + bone * gpuskin_bone_words;
}

fn gpuskin_inverse_bind(bone_at: u32) -> mat3x4<f32> {
    return mat3x4<f32>(
        gpuskin_word_vector4(bone_at),
        gpuskin_word_vector4(bone_at + 4u),
        gpuskin_word_vector4(bone_at + 8u),
    );
}
