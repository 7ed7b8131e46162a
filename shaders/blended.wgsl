// Blended surfaces: depth is drawn first, then colour where depth is equal.

// Alpha with which the colour is blended.
fn drawn_alpha(alpha: f32) -> f32 {
    return alpha;
}

// Alpha below which a fragment does not change a picture of 8 bits per channel.
const LEAST_VISIBLE_ALPHA = 0.5 / 255.0;
// Alpha below which a fragment casts no shadow.
const LEAST_SHADOW_ALPHA = 0.5;

// By the vertex shader of the colour, so that depths are equal.
@fragment
fn fragment_cover(varyings: Varyings) {
    select_material(varyings);
    if (base_color(varyings).a < LEAST_VISIBLE_ALPHA) {
        discard;
    }
}

@fragment
fn fragment_shadow(varyings: DepthVaryings) {
    select_depth_material(varyings);
    if (material.base_color.a * depth_base_color_texel(varyings).a * varyings.alpha < LEAST_SHADOW_ALPHA) {
        discard;
    }
}
