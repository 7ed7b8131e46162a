// Motion pass of a crowd without a terrain.
fn gpuskin_put(number: u32, position: vec3<f32>, rotation: vec4<f32>) {
    gpuskin_write_place(number, position, rotation);
}
