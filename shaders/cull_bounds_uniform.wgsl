// Bounds of the clips of a single crowd, in a uniform buffer. Counterpart: cull_bounds_texture.wgsl.

// Bounds of a model's clips. CPU reference: pack_bounds in gpuskin-rt/src/cull.rs.
struct GpuskinBounds {
    // Minimum corner of the bounds of all clips, model space, metres.
    minimum: vec3<f32>,
    // Distance by which layers extend the bounds, metres.
    layered: f32,
    extent: vec3<f32>,
    // Largest error of a shared pose over all clips, metres; 0 if it does not matter.
    error: f32,
    // Per clip: minimum and maximum of x, y and z in one word each, 16 bits each, as fractions of
    // minimum and extent. Fourth word: number of the clip's first sample over
    // gpuskin_sample_alignment, 17 bits; power of two that divides `error` to give the clip's own
    // error, 3 bits; number of grid steps.
    clips: array<vec4<u32>, 1017>,
}

@group(0) @binding(1) var<uniform> gpuskin_bounds: GpuskinBounds;

// Words of a clip's bounds.
fn gpuskin_clip_bounds(clip: u32) -> vec4<u32> {
    return gpuskin_bounds.clips[clip];
}

fn gpuskin_model_bounds() -> GpuskinModelBounds {
    return GpuskinModelBounds(
        gpuskin_bounds.minimum,
        gpuskin_bounds.layered,
        gpuskin_bounds.extent,
        gpuskin_bounds.error,
    );
}
