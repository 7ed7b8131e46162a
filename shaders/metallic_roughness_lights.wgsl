// Point and spot lights of the metallic-roughness model. The BRDF is that of the sun in radiance_of.

fn add_lights(light_so_far: vec3<f32>, point: SurfacePoint, surface: Reflectance) -> vec3<f32> {
    let n = point.normal;
    let v = point.to_eye;
    var sum = light_so_far;
    for (var i = 0u; i < gpuskin_lights.count; i++) {
        let light = gpuskin_light(i, point.position);
        let l = light.to_light;
        let n_dot_l = dot(n, l);
        if (n_dot_l > 0.0 && any(light.color > vec3<f32>(0.0))) {
            let h = normalize(l + v);
            let grazing = pow(clamp(1.0 - dot(v, h), 0.0, 1.0), 5.0);
            let f0 = dielectric_f0();
            let reflecting = (f0 + (dielectric_f90() - f0) * grazing) * surface.bounces_dielectric;
            let metal = mix(point.base_color, vec3<f32>(1.0), grazing) * surface.bounces_metal;
            let alpha = surface.roughness * surface.roughness;
            let lobe = ggx(n_dot_l, surface.n_dot_v, clamp(dot(n, h), 0.0, 1.0), alpha);
            let specular = mix(vec3<f32>(reflecting), metal, point.metallic) * lobe;
            sum += light.color * ((surface.diffuse + specular) * n_dot_l);
        }
    }
    return sum;
}
