// Evening sky over a dark country: one triangle over the whole picture, behind all birds.

struct Sight {
    clip_to_world: mat4x4<f32>,
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
    return Varyings(vec4<f32>(clip, 1.0, 1.0), clip);
}

fn hash(cell: f32) -> f32 {
    return fract(sin(cell * 127.1) * 43758.547);
}

fn noise(x: f32) -> f32 {
    let cell = floor(x);
    return mix(hash(cell), hash(cell + 1.0), smoothstep(0.0, 1.0, x - cell));
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let far = sight.clip_to_world * vec4<f32>(varyings.clip, 1.0, 1.0);
    let ray = normalize(far.xyz / far.w - sight.eye.xyz);
    let sun = normalize(vec3<f32>(-0.35, 0.045, -1.0));
    let glow = max(dot(ray, sun), 0.0);
    let height = clamp(ray.y, 0.0, 1.0);
    var color = mix(vec3<f32>(0.95, 0.50, 0.22), vec3<f32>(0.42, 0.42, 0.58), smoothstep(0.0, 0.22, height));
    color = mix(color, vec3<f32>(0.10, 0.16, 0.33), smoothstep(0.15, 0.75, height));
    color += vec3<f32>(1.0, 0.55, 0.20) * (0.35 * pow(glow, 10.0) + 2.0 * smoothstep(0.99935, 0.9996, glow));
    // Hills and trees along the horizon.
    let turn = atan2(ray.x, -ray.z);
    let hills = 0.012 + 0.030 * noise(turn * 5.0) + 0.012 * noise(turn * 17.0);
    let trees = hills * 0.6 + 0.006 * noise(turn * 210.0) + 0.004 * noise(turn * 90.0) - 0.004;
    color = mix(color, vec3<f32>(0.20, 0.13, 0.13), smoothstep(hills + 0.0015, hills, ray.y));
    color = mix(color, vec3<f32>(0.035, 0.028, 0.032), smoothstep(trees + 0.0015, trees, ray.y));
    return vec4<f32>(color, 1.0);
}
