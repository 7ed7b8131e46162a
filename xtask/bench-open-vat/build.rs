//! Bakes the fox, a file that is not part of the repository.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=FOX");
    let fox = std::env::var("FOX").expect("FOX: path of the Fox of Khronos' glTF sample models, Fox.glb");
    let fox = std::fs::canonicalize(fox).expect("FOX must be a file");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let manifest = Path::new(&out).join("gpuskin.toml");
    let text = format!("[[model]]\nname = \"fox\"\npath = {:?}\n", fox.display().to_string());
    std::fs::write(&manifest, text).expect("the output folder can be written");
    gpuskin_build::build(manifest);
}
