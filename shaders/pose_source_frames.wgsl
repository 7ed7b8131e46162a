// Pose blend of an instance: two frames of the animation texture for the current clip, and for each
// fade-out clip. CPU reference: Shown in gpuskin-rt/src/record.rs.

struct GpuskinPoseSource {
    // Frames of the current clip.
    current: GpuskinFramePair,
    // Frames of the fade-out clips.
    fading: GpuskinFramePair,
    older_fading: GpuskinFramePair,
    // Weight of the current clip over the fade-out clips: 1 without a fade.
    weight: f32,
    // Weight of the older fade-out clip in the blend of both.
    older_weight: f32,
    // First clip with a weight: 0 is the older fade-out clip, 1 the newer one, 2 the current clip.
    first: u32,
}

// Frames of clip i: 0 is the older fade-out clip, 1 the newer one, 2 the current clip.
fn gpuskin_blended_clip(pose: GpuskinPoseSource, i: u32) -> GpuskinFramePair {
    if (i == 2u) {
        return pose.current;
    } else if (i == 1u) {
        return pose.fading;
    }
    return pose.older_fading;
}

fn gpuskin_pose_source(input: GpuskinInput, instance: GpuskinInstance, time: vec2<u32>) -> GpuskinPoseSource {
    let current = gpuskin_frames(instance.playback, time);
    var pose = GpuskinPoseSource(current, current, current, gpuskin_weight(instance, time), 0.0, 2u);
    if (pose.weight < 1.0) {
        pose.fading = gpuskin_frames(gpuskin_source(instance, instance.sources.xy), time);
        pose.older_weight = gpuskin_older_weight(instance);
        pose.first = 1u;
        if (pose.older_weight > 0.0) {
            pose.first = 0u;
            pose.older_fading = gpuskin_frames(gpuskin_source(instance, instance.sources.zw), time);
        }
    }
    return pose;
}

// Pose blend at the previous time: a texture has the frames of all times.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, previous_time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_pose_source(input, instance, previous_time);
}
