// Draws the poses of instances into a texture: a rectangle per instance and time, in which each fragment
// is a row of a bone's matrix. For devices without compute.

struct GpuskinInput {
    @builtin(instance_index) number: u32,
    @builtin(vertex_index) corner: u32,
    // Playback record of the instance.
    @location(0) playback_0: vec4<u32>,
    @location(1) playback_1: vec4<u32>,
    @location(2) playback_2: vec4<u32>,
}

@group(1) @binding(0) var<uniform> gpuskin_pose_places: GpuskinPosePlaces;

struct PoseVaryings {
    @builtin(position) position: vec4<f32>,
    // Column and row of the first texel.
    @location(0) @interpolate(flat) origin: vec2<u32>,
    // Frames a and b, and the first frame, of the current clip and of the fade-out clips.
    @location(1) @interpolate(flat) current: vec3<u32>,
    @location(2) @interpolate(flat) fading: vec3<u32>,
    @location(3) @interpolate(flat) older_fading: vec3<u32>,
    // Interpolation factors between the frames, in the same order.
    @location(4) @interpolate(flat) factors: vec3<f32>,
    // Weight of the current clip, and of the older fade-out clip.
    @location(5) @interpolate(flat) weights: vec2<f32>,
    // First clip with a weight.
    @location(6) @interpolate(flat) first: u32,
}

@vertex
fn pose_vertex(input: GpuskinInput) -> PoseVaryings {
    let instance = gpuskin_playing(
        input.playback_0.xy,
        input.playback_0.zw,
        input.playback_1.xy,
        vec4<u32>(input.playback_1.zw, input.playback_2.xy),
    );
    // Two triangles for the current pose, then two for the previous one.
    let is_previous = input.corner >= 6u;
    let time = select(gpuskin_pose_places.time, gpuskin_pose_places.previous_time, is_previous);
    let pose = gpuskin_pose_source(input, instance, time);
    let place = gpuskin_pose_place(gpuskin_pose_places, input.number);
    let origin = vec2<u32>(place.x + select(0u, gpuskin_pose_places.previous, is_previous), place.y);
    // Corners (0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1), as bits.
    let corner = vec2<u32>(0x32u >> (input.corner % 6u), 0x2cu >> (input.corner % 6u)) & vec2<u32>(1u);
    let texel = vec2<f32>(origin + corner * vec2<u32>(gpuskin_model.rows, 3u));
    let unit = texel / vec2<f32>(2048.0, f32(3u << gpuskin_pose_places.layer_shift));
    return PoseVaryings(
        vec4<f32>(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0),
        origin,
        vec3<u32>(pose.current.a, pose.current.b, pose.current.first),
        vec3<u32>(pose.fading.a, pose.fading.b, pose.fading.first),
        vec3<u32>(pose.older_fading.a, pose.older_fading.b, pose.older_fading.first),
        vec3<f32>(pose.current.t, pose.fading.t, pose.older_fading.t),
        vec2<f32>(pose.weight, pose.older_weight),
        pose.first,
    );
}

// Bits of floats: every device can draw to 32-bit integers; WebGL2 cannot draw to 32-bit floats.
@fragment
fn pose_fragment(varyings: PoseVaryings) -> @location(0) vec4<u32> {
    let pose = GpuskinPoseSource(
        GpuskinFramePair(varyings.current.x, varyings.current.y, varyings.factors.x, varyings.current.z),
        GpuskinFramePair(varyings.fading.x, varyings.fading.y, varyings.factors.y, varyings.fading.z),
        GpuskinFramePair(varyings.older_fading.x, varyings.older_fading.y, varyings.factors.z, varyings.older_fading.z),
        varyings.weights.x,
        varyings.weights.y,
        varyings.first,
    );
    let at = vec2<u32>(varyings.position.xy) - varyings.origin;
    let matrix = gpuskin_bone(pose, at.x);
    return bitcast<vec4<u32>>(select(select(matrix[0], matrix[1], at.y == 1u), matrix[2], at.y == 2u));
}
