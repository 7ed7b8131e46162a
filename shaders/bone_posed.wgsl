// Bones from the textures that a pose pass has drawn. CPU reference: Texels::bone in
// gpuskin-rt/src/encoding/texels.rs.

// Column and row of the first texel of a pose, and layer.
alias GpuskinPoseSource = vec3<u32>;

fn gpuskin_pose_source(input: GpuskinInput, instance: GpuskinInstance, time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_pose_place(gpuskin_pose_places, input.number);
}

// Previous pose of an instance; the current pose if the pass does not draw it.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, previous_time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_pose_source(input, instance, previous_time) + vec3<u32>(gpuskin_pose_places.previous, 0u, 0u);
}

// Row of the skinning matrix of a bone.
fn gpuskin_bone_row(pose: GpuskinPoseSource, bone: u32, row: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(gpuskin_poses, vec2<u32>(pose.x + bone, pose.y + row), pose.z, 0));
}

// Skinning matrix of a bone.
fn gpuskin_bone(pose: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    return mat3x4<f32>(
        gpuskin_bone_row(pose, bone, 0u),
        gpuskin_bone_row(pose, bone, 1u),
        gpuskin_bone_row(pose, bone, 2u),
    );
}
