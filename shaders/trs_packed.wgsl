// trs-packed: bones as a rotation about their pivot, the pivot's position and a uniform scale,
// 18-bit integers, one texel per bone. CPU reference: gpuskin-rt/src/encoding/packed.rs, which
// documents the layout.

const gpuskin_texels: u32 = 1u;

// Value range of a bone in a clip: value = minimum + extent * fraction, for position and scale.
struct GpuskinPackedRange {
    minimum: vec4<f32>,
    extent: vec4<f32>,
    pivot: vec3<f32>,
}

struct GpuskinPackedTrs {
    // Quaternion x, y, z, w.
    rotation: vec4<f32>,
    // Position of the pivot in metres, then the scale.
    translation: vec4<f32>,
}

// Two floats whose upper halves are the lower and the upper half of a word.
fn gpuskin_upper_halves(word: u32) -> vec2<f32> {
    return bitcast<vec2<f32>>(vec2<u32>(word << 16u, word & 0xffff0000u));
}

fn gpuskin_packed_range(first: u32, bone: u32) -> GpuskinPackedRange {
    let words = gpuskin_texel(first - 1u, bone, 0u);
    return GpuskinPackedRange(
        bitcast<vec4<f32>>(gpuskin_texel(first - 2u, bone, 0u)),
        vec4<f32>(gpuskin_upper_halves(words.x), gpuskin_upper_halves(words.y)),
        vec3<f32>(gpuskin_upper_halves(words.z), gpuskin_upper_halves(words.w).x),
    );
}

fn gpuskin_stored_trs(range: GpuskinPackedRange, frame: u32, bone: u32) -> GpuskinPackedTrs {
    let words = gpuskin_texel(frame, bone, 0u);
    // Three smallest components, within 1/sqrt(2) of zero.
    let c = (vec3<f32>(words.xyz & vec3<u32>(262143u)) - 131071.0) * (0.70710677 / 131071.0);
    let greatest = sqrt(max(1.0 - c.x * c.x - c.y * c.y - c.z * c.z, 0.0));
    let missing = words.w >> 30u;
    var rotation = vec4<f32>(c, greatest);
    if (missing == 0u) {
        rotation = vec4<f32>(greatest, c);
    } else if (missing == 1u) {
        rotation = vec4<f32>(c.x, greatest, c.yz);
    } else if (missing == 2u) {
        rotation = vec4<f32>(c.xy, greatest, c.z);
    }
    let high = (words.www >> vec3<u32>(18u, 22u, 26u)) & vec3<u32>(15u);
    let steps = vec4<u32>((words.xyz >> vec3<u32>(18u)) | (high << vec3<u32>(14u)), words.w & 262143u);
    return GpuskinPackedTrs(rotation, range.minimum + range.extent * (vec4<f32>(steps) * (1.0 / 262143.0)));
}

// Bone interpolated between frames and clips: x -> scale * rotation * (x - pivot) + place.
struct GpuskinBone {
    rotation: vec4<f32>,
    translation: vec4<f32>,
    pivot: vec3<f32>,
}

// Clips have different pivots: moves b to the pivot of a, then interpolates.
fn gpuskin_mix_bones(a: GpuskinBone, b: GpuskinBone, t: f32) -> GpuskinBone {
    let moved = b.translation.w * gpuskin_rotate(b.rotation, a.pivot - b.pivot);
    let translation = vec4<f32>(b.translation.xyz + moved, b.translation.w);
    return GpuskinBone(
        gpuskin_blend_rotation(a.rotation, b.rotation, t),
        a.translation * (1.0 - t) + translation * t,
        a.pivot,
    );
}

fn gpuskin_bone_between(frames: GpuskinFramePair, bone: u32) -> GpuskinBone {
    let range = gpuskin_packed_range(frames.first, bone);
    let a = gpuskin_stored_trs(range, frames.a, bone);
    let b = gpuskin_stored_trs(range, frames.b, bone);
    return GpuskinBone(
        gpuskin_blend_rotation(a.rotation, b.rotation, frames.t),
        a.translation * (1.0 - frames.t) + b.translation * frames.t,
        range.pivot,
    );
}

fn gpuskin_bone_matrix(bone: GpuskinBone) -> mat3x4<f32> {
    let turned = gpuskin_from_trs(bone.rotation, vec3<f32>(0.0), bone.translation.w);
    let translation = bone.translation.xyz - vec4<f32>(bone.pivot, 0.0) * turned;
    return mat3x4<f32>(
        vec4<f32>(turned[0].xyz, translation.x),
        vec4<f32>(turned[1].xyz, translation.y),
        vec4<f32>(turned[2].xyz, translation.z),
    );
}
