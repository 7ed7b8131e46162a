// Where the pose of an instance is: in two frames of the animation texture, and in two of each clip that it fades from.
// Twin of Shown in gpuskin-rt/src/record.rs.

struct GpuskinShown {
    // Of the clip that it plays.
    current: GpuskinFramePair,
    // Of those that it fades from.
    source: GpuskinFramePair,
    older_source: GpuskinFramePair,
    // Of the current clip over the sources: 1 where nothing fades.
    weight: f32,
    // Of the older source in the mix of both.
    older: f32,
    // Of the older source, the source and the current clip, 0 to 2, the first that has a weight.
    first: u32,
}

// Of the older source, the source and the current clip, the i-th.
fn gpuskin_shown_clip(shown: GpuskinShown, i: u32) -> GpuskinFramePair {
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

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinShown {
    let current = gpuskin_frames(instance.playback, now);
    var shown = GpuskinShown(current, current, current, gpuskin_weight(instance, now), 0.0, 2u);
    if (shown.weight < 1.0) {
        shown.source = gpuskin_frames(gpuskin_source(instance, instance.sources.xy), now);
        shown.older = gpuskin_older(instance);
        shown.first = 1u;
        if (shown.older > 0.0) {
            shown.first = 0u;
            shown.older_source = gpuskin_frames(gpuskin_source(instance, instance.sources.zw), now);
        }
    }
    return shown;
}

// The same at the moment before: a texture has all of them.
fn gpuskin_shown_before(input: GpuskinInput, instance: GpuskinInstance, before: vec2<u32>) -> GpuskinShown {
    return gpuskin_shown(input, instance, before);
}
