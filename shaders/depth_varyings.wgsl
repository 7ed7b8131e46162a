// Interface of depth passes, if all instances have the same base colour texture, or none.

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

fn depth_varyings_of(position: vec4<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> DepthVaryings {
    var varyings: DepthVaryings;
    varyings.position = position;
    varyings.uv = skinned.uv;
    varyings.alpha = skinned.color.a;
    pass_depth_material(&varyings, input);
    return varyings;
}
