// Component row % 3 of the translation of bone row / 3.
fn gpuskin_bone_translation(pose: GpuskinPoseSource, row: u32) -> f32 {
    return gpuskin_bone(pose, row / 3u)[row % 3u].w;
}
