// Shadows of the sun, haze between the camera and the drawn surfaces, and the sky behind them.

@group(0) @binding(0) var<uniform> air: Air;
@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;
@group(2) @binding(0) var drawn_color: texture_multisampled_2d<f32>;
@group(2) @binding(1) var drawn_depth: texture_multisampled_2d<f32>;

const SAMPLES: i32 = 4;
// Fraction of the light that remains in shadow.
const SHADOW = vec3<f32>(0.32, 0.36, 0.45);
const EXPOSURE: f32 = 0.85;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) clip: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Varyings {
    // One triangle that covers the screen.
    let clip = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return Varyings(vec4<f32>(clip, 0.0, 1.0), clip);
}

// Returns the fraction of sunlight that reaches a point: 3 x 3 comparisons, each filtered.
fn sunlight(world: vec3<f32>) -> f32 {
    let p = air.world_to_sun * vec4<f32>(world + 0.06 * air.to_sun.xyz, 1.0);
    let uv = p.xy * vec2<f32>(0.5, -0.5) + 0.5;
    let texel = 1.0 / vec2<f32>(textureDimensions(shadow_map));
    var sum = 0.0;
    for (var i = 0; i < 9; i++) {
        let offset = vec2<f32>(f32(i % 3 - 1), f32(i / 3 - 1)) * texel;
        sum += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + offset, p.z);
    }
    return select(1.0, sum / 9.0, all(abs(p.xy) < vec2<f32>(1.0)));
}

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let height = max(direction.y, 0.0);
    let glow = pow(max(dot(direction, air.to_sun.xyz), 0.0), 4.0);
    let horizon = vec3<f32>(0.78, 0.62, 0.45) + vec3<f32>(0.70, 0.36, 0.08) * glow;
    return mix(vec3<f32>(0.06, 0.21, 0.56), horizon, exp(-7.0 * height));
}

// Returns the light of a point in the world, seen through the haze.
fn through_haze(light: vec3<f32>, world: vec3<f32>) -> vec3<f32> {
    let ray = world - air.eye.xyz;
    let direction = normalize(ray);
    // The haze is densest on the field, so that the hills rise out of it.
    let haze = pow(length(ray) / 240.0, 1.3) * exp(-max(world.y - 20.0, 0.0) / 45.0);
    return mix(sky(direction), light, exp(-haze));
}

// Tone mapping: bright colours roll off instead of clipping.
fn tone(color: vec3<f32>) -> vec3<f32> {
    return color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14);
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let pixel = vec2<i32>(varyings.position.xy);
    var sum = vec3<f32>(0.0);
    var last = vec3<f32>(0.0);
    var sun = 1.0;
    for (var i = 0; i < SAMPLES; i++) {
        let depth = textureLoad(drawn_depth, pixel, i).r;
        let at = air.clip_to_world * vec4<f32>(varyings.clip, depth, 1.0);
        let world = at.xyz / at.w;
        var light = sky(normalize(world - air.eye.xyz));
        if (depth < 1.0) {
            // Usually all samples belong to one surface, and one shadow lookup per pixel is enough.
            if (i == 0 || distance(world, last) > 0.003 / at.w) {
                sun = sunlight(world);
                last = world;
            }
            let color = textureLoad(drawn_color, pixel, i).rgb;
            light = through_haze(color * mix(SHADOW, vec3<f32>(1.0), sun), world);
        }
        sum += tone(EXPOSURE * light);
    }
    return vec4<f32>(sum / f32(SAMPLES), 1.0);
}
