//! Bakes the grass.

fn main() {
    gpuskin_build::build("gpuskin.toml");
}
