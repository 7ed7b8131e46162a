// Where the pose of an instance is: in two frames of the animation texture.

alias GpuskinShown = GpuskinFramePair;

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinShown {
    return gpuskin_frame_pair(instance.playback, gpuskin_model.clips[instance.playback.clip & gpuskin_clip_mask], now);
}
