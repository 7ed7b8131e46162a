// Parameters of the culling passes and of the pass that writes the arguments of draws.

// Layout of CullUniform in gpuskin-rt/src/cull.rs.
struct GpuskinCullParameters {
    // Current time: seconds, fraction.
    time: vec2<u32>,
    // Number of instances to cull.
    instances: u32,
    views: u32,
    // Entries per list.
    capacity: u32,
    // Parts of the mesh.
    parts: u32,
    // Largest number of workgroups per dispatch dimension.
    max_groups: u32,
    // Levels of detail.
    lods: u32,
    // Number of palette slots.
    palette_slots: u32,
    // Not 0: some layers hold live bones, so their bounds are unknown.
    live: u32,
    // Word offset of the per-instance marks; 0: there are none.
    marks_at: u32,
    // Not 0: the main view draws all instances in view, whatever the marks say.
    ignore_marks: u32,
    // Number of cached poses, which come first in the palette; 0: no pose is cached.
    cached_poses: u32,
    // Word offset of the cache slots, one per sample.
    cache_at: u32,
    cache_entries: u32,
    // Greatest distance by which vertices move without all but their greatest four influences, metres; 0: all are always
    // used.
    influence_error: f32,
    // Not 0: an instance for whose pose there is no palette slot is in a list of its own, whose vertices evaluate the
    // pose.
    slotless: u32,
    // LOD errors in metres, ascending, four per vector.
    errors: array<vec4<f32>, 2>,
}
