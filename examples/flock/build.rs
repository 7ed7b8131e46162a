//! Bakes the starling.

fn main() {
    gpuskin_build::build("gpuskin.toml");
}
