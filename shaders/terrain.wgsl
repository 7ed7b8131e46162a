// Motion pass of a crowd on a terrain. CPU reference and formulas: gpuskin-rt/src/terrain.rs.

// Layout of TerrainUniform in gpuskin-rt/src/terrain.rs.
struct GpuskinTerrain {
    corner: vec2<f32>,
    samples_per_metre: f32,
    tilt: f32,
}

// Metres; rows along x.
@group(1) @binding(0) var gpuskin_heights: texture_2d<f32>;
@group(1) @binding(1) var<uniform> gpuskin_terrain: GpuskinTerrain;

// Height at a place in samples from the first one.
fn gpuskin_height(place: vec2<f32>) -> f32 {
    let most = vec2<f32>(textureDimensions(gpuskin_heights)) - 1.0;
    let at = clamp(place, vec2<f32>(0.0), most);
    let cell = min(floor(at), most - 1.0);
    let t = at - cell;
    let i = vec2<i32>(cell);
    let near = vec2<f32>(
        textureLoad(gpuskin_heights, i, 0).x,
        textureLoad(gpuskin_heights, i + vec2<i32>(0, 1), 0).x,
    );
    let far = vec2<f32>(
        textureLoad(gpuskin_heights, i + vec2<i32>(1, 0), 0).x,
        textureLoad(gpuskin_heights, i + vec2<i32>(1, 1), 0).x,
    );
    let along = near + (far - near) * t.x;
    return along.x + (along.y - along.x) * t.y;
}

// Position and rotation are over the ground, of which the height is 0.
fn gpuskin_put(number: u32, position: vec3<f32>, rotation: vec4<f32>) {
    let at = (position.xz - gpuskin_terrain.corner) * gpuskin_terrain.samples_per_metre;
    let there = position + vec3<f32>(0.0, gpuskin_height(at), 0.0);
    var turned = rotation;
    if (gpuskin_terrain.tilt > 0.0) {
        let x = vec2<f32>(1.0, 0.0);
        let z = vec2<f32>(0.0, 1.0);
        let rise = vec2<f32>(
            gpuskin_height(at + x) - gpuskin_height(at - x),
            gpuskin_height(at + z) - gpuskin_height(at - z),
        );
        let slope = gpuskin_terrain.tilt * rise;
        // The shortest turn from the y axis to the normal.
        let up = normalize(vec3<f32>(-slope.x, 1.0, -slope.y));
        turned = gpuskin_quaternion_product(normalize(vec4<f32>(up.z, 0.0, -up.x, 1.0 + up.y)), rotation);
    }
    gpuskin_write_place(number, there, turned);
}
