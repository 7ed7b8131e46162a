//! Tells the baker how it was optimised: Cargo builds what build scripts use at level 0 unless it is told otherwise.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=GPUSKIN_OPT_LEVEL={level}");
}
