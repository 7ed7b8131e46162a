// The sky, behind everything.

struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) clip: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Varyings {
    // One triangle that covers the screen, at the far plane.
    let clip = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return Varyings(vec4<f32>(clip, 1.0, 1.0), clip);
}

// Solves view_proj * (x, y, z, 1) = (clip, 1, 1) * w for the ray from the eye: rows 0, 1 and 3 of the matrix
// give two planes through the eye that contain it.
fn ray(clip: vec2<f32>) -> vec3<f32> {
    let m = transpose(gpuskin_view.view_proj);
    let direction = cross(m[0].xyz - clip.x * m[3].xyz, m[1].xyz - clip.y * m[3].xyz);
    return normalize(direction * sign(dot(direction, m[3].xyz)));
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let direction = ray(varyings.clip);
    // At the horizon, the sky is the fog far away.
    let horizon = gpuskin_fog_radiance(gpuskin_view.eye + direction);
    let sky = mix(vec3<f32>(0.06, 0.21, 0.56), horizon, exp(-7.0 * max(direction.y, 0.0)));
    return vec4<f32>(gpuskin_tone_mapped(sky), 1.0);
}
