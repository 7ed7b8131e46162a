// local-packed: bones of instances for whose poses the palette has no room. Each vertex evaluates its bones from the
// local tracks, without layers. CPU reference: LocalTracks::pose_over in gpuskin-rt/src/local.rs.

fn gpuskin_word(at: u32) -> u32 {
    return gpuskin_words[at];
}

// Frames of a clip; first: word offset of the clip.
fn gpuskin_frames(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinFramePair {
    let frames = gpuskin_local_frames(playback, time);
    return GpuskinFramePair(frames.a, frames.b, frames.t, frames.clip_at);
}

// Transform of a node to its parent, including fades.
fn gpuskin_faded_local(pose: GpuskinPoseSource, node: u32) -> GpuskinLocal {
    var mixed: GpuskinLocal;
    // A loop, so that the code of a node is compiled only once.
    for (var i = pose.first; i < 3u; i++) {
        let frames = gpuskin_blended_clip(pose, i);
        let next = gpuskin_local(GpuskinLocalFrames(frames.first, frames.a, frames.b, frames.t), node);
        if (i == pose.first) {
            mixed = next;
        } else {
            mixed = gpuskin_mix_locals(mixed, next, select(pose.weight, 1.0 - pose.older_weight, i == 1u));
        }
    }
    return mixed;
}

// Skinning matrix of a bone: composes the transforms of its node and all ancestors.
fn gpuskin_bone(pose: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    let bone_at = gpuskin_bone_at(bone);
    let nodes = gpuskin_word(gpuskin_node_count);
    var node = gpuskin_word(bone_at + gpuskin_bone_node);
    var product = mat3x4<f32>(
        vec4<f32>(1.0, 0.0, 0.0, 0.0),
        vec4<f32>(0.0, 1.0, 0.0, 0.0),
        vec4<f32>(0.0, 0.0, 1.0, 0.0),
    );
    for (var i = 0u; i < nodes && node != 0xffffffffu; i++) {
        product = gpuskin_compose(gpuskin_local_matrix(gpuskin_faded_local(pose, node)), product);
        node = gpuskin_chain_parent(node, gpuskin_node_parent);
    }
    return gpuskin_compose(product, gpuskin_inverse_bind(bone_at));
}
