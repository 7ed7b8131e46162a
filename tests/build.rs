//! As a game's: everything that `assets/gpuskin.toml` names.

fn main() {
    gpuskin_build::build("../assets/gpuskin.toml");
}
