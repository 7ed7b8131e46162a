// Shadows of the sun: cascades in the shadow map.

// Layout of CascadeUniform in gpuskin-rt/src/render/shadows.rs.
struct GpuskinCascade {
    // Light space relative to the origin, to texels of the cascade and depth: p * scale + offset.
    scale: vec3<f32>,
    // Side of a texel, metres.
    texel: f32,
    offset: vec3<f32>,
    // First texel of the cascade in the shadow map.
    column: f32,
    row: f32,
}

// Layout of ShadowUniform in gpuskin-rt/src/render/shadows.rs.
struct GpuskinShadows {
    // Axes of light space: right, up, away from the sun.
    right: vec3<f32>,
    // Texels along a side of a cascade.
    side: f32,
    up: vec3<f32>,
    count: u32,
    away: vec3<f32>,
    // World space.
    origin: vec3<f32>,
    cascades: array<GpuskinCascade, 4>,
}

@group(GROUP) @binding(5) var<uniform> gpuskin_shadows: GpuskinShadows;
// Fraction of the sunlight that reaches a point; normal: unit normal of the surface. 1 outside all cascades.
fn gpuskin_sun_visibility(world: vec3<f32>, normal: vec3<f32>) -> f32 {
    let relative = world - gpuskin_shadows.origin;
    let axes = transpose(mat3x3<f32>(gpuskin_shadows.right, gpuskin_shadows.up, gpuskin_shadows.away));
    let position = axes * relative;
    let direction = axes * normal;
    // A surface needs the more distance the flatter the light falls in.
    let shift = direction * (GPUSKIN_SHADOW_OFFSET * length(direction.xy) + 0.5);
    let most = gpuskin_shadows.side - GPUSKIN_SHADOW_MARGIN;
    for (var i = 0u; i < gpuskin_shadows.count; i++) {
        let cascade = gpuskin_shadows.cascades[i];
        let p = (position + shift * cascade.texel) * cascade.scale + cascade.offset;
        let least = vec3<f32>(vec2<f32>(GPUSKIN_SHADOW_MARGIN), 0.0);
        if (all(p > least) && all(p < vec3<f32>(most, most, 1.0))) {
            let light = gpuskin_filtered_shadow(vec2<f32>(cascade.column, cascade.row), p.xy, p.z);
            // The last cascade fades out towards its edge.
            let edge = min(min(p.x, p.y), gpuskin_shadows.side - max(p.x, p.y)) / gpuskin_shadows.side;
            let fade = select(1.0, clamp(edge * 12.0 - 0.1, 0.0, 1.0), i + 1u == gpuskin_shadows.count);
            return mix(1.0, light, fade);
        }
    }
    return 1.0;
}
