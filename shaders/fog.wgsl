// Fraction of the light from a point that fog replaces on the way to the camera. The optical depth is the
// integral of density * exp(-(y - height) / falloff) along the ray; linear fog has a density of 0.
fn gpuskin_fog_amount(world: vec3<f32>) -> f32 {
    let way = length(world - gpuskin_view.eye);
    let heights = vec2<f32>(gpuskin_view.eye.y, world.y) - gpuskin_lighting.fog_height;
    // Bounded, so that exp is finite.
    let ends = clamp(heights * gpuskin_lighting.fog_falloff, vec2<f32>(-20.0), vec2<f32>(80.0));
    let span = ends.y - ends.x;
    let wide = select(1.0, span, abs(span) > 1e-3);
    let mean = select(exp(-0.5 * (ends.x + ends.y)), (exp(-ends.x) - exp(-ends.y)) / wide, abs(span) > 1e-3);
    let exponential = 1.0 - exp(-gpuskin_lighting.fog_density * way * mean);
    return max(exponential, clamp((way - gpuskin_lighting.fog_start) * gpuskin_lighting.fog_slope, 0.0, 1.0));
}

// Radiance of dense fog in the direction of a point.
fn gpuskin_fog_radiance(world: vec3<f32>) -> vec3<f32> {
    let ray = world - gpuskin_view.eye;
    let towards = dot(ray, gpuskin_lighting.to_sun) / max(length(ray), 1e-6);
    return gpuskin_lighting.fog_color + gpuskin_lighting.fog_glow * pow(max(towards, 0.0), 4.0);
}

// Radiance of a point in the world, seen through the fog.
fn gpuskin_in_fog(radiance: vec3<f32>, world: vec3<f32>) -> vec3<f32> {
    return mix(radiance, gpuskin_fog_radiance(world), gpuskin_fog_amount(world));
}
