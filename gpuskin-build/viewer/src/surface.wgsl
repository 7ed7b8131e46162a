// A model with displaced vertices, in the light of the runtime's diffuse material (crowd.wgsl), or coloured per vertex.

struct Surface {
    view_proj: mat4x4f,
    eye: vec4f,
    to_light: vec4f,
    time: vec2u,
    // 0: materials, 1: heat, 2: mask.
    colors: u32,
}

struct Paint {
    base_color: vec4f,
    emissive: vec3f,
    alpha_cutoff: f32,
    unlit: u32,
    // Whether each triangle has one normal, from the positions of its corners.
    flat_triangles: u32,
}

@group(0) @binding(0) var<uniform> surface: Surface;
// Per vertex, displacement in world space, metres, and share of the greatest value.
@group(0) @binding(1) var<storage, read> vertices: array<vec4f>;
@group(2) @binding(0) var<uniform> paint: Paint;
@group(2) @binding(1) var base_color_texture: texture_2d<f32>;
@group(2) @binding(2) var base_color_sampler: sampler;
@group(2) @binding(3) var emissive_texture: texture_2d<f32>;
@group(2) @binding(4) var emissive_sampler: sampler;

struct Varyings {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) uv: vec2f,
    @location(2) color: vec4f,
    @location(3) share: f32,
    @location(4) from_eye: vec3f,
}

fn surface_vertex(input: GpuskinInput, index: u32) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, surface.time);
    let moved = skinned.position + vertices[index].xyz;
    let position = surface.view_proj * vec4f(moved, 1.0);
    return Varyings(position, skinned.normal, skinned.uv, skinned.color, vertices[index].w, moved - surface.eye.xyz);
}

// Black, blue, red, yellow, white at 0, 1/4, 1/2, 3/4 and 1; linear RGB.
fn heat(share: f32) -> vec3f {
    let x = 4.0 * clamp(share, 0.0, 1.0);
    let blue = mix(vec3f(0.02, 0.02, 0.03), vec3f(0.05, 0.08, 0.5), clamp(x, 0.0, 1.0));
    let red = mix(blue, vec3f(0.6, 0.02, 0.05), clamp(x - 1.0, 0.0, 1.0));
    let yellow = mix(red, vec3f(0.95, 0.55, 0.02), clamp(x - 2.0, 0.0, 1.0));
    return mix(yellow, vec3f(1.0, 0.98, 0.85), clamp(x - 3.0, 0.0, 1.0));
}

@fragment
fn fragment(in: Varyings, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let texel = textureSample(base_color_texture, base_color_sampler, in.uv) * paint.base_color * in.color;
    let emitted = textureSample(emissive_texture, emissive_sampler, in.uv).rgb * paint.emissive;
    // Screen down cross screen right points towards the viewer.
    let of_triangle = normalize(cross(dpdy(in.from_eye), dpdx(in.from_eye)));
    let seen = normalize(select(-in.normal, in.normal, front));
    let normal = select(seen, of_triangle, paint.flat_triangles != 0u);
    if (texel.a < paint.alpha_cutoff) {
        discard;
    }
    if (surface.colors != 0u) {
        let weight = mix(vec3f(0.16), vec3f(0.05, 0.75, 0.25), clamp(in.share, 0.0, 1.0));
        let color = select(weight, heat(in.share), surface.colors == 1u);
        return vec4f((0.75 + 0.25 * dot(normal, surface.to_light.xyz)) * color, 1.0);
    }
    if (paint.unlit != 0u) {
        return texel;
    }
    // The runtime's default light.
    let ambient = mix(vec3f(0.14, 0.12, 0.1), vec3f(0.3, 0.36, 0.45), normal.y * 0.5 + 0.5);
    let sun = vec3f(0.85, 0.8, 0.7) * max((dot(normal, surface.to_light.xyz) + 0.25) / 1.25, 0.0);
    return vec4f(texel.rgb * (ambient + sun) + emitted, 1.0);
}
