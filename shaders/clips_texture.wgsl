// Frames of a playback, with the clip records of a texture: one texel per clip. Counterpart:
// clips_uniform.wgsl.

fn gpuskin_frames(playback: GpuskinPlayback, time: vec2<u32>) -> GpuskinFramePair {
    let clip = playback.clip & gpuskin_clip_mask;
    let texel = vec2<u32>(clip % gpuskin_clips_across, clip / gpuskin_clips_across);
    let words = textureLoad(gpuskin_clip_records, texel, 0);
    return gpuskin_frame_pair(playback, GpuskinClip(words.x, words.y, words.z, words.w), time);
}
