// Bounds of the clips of a single crowd, in a texture. Counterpart: cull_bounds_uniform.wgsl, which
// documents the words.

// Words of GpuskinBounds, four per texel: two texels, then one per clip.
@group(0) @binding(1) var gpuskin_bounds: texture_2d<u32>;

fn gpuskin_bounds_words(at: u32) -> vec4<u32> {
    return textureLoad(gpuskin_bounds, vec2<u32>(at % gpuskin_clips_across, at / gpuskin_clips_across), 0);
}

fn gpuskin_clip_bounds(clip: u32) -> vec4<u32> {
    return gpuskin_bounds_words(2u + clip);
}

fn gpuskin_model_bounds() -> GpuskinModelBounds {
    let low = bitcast<vec4<f32>>(gpuskin_bounds_words(0u));
    let extent = bitcast<vec4<f32>>(gpuskin_bounds_words(1u));
    return GpuskinModelBounds(low.xyz, low.w, extent.xyz, extent.w);
}
