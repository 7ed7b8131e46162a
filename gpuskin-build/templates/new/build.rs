//! Bakes the models of gpuskin.toml.

fn main() {
    gpuskin_build::build("gpuskin.toml");
}
