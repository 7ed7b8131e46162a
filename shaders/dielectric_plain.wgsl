// Dielectrics with a refractive index of 1.5.

alias DielectricColor = f32;

fn set_dielectric(uv: vec2<f32>) {
}

// Reflectance at normal incidence.
fn dielectric_f0() -> DielectricColor {
    return 0.04;
}

// Reflectance at grazing incidence.
fn dielectric_f90() -> f32 {
    return 1.0;
}

// Reflectance that the base does not get.
fn strongest(reflected: DielectricColor) -> f32 {
    return reflected;
}
