// Point and spot lights by the cells of a grid of the world: those that may reach a point.

// Layout of LightGridUniform in gpuskin-rt/src/light_grid.rs.
struct GpuskinLightGrid {
    // Lowest corner, world space.
    origin: vec3<f32>,
    // Cells per metre.
    per_metre: f32,
    // Greatest column, row and layer of a cell.
    last: vec3<f32>,
    // Lights that every point reads: the first ones. The others are in the lists of cells.
    everywhere: u32,
    // Cells in a row, in a layer, and in all.
    columns: u32,
    layer: u32,
    cells: u32,
}

@group(GROUP) @binding(12) var<uniform> gpuskin_light_grid: GpuskinLightGrid;
// A word per cell: the place of its list, times 2048, plus its length. Then the lists.
@group(GROUP) @binding(13) var gpuskin_light_lists: texture_2d<u32>;

fn gpuskin_light_word(index: u32) -> u32 {
    return textureLoad(gpuskin_light_lists, vec2<u32>(index % 256u, index / 256u), 0).x;
}

// Lights that may reach a point. Each of the others adds nothing there.
struct GpuskinNearbyLights {
    first: u32,
    count: u32,
}

fn gpuskin_nearby_lights(world: vec3<f32>) -> GpuskinNearbyLights {
    let place = (world - gpuskin_light_grid.origin) * gpuskin_light_grid.per_metre;
    let cell = vec3<u32>(clamp(place, vec3<f32>(0.0), gpuskin_light_grid.last));
    let index = cell.x + gpuskin_light_grid.columns * cell.y + gpuskin_light_grid.layer * cell.z;
    let word = gpuskin_light_word(index);
    let everywhere = gpuskin_light_grid.everywhere;
    // So that the first light of the list has the index `everywhere`.
    let first = gpuskin_light_grid.cells + (word >> 11u) - everywhere;
    return GpuskinNearbyLights(first, everywhere + (word & 2047u));
}

// Index for gpuskin_light of one of the nearby lights.
fn gpuskin_nearby_light(nearby: GpuskinNearbyLights, i: u32) -> u32 {
    if (i < gpuskin_light_grid.everywhere) {
        return i;
    }
    return gpuskin_light_word(nearby.first + i);
}
