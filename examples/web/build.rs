//! Bakes the models of the browser test. The page itself has the models of `examples/crowd`.

#[path = "tests/surfaces/mod.rs"]
mod surfaces;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=tests/surfaces");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    // Without the feature `measure`, web programs have no module `measure`.
    if variable("CARGO_CFG_TARGET_FAMILY") == "wasm" && variable("CARGO_FEATURE_MEASURE").is_empty() {
        return;
    }
    let out = std::path::PathBuf::from(variable("OUT_DIR"));
    let manifest = surfaces::write(&out.join("source")).expect("a folder to write to");
    if let Err(error) = gpuskin_build::bake_into(manifest, out, None) {
        panic!("{}", error.diagnostics);
    }
}
