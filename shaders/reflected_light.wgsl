// Light of one source that a point reflects towards the eye: the BRDF of the metallic-roughness model times pi, times the
// cosine. color: illuminance over pi of a surface that faces the light. l: unit vector to the light, above the surface.
fn reflected_light(point: SurfacePoint, surface: Reflectance, l: vec3<f32>, color: vec3<f32>) -> vec3<f32> {
    let v = point.to_eye;
    let n_dot_l = dot(point.normal, l);
    let h = normalize(l + v);
    let grazing = pow(clamp(1.0 - dot(v, h), 0.0, 1.0), 5.0);
    let f0 = dielectric_f0();
    let reflecting = (f0 + (dielectric_f90() - f0) * grazing) * surface.bounces_dielectric;
    let metal = mix(point.base_color, vec3<f32>(1.0), grazing) * surface.bounces_metal;
    let alpha = surface.roughness * surface.roughness;
    let lobe = ggx(n_dot_l, surface.n_dot_v, clamp(dot(point.normal, h), 0.0, 1.0), alpha);
    let specular = mix(vec3<f32>(reflecting), metal, point.metallic) * lobe;
    return color * ((surface.diffuse + specular) * n_dot_l); // unless sheen
    let fibres = sheen_lobe(n_dot_l, surface.n_dot_v, clamp(dot(point.normal, h), 0.0, 1.0)); // if sheen
    return color * ((surface.diffuse + specular) * (below_sheen * n_dot_l) + fibres); // if sheen
}
