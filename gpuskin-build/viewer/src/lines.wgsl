// Lines in world space.

struct Lines {
    view_proj: mat4x4f,
}

@group(0) @binding(0) var<uniform> lines: Lines;

struct Out {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
}

@vertex
fn vertex(@location(0) position: vec3f, @location(1) color: vec3f) -> Out {
    return Out(lines.view_proj * vec4f(position, 1.0), color);
}

@fragment
fn fragment(in: Out) -> @location(0) vec4f {
    return vec4f(in.color, 1.0);
}
