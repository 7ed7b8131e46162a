// GPU skinning as in published articles: matrices of all frames in a texture, three texels per
// bone. Every vertex reads four bones in two frames, whatever their weights, and has separate
// attributes for position, normal, joints and weights.

struct Input {
    // Position, and u in w.
    @location(0) position: vec4<f32>,
    // Normal, and v in w.
    @location(1) normal: vec4<f32>,
    @location(2) joints: vec4<u32>,
    @location(3) weights: vec4<f32>,
    @builtin(instance_index) instance: u32,
}

struct Instance {
    // Translation, and scale in w.
    place: vec4<f32>,
    rotation: vec4<f32>,
    // First frame, intervals from start to end, stored frames, phase as a fraction.
    clip: vec4<f32>,
    // Cycles per second; first of the frames that share one pose, and the number of frames after
    // it, which are not stored.
    pace: vec4<f32>,
}

struct Shape { width: u32, rows: u32 }

@group(1) @binding(0) var matrices: texture_2d<f32>;
@group(1) @binding(1) var<uniform> shape: Shape;
@group(1) @binding(2) var<storage, read> instances: array<Instance>;

fn texel(n: u32) -> vec4<f32> {
    return textureLoad(matrices, vec2<u32>(n % shape.width, n / shape.width), 0);
}

fn bone(frame: u32, joint: u32) -> mat3x4<f32> {
    let n = (frame * shape.rows + joint) * 3u;
    return mat3x4<f32>(texel(n), texel(n + 1u), texel(n + 2u));
}

fn pose(frame: u32, joints: vec4<u32>, weights: vec4<f32>) -> mat3x4<f32> {
    return bone(frame, joints.x) * weights.x
        + bone(frame, joints.y) * weights.y
        + bone(frame, joints.z) * weights.z
        + bone(frame, joints.w) * weights.w;
}

fn row(frame: u32, held: vec2<u32>) -> u32 { return frame - min(max(frame, held.x) - held.x, held.y); }

fn rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w); }

@vertex
fn vertex(input: Input) -> Varyings {
    let instance = instances[input.instance];
    let seconds = f32(view.clock.x) + f32(view.clock.y) / 4294967296.0;
    let at = fract(seconds * instance.pace.x + instance.clip.w) * instance.clip.y;
    let first = u32(instance.clip.x);
    let frame = min(u32(at), u32(instance.clip.y) - 1u);
    let a = row(frame, vec2<u32>(instance.pace.yz));
    let b = row(frame + 1u, vec2<u32>(instance.pace.yz)) % u32(instance.clip.z);
    let t = at - f32(frame);
    let matrix = pose(first + a, input.joints, input.weights) * (1.0 - t) + pose(first + b, input.joints, input.weights) * t;
    let position = vec4<f32>(input.position.xyz, 1.0) * matrix;
    let normal = normalize(vec4<f32>(input.normal.xyz, 0.0) * matrix);
    let world = instance.place.xyz + rotate(instance.rotation, position * instance.place.w);
    let uv = vec2<f32>(input.position.w, input.normal.w);
    return Varyings(view.view_proj * vec4<f32>(world, 1.0), uv, rotate(instance.rotation, normal));
}
