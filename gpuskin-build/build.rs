//! Sets two variables for the compilation: the optimisation level (Cargo builds the dependencies of
//! build scripts at level 0 by default), and a hash of the source (a baker with another source must
//! not use cached results of this one).

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=GPUSKIN_OPT_LEVEL={level}");

    let mut hasher = DefaultHasher::new();
    // The data layout is defined by the runtime. If the runtime comes from a registry, the version
    // of this crate is sufficient.
    for folder in ["src", "../gpuskin-rt/src"].map(Path::new).into_iter().filter(|folder| folder.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        add(folder, &mut hasher);
    }
    println!("cargo::rustc-env=GPUSKIN_SOURCE={:016x}", hasher.finish());
}

fn add(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, hasher);
        } else if let (Ok(bytes), Some(name)) = (std::fs::read(&path), path.file_name()) {
            hasher.write(name.as_encoded_bytes());
            hasher.write_usize(bytes.len());
            hasher.write(&bytes);
        }
    }
}
