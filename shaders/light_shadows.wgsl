// Shadows of point and spot lights: perspective views from the lights, in the shadow map.

// Layout of LightTileUniform in gpuskin-rt/src/render/light_shadows.rs.
struct GpuskinLightTile {
    // Axes of the view, world space.
    right: vec3<f32>,
    // Side of a texel at a distance of one metre, metres.
    texel: f32,
    up: vec3<f32>,
    // Distance at one metre by which any receiver is moved along its normal, metres.
    offset: f32,
    forward: vec3<f32>,
    // Depth is depth_offset + depth_scale / distance.
    depth_offset: f32,
    // First texel of the tile in the shadow map.
    column: f32,
    row: f32,
    // Texels per tangent.
    scale: f32,
    depth_scale: f32,
}

// Layout of LightShadowUniform in gpuskin-rt/src/render/light_shadows.rs, and the tiles.
struct GpuskinLightShadows {
    // Lights with six tiles each, the first ones of gpuskin_lights.
    points: u32,
    // Lights with shadows: after those with six tiles, those with one.
    count: u32,
    // Texels along a side of a tile.
    side: f32,
    tiles: array<GpuskinLightTile, MOST_TILES>,
}

@group(GROUP) @binding(11) var<uniform> gpuskin_light_shadows: GpuskinLightShadows;

// Face of a cube around a light in which a direction lies: +x, -x, +y, -y, +z, -z.
fn gpuskin_cube_face(direction: vec3<f32>) -> u32 {
    let size = abs(direction);
    if (size.x >= size.y && size.x >= size.z) {
        return select(0u, 1u, direction.x < 0.0);
    }
    if (size.y >= size.z) {
        return select(2u, 3u, direction.y < 0.0);
    }
    return select(4u, 5u, direction.z < 0.0);
}

// Fraction of the light of gpuskin_light(index, ..) that reaches a point; normal: unit normal of the surface. 1 for
// lights without shadows.
fn gpuskin_light_visibility(index: u32, world: vec3<f32>, normal: vec3<f32>) -> f32 {
    if (index >= gpuskin_light_shadows.count) {
        return 1.0;
    }
    let relative = world - gpuskin_lights.lights[index].position;
    let points = gpuskin_light_shadows.points;
    var number = 5u * points + index;
    if (index < points) {
        number = 6u * index + gpuskin_cube_face(relative);
    }
    let tile = gpuskin_light_shadows.tiles[number];
    let axes = transpose(mat3x3<f32>(tile.right, tile.up, tile.forward));
    let position = axes * relative;
    let direction = axes * normal;
    // In a perspective view, a plane is as steep as in a parallel one with texels as large as those at its distance.
    let shift = GPUSKIN_SHADOW_OFFSET * tile.texel * length(direction.xy) + tile.offset;
    let moved = position + direction * (shift * position.z);
    let p = moved.xy * vec2<f32>(tile.scale, -tile.scale) / moved.z + 0.5 * gpuskin_light_shadows.side;
    let most = gpuskin_light_shadows.side - GPUSKIN_SHADOW_MARGIN;
    let inside = all(p > vec2<f32>(GPUSKIN_SHADOW_MARGIN)) && all(p < vec2<f32>(most));
    // Behind a spot light, or beside its cone.
    if (position.z <= 0.0 || !inside) {
        return 1.0;
    }
    return gpuskin_filtered_shadow(vec2<f32>(tile.column, tile.row), p, tile.depth_offset + tile.depth_scale / moved.z);
}
