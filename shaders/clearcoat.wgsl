// Clear coat over a surface (KHR_materials_clearcoat): a dielectric layer of a refractive index of 1.5, with the normals
// of the mesh or of its own map. The surface below gets the light that the coat does not reflect.

const COAT_F0 = 0.04;

// Strength and roughness.
var<private> clearcoat: vec2<f32>;
// Unit normal of the coat on the visible side, world space: surface_normals sets it. // if coat normals
var<private> coat_normal: vec3<f32>; // if coat normals

fn set_clearcoat(uv: vec2<f32>) {
    clearcoat = material.clearcoat * clearcoat_texel(uv);
}

// Reflectance of the coat for light from l, times the cosine.
fn coat_lobe(point: SurfacePoint, n_dot_v: f32, bounces: f32, l: vec3<f32>) -> f32 {
    let n_dot_l = dot(point.face_normal, l); // unless coat normals
    let n_dot_l = dot(coat_normal, l); // if coat normals
    if (n_dot_l <= 0.0) {
        return 0.0;
    }
    let h = normalize(l + point.to_eye);
    let grazing = pow(clamp(1.0 - dot(point.to_eye, h), 0.0, 1.0), 5.0);
    let roughness = clamp(clearcoat.y, MIN_ROUGHNESS, 1.0);
    let n_dot_h = clamp(dot(point.face_normal, h), 0.0, 1.0); // unless coat normals
    let n_dot_h = clamp(dot(coat_normal, h), 0.0, 1.0); // if coat normals
    return mix(COAT_F0, 1.0, grazing) * bounces * ggx(n_dot_l, n_dot_v, n_dot_h, roughness * roughness) * n_dot_l;
}

fn coated(light: vec3<f32>, point: SurfacePoint, sun_visible: f32) -> vec3<f32> {
    let n_dot_v = clamp(dot(point.face_normal, point.to_eye), 1e-3, 1.0); // unless coat normals
    let n_dot_v = clamp(dot(coat_normal, point.to_eye), 1e-3, 1.0); // if coat normals
    let albedo = ggx_albedo(n_dot_v, clamp(clearcoat.y, MIN_ROUGHNESS, 1.0));
    let bounces = 1.0 + COAT_F0 * (1.0 / albedo.r - 1.0);
    let reflected = mix(albedo.g, albedo.r, COAT_F0) * bounces;
    var coat = point.occlusion * reflected * gpuskin_reflected(point.face_normal, point.to_eye, clearcoat.y); // unless coat normals
    var coat = point.occlusion * reflected * gpuskin_reflected(coat_normal, point.to_eye, clearcoat.y); // if coat normals
    let lobe = coat_lobe(point, n_dot_v, bounces, gpuskin_lighting.to_sun);
    if (lobe > 0.0) {
        var visible = sun_visible;
        if (visible < 0.0) {
            visible = gpuskin_sun_visibility(point.position, point.face_normal);
        }
        coat += gpuskin_lighting.sun * (lobe * visible);
    }
    coat = add_coat_lights(coat, point, n_dot_v, bounces);
    return light * (1.0 - clearcoat.x * reflected) + clearcoat.x * coat;
}
