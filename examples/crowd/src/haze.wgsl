// What is between the camera and what was drawn: the sun's shadows, haze, and the sky behind it all.

@group(0) @binding(0) var<uniform> air: Air;
@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;
@group(2) @binding(0) var drawn_color: texture_multisampled_2d<f32>;
@group(2) @binding(1) var drawn_depth: texture_depth_multisampled_2d;

const SAMPLES: i32 = 4;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    // One triangle that covers the screen.
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Share of the sun that reaches a point: 3 x 3 comparisons, each filtered.
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
    return mix(vec3<f32>(0.08, 0.22, 0.50), horizon, exp(-6.0 * height));
}

fn through_air(color: vec3<f32>, depth: f32, clip: vec2<f32>) -> vec3<f32> {
    let at = air.clip_to_world * vec4<f32>(clip, depth, 1.0);
    let world = at.xyz / at.w;
    let ray = world - air.eye.xyz;
    let direction = normalize(ray);
    if (depth == 1.0) {
        return sky(direction);
    }
    let shadow = vec3<f32>(0.34, 0.37, 0.45);
    let lit = color * mix(shadow, vec3<f32>(1.0), sunlight(world));
    // Denser near the ground than on the hills.
    let clear = exp(-pow(length(ray) / 240.0, 1.3) * exp(-max(world.y - 14.0, 0.0) / 45.0));
    return mix(sky(vec3<f32>(direction.x, max(direction.y, 0.0), direction.z)), lit, clear);
}

// Bright colours roll off instead of clipping.
fn tone(color: vec3<f32>) -> vec3<f32> {
    return color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14);
}

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let size = vec2<f32>(textureDimensions(drawn_color));
    let clip = (position.xy / size * 2.0 - 1.0) * vec2<f32>(1.0, -1.0);
    let pixel = vec2<i32>(position.xy);
    var sum = vec3<f32>(0.0);
    for (var i = 0; i < SAMPLES; i++) {
        sum += tone(0.8 * through_air(textureLoad(drawn_color, pixel, i).rgb, textureLoad(drawn_depth, pixel, i), clip));
    }
    return vec4<f32>(sum / f32(SAMPLES), 1.0);
}
