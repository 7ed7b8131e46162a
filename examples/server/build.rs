//! Bakes the models.

fn main() {
    gpuskin_build::build("gpuskin.toml");
}
