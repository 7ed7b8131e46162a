// The ground, in the light, shadows and fog of the crowds.

struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

@vertex
fn vertex(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>) -> Varyings {
    return Varyings(gpuskin_view.view_proj * vec4<f32>(position, 1.0), position, normal);
}

fn hash(p: vec2<f32>) -> f32 {
    let q = fract(p * vec2<f32>(0.1031, 0.1157));
    let r = q + dot(q, q.yx + 33.33);
    return fract((r.x + r.y) * r.x * 7.31);
}

// Smooth noise between 0 and 1, about one wave per metre.
fn noise(p: vec2<f32>) -> f32 {
    let cell = floor(p);
    let t = smoothstep(vec2<f32>(0.0), vec2<f32>(1.0), p - cell);
    let near = mix(hash(cell), hash(cell + vec2<f32>(1.0, 0.0)), t.x);
    let far = mix(hash(cell + vec2<f32>(0.0, 1.0)), hash(cell + vec2<f32>(1.0, 1.0)), t.x);
    return mix(near, far, t.y);
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let p = varyings.world.xz;
    // Detail finer than a pixel would flicker, so that it fades with distance.
    let fine = exp(-0.03 * distance(varyings.world, gpuskin_view.eye));
    let patches = noise(p * vec2<f32>(0.16, 0.05) + 40.0) * 0.55 + noise(p * 0.6 + 7.0) * 0.45;
    let blades = mix(0.5, noise(p * vec2<f32>(9.0, 6.0) + 90.0) * 0.55 + noise(p * 23.0) * 0.45, fine);
    let dust = vec3<f32>(0.30, 0.20, 0.11);
    let grass = vec3<f32>(0.145, 0.135, 0.05);
    let color = mix(dust, grass, smoothstep(0.34, 0.66, patches + 0.35 * (blades - 0.5))) * (0.45 + 1.1 * blades);

    let normal = normalize(varyings.normal + 0.5 * fine * vec3<f32>(blades - 0.5, 0.0, noise(p * 13.0) - 0.5));
    let radiance = color * gpuskin_irradiance(varyings.world, normalize(varyings.normal), normal);
    return vec4<f32>(gpuskin_tone_mapped(gpuskin_in_fog(radiance, varyings.world)), 1.0);
}
