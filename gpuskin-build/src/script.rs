//! What build scripts call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bake::{BakeOptions, Baked, bake};
use crate::cache::Cache;
use crate::finding::{Code, Finding, Findings};
use crate::load::load;
use crate::output;

/// An unoptimised bake up to this is no trouble: models are baked when they change, not with every build.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bakes a manifest from a build script: into `OUT_DIR`, where `gpuskin_rt::include_baked!()` finds it.
///
/// Tells Cargo to run the script again when one of the files that were read changes. Findings are printed as Cargo's own
/// errors and warnings; after an error the build fails, and the files of the last good bake stay as they were.
///
/// Encoded textures are kept in `OUT_DIR` too, for the next bake; the environment variable `GPUSKIN_CACHE` names a folder that
/// several build scripts, or machines, share instead.
///
/// # Example
/// ```no_run
/// // In the `main` of build.rs:
/// gpuskin_build::build("gpuskin.toml");
/// ```
pub fn build(manifest: impl AsRef<Path>) {
    if let Err(error) = try_build(manifest) {
        error.findings.cargo_directives().iter().for_each(|line| println!("{line}"));
    }
}

/// As [`build`], with errors as a value instead of Cargo's.
///
/// # Errors
/// When there is no manifest, when a model cannot be baked, or when the files cannot be written.
pub fn try_build(manifest: impl AsRef<Path>) -> Result<Baked, BuildError> {
    let manifest = manifest.as_ref();
    let mut inputs = BTreeSet::from([manifest.to_owned()]);
    let start = Instant::now();
    let result = bake_to_out_dir(manifest, &mut inputs);
    inputs.iter().for_each(|input| println!("cargo::rerun-if-changed={}", input.display()));
    println!("cargo::rerun-if-env-changed=GPUSKIN_CACHE");
    let mut baked = result.map_err(|findings| BuildError { findings })?;
    if let Some(advice) = unoptimised(start.elapsed(), env!("GPUSKIN_OPT_LEVEL")) {
        baked.warnings.push(advice);
    }
    baked.warnings.cargo_directives().iter().for_each(|line| println!("{line}"));
    Ok(baked)
}

/// What to do about a bake that an optimised baker would have done much sooner.
fn unoptimised(took: Duration, opt_level: &str) -> Option<Finding> {
    (took > PATIENCE && opt_level == "0").then(|| {
        Finding::warning(Code::ScriptSlow, format!("baking took {} s, because build scripts are built unoptimised", took.as_secs()))
            .help("in Cargo.toml:\n[profile.dev.build-override]\nopt-level = 3\n[profile.release.build-override]\nopt-level = 3")
    })
}

fn bake_to_out_dir(path: &Path, inputs: &mut BTreeSet<PathBuf>) -> Result<Baked, Findings> {
    let out_dir = std::env::var_os("OUT_DIR").ok_or_else(|| {
        Finding::error(Code::ScriptOutDir, "OUT_DIR is not set: this is not a build script")
            .help("elsewhere use `gpuskin bake`, or gpuskin_build::bake and gpuskin_build::output")
    })?;
    let manifest = load(path)?;
    let shared = Cache::shared();
    let own = Cache::new(Path::new(&out_dir).join("gpuskin-cache"));
    let cache = shared.as_ref().unwrap_or(&own);
    let mut baked = match bake(&manifest, &BakeOptions { cache: Some(cache), ..Default::default() }) {
        Ok(baked) => baked,
        Err(failed) => {
            inputs.extend(failed.inputs);
            return Err(failed.findings);
        }
    };
    inputs.extend(baked.inputs.iter().cloned());
    if let Some(note) = cache.note() {
        baked.warnings.push(note);
    }
    if shared.is_none() {
        own.sweep();
    }
    output::write(&baked.files, Path::new(&out_dir))?;
    Ok(baked)
}

/// Why a build script has nothing to offer.
#[derive(Clone, Debug)]
pub struct BuildError {
    /// Everything that was found, in the order of the manifest; at least one is an error.
    pub findings: Findings,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.findings.render(crate::finding::Style::Plain).trim_end())
    }
}

impl std::error::Error for BuildError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_and_unoptimised_bakes_are_worth_a_word() {
        let warned = |seconds, level| unoptimised(Duration::from_secs(seconds), level);
        assert!(warned(11, "0").is_some_and(|f| f.to_string().contains("took 11 s")));
        assert!(warned(11, "3").is_none() && warned(9, "0").is_none());
    }
}
