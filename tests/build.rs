//! Bakes all models of `assets/gpuskin.toml`, as a game's build script does.

fn main() {
    gpuskin_build::build("../assets/gpuskin.toml");
}
