//! `viewer`: makes the program that draws models in reports, `gpuskin-build/src/report/viewer/`.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::cargo::root;
use crate::web::{self, Page};
use crate::{Failure, deps};

const HELP: &str = "\
Makes the program that draws models in reports from gpuskin-build/viewer.

Usage: cargo xtask viewer [--with-deps]

  --with-deps  installs the target wasm32-unknown-unknown
";

pub(crate) fn run(args: Vec<OsString>) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut with_deps = false;
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("with-deps") => with_deps = true,
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    deps::ensure(deps::Needs::Compiler, with_deps)?;
    if with_deps {
        web::install_target()?;
    }
    if let Some(lack) = web::lacks_target() {
        return Err(Failure::Failed(lack));
    }
    let out = root().join("target/viewer");
    let page = Page {
        package: "gpuskin-viewer",
        profile: web::SMALL_PROFILE,
        default_features: true,
        features: &[],
        script: "no-modules",
        files: None,
    };
    web::build(&page, &out)?;
    let to = root().join("gpuskin-build/src/report/viewer");
    let failed = |path: &Path, error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(&to).map_err(|error| failed(&to, error))?;
    let (script, wasm) = (out.join("gpuskin-viewer.js"), out.join("gpuskin-viewer_bg.wasm"));
    std::fs::copy(&script, to.join("viewer.js")).map_err(|error| failed(&script, error))?;
    // Without name and time, so that the same program gives the same file.
    let packed = Command::new("gzip").args(["-9", "-n", "-c"]).arg(&wasm).output();
    let packed = packed.map_err(|error| failed(Path::new("gzip"), error))?;
    let file = to.join("viewer.wasm.gz");
    std::fs::write(&file, &packed.stdout).map_err(|error| failed(&file, error))?;
    println!("{}: {} bytes", file.display(), packed.stdout.len());
    Ok(())
}
