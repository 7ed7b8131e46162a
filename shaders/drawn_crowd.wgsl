// Constants of a crowd of a batch, as its vertex shader reads them: those of GpuskinModel in model.wgsl
// that poses from a palette need, and where the crowd is in the buffers of the batch.

// Layout of DrawnCrowd in gpuskin-rt/src/batch.rs.
struct GpuskinDrawnCrowd {
    position_min: vec3<f32>,
    palette_stride: u32,
    position_extent: vec3<f32>,
    palette_previous: u32,
    uv_min: vec2<f32>,
    uv_extent: vec2<f32>,
    // First matrix of the crowd's palette.
    palette_at: u32,
    // Number of the crowd's first instance in the buffers of instances.
    first_instance: u32,
    // Not used, zero.
    reserved_0: u32,
    reserved_1: u32,
}

// Constants of the crowd that is being drawn.
var<private> gpuskin_model: GpuskinDrawnCrowd;
