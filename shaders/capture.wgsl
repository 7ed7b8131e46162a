// Reads back the results of the vertex function: every vertex is a point that writes its position
// and normal to its own pixel. The model is group 1, as in crowd.wgsl.

// Layout of CaptureUniform in gpuskin-rt/src/render/capture.rs.
struct CaptureParameters {
    // Time of the capture: seconds, fraction.
    time: vec2<u32>,
    // Width and height in pixels.
    size: vec2<u32>,
    // Pixel of vertex 0, counted along the rows; modulo 2^32.
    first_pixel: u32,
    reserved_0: u32,
    reserved_1: vec2<u32>,
}

@group(0) @binding(0) var<uniform> capture: CaptureParameters;

struct Varyings {
    @builtin(position) pixel: vec4<f32>,
    @location(0) @interpolate(flat) position: vec3<f32>,
    @location(1) @interpolate(flat) normal: vec3<f32>,
}

fn captured_vertex(input: GpuskinInput, index: u32) -> Varyings {
    let pixel = capture.first_pixel + index;
    let cell = vec2<f32>(vec2<u32>(pixel % capture.size.x, pixel / capture.size.x));
    let unit = (cell + 0.5) / vec2<f32>(capture.size);
    let skinned = gpuskin_skin_vertex(input, capture.time);
    return Varyings(vec4<f32>(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0), skinned.position, skinned.normal);
}

// Bits of floats: every device can draw to 32-bit integers; WebGL2 and wgpu's GL backend cannot
// draw to 32-bit floats.
struct Captured {
    @location(0) position: vec4<u32>,
    @location(1) normal: vec4<u32>,
}

@fragment
fn capture_fragment(varyings: Varyings) -> Captured {
    return Captured(
        bitcast<vec4<u32>>(vec4<f32>(varyings.position, 1.0)),
        bitcast<vec4<u32>>(vec4<f32>(varyings.normal, 0.0)),
    );
}
