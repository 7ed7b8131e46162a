// Vertex mode: rows of the animation texture are vertices of a frame. CPU reference:
// gpuskin-rt/src/encoding/vat.rs.

struct GpuskinBaked {
    // Model space, metres.
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

// Interpolates between two samples of a vertex: positions linearly, directions normalised.
fn gpuskin_mix_baked(a: GpuskinBaked, b: GpuskinBaked, t: f32) -> GpuskinBaked {
    return GpuskinBaked(
        a.position * (1.0 - t) + b.position * t,
        gpuskin_normalize_or_zero(a.normal * (1.0 - t) + b.normal * t),
        gpuskin_normalize_or_zero(a.tangent * (1.0 - t) + b.tangent * t),
    );
}

fn gpuskin_baked(frames: GpuskinFramePair, row: u32) -> GpuskinBaked {
    return gpuskin_mix_baked(gpuskin_stored_vertex(frames.a, row), gpuskin_stored_vertex(frames.b, row), frames.t);
}

// Unit vector of octahedral coordinates in integer steps, from -steps to steps. Integers up to the
// last operation: the side of the fold does not depend on rounding.
fn gpuskin_from_octahedral_steps(e: vec2<i32>, steps: i32) -> vec3<f32> {
    let z = steps - abs(e.x) - abs(e.y);
    let fold = max(-z, 0);
    // Not `select` of vectors by a vector: WebGL2 has it for floats only.
    let folded = e - vec2<i32>(select(-fold, fold, e.x >= 0), select(-fold, fold, e.y >= 0));
    return normalize(vec3<f32>(vec3<i32>(folded, z)));
}

// Vertex in model space.
fn gpuskin_in_model(pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinSkinned {
    var baked: GpuskinBaked;
    for (var i = pose.first; i < 3u; i++) {
        let next = gpuskin_baked(gpuskin_blended_clip(pose, i), vertex.row);
        if (i == pose.first) {
            baked = next;
        } else {
            baked = gpuskin_mix_baked(baked, next, select(pose.weight, 1.0 - pose.older_weight, i == 1u));
        }
    }
    return GpuskinSkinned(
        baked.position,
        baked.normal,
        vec4<f32>(baked.tangent, vertex.sign),
        vertex.uv,
        vertex.color,
    );
}
