//! Bakes the sample models.

fn main() {
    gpuskin_build::build("gpuskin.toml");
}
