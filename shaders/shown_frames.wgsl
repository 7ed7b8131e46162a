// Pose blend of an instance: two frames of the animation texture for the current clip, and for each
// fade-out clip. CPU reference: Shown in gpuskin-rt/src/record.rs.

struct GpuskinPoseSource {
    // Frames of the current clip.
    current: GpuskinFramePair,
    // Frames of the fade-out clips.
    source: GpuskinFramePair,
    older_source: GpuskinFramePair,
    // Weight of the current clip over the fade-out clips: 1 without a fade.
    weight: f32,
    // Weight of the older fade-out clip in the blend of both.
    older: f32,
    // First clip with a weight: 0 is the older fade-out clip, 1 the newer one, 2 the current clip.
    first: u32,
}

// Frames of clip i: 0 is the older fade-out clip, 1 the newer one, 2 the current clip.
fn gpuskin_blended_clip(shown: GpuskinPoseSource, i: u32) -> GpuskinFramePair {
    if (i == 2u) {
        return shown.current;
    } else if (i == 1u) {
        return shown.source;
    }
    return shown.older_source;
}

fn gpuskin_frames(playback: GpuskinPlayback, now: vec2<u32>) -> GpuskinFramePair {
    return gpuskin_frame_pair(playback, gpuskin_model.clips[playback.clip & gpuskin_clip_mask], now);
}

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinPoseSource {
    let current = gpuskin_frames(instance.playback, now);
    var shown = GpuskinPoseSource(current, current, current, gpuskin_weight(instance, now), 0.0, 2u);
    if (shown.weight < 1.0) {
        shown.source = gpuskin_frames(gpuskin_source(instance, instance.sources.xy), now);
        shown.older = gpuskin_older_weight(instance);
        shown.first = 1u;
        if (shown.older > 0.0) {
            shown.first = 0u;
            shown.older_source = gpuskin_frames(gpuskin_source(instance, instance.sources.zw), now);
        }
    }
    return shown;
}

// Pose blend at the previous time: a texture has the frames of all times.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, before: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_shown(input, instance, before);
}
