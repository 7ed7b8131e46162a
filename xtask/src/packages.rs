//! `package-test`: checks what crates.io would get of both crates.
//!
//! `cargo package` would verify the packages in a profile of its own, in which it compiles all dependencies anew. Here they are
//! members of a workspace beside the compiled dependencies of clippy.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::cargo::{cargo, root, run};

const PACKAGES: [&str; 2] = ["gpuskin-rt", "gpuskin-build"];
/// Features of gpuskin-build that the workspace has.
const FEATURES: &str = "gpuskin-build/cli,gpuskin-build/gpu,gpuskin-build/textures,gpuskin-build/view";
/// Features of dependencies that other members of the workspace turn on. Without them, the dependencies would be compiled again.
const OTHER_FEATURES: &str = r#"
glam = { version = "*", default-features = false, features = ["libm"] }
gltf = { version = "*", default-features = false, features = ["utils"] }
serde_json = { version = "*", default-features = false, features = ["unbounded_depth"] }
wgpu = { version = "*", default-features = false, features = ["noop", "webgl"] }

[build-dependencies]
syn = { version = "3", default-features = false, features = ["full"] }
"#;

/// Packages both crates, and checks the packages without the folder that they come from.
pub(crate) fn test() -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(error.to_string());
    let target = root().join("target");
    let folder = target.join("unpacked");
    if folder.exists() {
        // Files that a package does not have any more would be found there.
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(folder.join("features/src")).map_err(failed)?;
    let package = ["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"];
    let selected = PACKAGES.iter().flat_map(|name| ["--package", name]);
    let mut command = cargo(package);
    command.arg(&target).args(selected);
    run(command)?;
    let members: Vec<String> = PACKAGES.iter().map(|name| format!("{name}-{}", env!("CARGO_PKG_VERSION"))).collect();
    for member in &members {
        unpack(&target.join(format!("package/{member}.crate")), &folder)?;
    }
    let features = format!("[package]\nname = \"features\"\nedition = \"2024\"\n\n[dependencies]{OTHER_FEATURES}");
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).map_err(failed);
    write("Cargo.toml", &workspace(&members))?;
    write("features/Cargo.toml", &features)?;
    write("features/src/lib.rs", "")?;
    // Without a build script, cargo would leave out what only it needs.
    write("features/build.rs", "fn main() {}\n")?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    let mut command = cargo(["check", "--workspace", "--release", "--offline", "--features", FEATURES, "--target-dir"]);
    command.arg(&target).current_dir(&folder);
    run(command)
}

fn unpack(package: &Path, into: &Path) -> Result<(), Failure> {
    let mut command = Command::new("tar");
    command.arg("-xzf").arg(package).arg("-C").arg(into);
    run(command)
}

/// Returns the manifest of the workspace of the packages.
fn workspace(members: &[String]) -> String {
    let quoted: Vec<String> = members.iter().map(|member| format!("\"{member}\"")).collect();
    let runtime = &members[0];
    format!(
        "[workspace]\nmembers = [{}, \"features\"]\nresolver = \"3\"\n\n\
         [patch.crates-io]\ngpuskin-rt = {{ path = \"{runtime}\" }}\n",
        quoted.join(", ")
    )
}
