// A vertex of a frame, where rows of the animation texture are vertices. Twin of gpuskin-rt/src/encoding/vat.rs.

struct GpuskinBaked {
    // Metres, in the model.
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

// Between two frames: positions on the chord, directions of unit length.
fn gpuskin_baked(frames: GpuskinFramePair, row: u32) -> GpuskinBaked {
    let a = gpuskin_stored_vertex(frames.a, row);
    let b = gpuskin_stored_vertex(frames.b, row);
    return GpuskinBaked(
        a.position * (1.0 - frames.t) + b.position * frames.t,
        gpuskin_normalize_or_zero(a.normal * (1.0 - frames.t) + b.normal * frames.t),
        gpuskin_normalize_or_zero(a.tangent * (1.0 - frames.t) + b.tangent * frames.t),
    );
}

// The unit vector at a place of the octahedral map, so many steps on either side of zero. Whole numbers up to the end:
// which side of the fold a vector is on does not depend on rounding.
fn gpuskin_from_octahedral_steps(e: vec2<i32>, steps: i32) -> vec3<f32> {
    let z = steps - abs(e.x) - abs(e.y);
    let fold = max(-z, 0);
    let folded = e - select(vec2<i32>(-fold), vec2<i32>(fold), e >= vec2<i32>(0));
    return normalize(vec3<f32>(vec3<i32>(folded, z)));
}

// A vertex in model space.
fn gpuskin_in_model(shown: GpuskinShown, vertex: GpuskinVertex) -> GpuskinSkinned {
    let baked = gpuskin_baked(shown, vertex.row);
    return GpuskinSkinned(
        baked.position,
        baked.normal,
        vec4<f32>(baked.tangent, vertex.sign),
        vertex.uv,
        vertex.color,
    );
}
