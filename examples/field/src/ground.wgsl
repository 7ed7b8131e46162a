// Ground and sky: one triangle over the whole picture, behind nearer surfaces.

struct Sight {
    clip_to_world: mat4x4<f32>,
    view_proj: mat4x4<f32>,
    eye: vec4<f32>,
}

@group(0) @binding(0) var<uniform> sight: Sight;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) clip: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Varyings {
    let clip = vec2<f32>(vec2<u32>((index << 1u) & 2u, index & 2u)) * 2.0 - 1.0;
    return Varyings(vec4<f32>(clip, 0.0, 1.0), clip);
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

struct Drawn {
    @location(0) color: vec4<f32>,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn fragment(varyings: Varyings) -> Drawn {
    let far = sight.clip_to_world * vec4<f32>(varyings.clip, 1.0, 1.0);
    let ray = normalize(far.xyz / far.w - sight.eye.xyz);
    let haze = vec3<f32>(0.66, 0.74, 0.80);
    if (ray.y > -0.001) {
        return Drawn(vec4<f32>(mix(haze, vec3<f32>(0.20, 0.38, 0.70), sqrt(clamp(ray.y * 2.2, 0.0, 1.0))), 1.0), 1.0);
    }
    let away = -sight.eye.y / ray.y;
    let place = sight.eye.xyz + ray * away;
    let soil = mix(vec3<f32>(0.055, 0.050, 0.022), vec3<f32>(0.030, 0.045, 0.012), noise(place.xz * 2.0));
    // In the distance, grass is so dense that it hides the soil.
    let grass = mix(vec3<f32>(0.15, 0.19, 0.045), vec3<f32>(0.21, 0.22, 0.07), noise(place.xz * 0.09));
    let color = mix(mix(soil, grass, smoothstep(6.0, 45.0, away)), haze, 1.0 - exp(-0.004 * away));
    let clip = sight.view_proj * vec4<f32>(place, 1.0);
    return Drawn(vec4<f32>(color, 1.0), min(clip.z / clip.w, 0.999999));
}
