// The ground below a model: a grid that fades out, drawn over the parts of the model below it.

struct Ground {
    // World space to clip space.
    view_proj: mat4x4<f32>,
    // Centre of the square, and half of its side, in world units.
    center: vec3<f32>,
    extent: f32,
    // Position of the centre relative to the grid lines, and their distance, in world units.
    offset: vec2<f32>,
    step: f32,
    // Linear colours.
    color: vec4<f32>,
    line: vec4<f32>,
}

@group(0) @binding(0) var<uniform> ground: Ground;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    // Position relative to the centre, in units of `extent`.
    @location(0) at: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Varyings {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    let world = ground.center + vec3<f32>(at.x, 0.0, at.y) * ground.extent;
    return Varyings(ground.view_proj * vec4<f32>(world, 1.0), at);
}

@fragment
fn fragment(varyings: Varyings) -> @location(0) vec4<f32> {
    let cells = (varyings.at * ground.extent + ground.offset) / ground.step;
    let width = fwidth(cells);
    // Distance to the nearest line, in pixels.
    let pixels = abs(fract(cells + 0.5) - 0.5) / max(width, vec2<f32>(1e-6));
    let line = 1.0 - min(min(pixels.x, pixels.y), 1.0);
    let fade = 1.0 - smoothstep(0.7, 1.0, length(varyings.at));
    let color = mix(ground.color, ground.line, line);
    return vec4<f32>(color.rgb, color.a * fade);
}
