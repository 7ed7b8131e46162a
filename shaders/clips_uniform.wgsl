// Frames of a playback, with the clip records of the model's uniform buffer. Counterpart:
// clips_texture.wgsl.

fn gpuskin_frames(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinFramePair {
    return gpuskin_frame_pair(playback, gpuskin_model.clips[playback.clip & gpuskin_clip_mask], time);
}
