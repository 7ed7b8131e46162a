// Tangents in vertex mode: the direction around the normal, as a coordinate on a diamond in place
// of the circle. CPU reference: gpuskin-rt/src/encoding/vat.rs.

// d runs from -2 to 2, between two axes perpendicular to the normal (Duff et al. 2017, "Building an
// Orthonormal Basis, Revisited"): it starts at the second axis and passes the first at 0.
fn gpuskin_baked_tangent(n: vec3<f32>, d: f32) -> vec3<f32> {
    let sign = select(-1.0, 1.0, n.z >= 0.0);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let first = vec3<f32>(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let second = vec3<f32>(b, sign + n.y * n.y * a, -n.y);
    let u = 1.0 - abs(d);
    let v = select(abs(u) - 1.0, 1.0 - abs(u), d >= 0.0);
    return normalize(first * u + second * v);
}

fn gpuskin_bitangent_sign(word: u32) -> f32 {
    return select(1.0, -1.0, (word >> 31u) != 0u);
}
