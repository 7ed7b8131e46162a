//! What build scripts call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bake::BakedModel;
use crate::cache::Cache;
use crate::drive::{Done, Job, Share};
use crate::finding::{Code, Finding, Findings};

/// An unoptimised bake up to this is no trouble: models are baked when they change, not with every build.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bakes a manifest from a build script: into `OUT_DIR`, where `gpuskin_rt::include_baked!()` finds it.
///
/// Tells Cargo to run the script again when one of the files that were read changes. Findings are printed as Cargo's own
/// errors and warnings; after an error the build fails, and the files of the last good bake stay as they were.
///
/// Models whose files have not changed are not baked again. What that takes is kept in `OUT_DIR` too; the environment
/// variable `GPUSKIN_CACHE` names a folder that several build scripts, checkouts or machines share instead, and
/// `GPUSKIN_SHARED_CACHE` a bucket behind it (feature `shared-cache`).
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
pub fn try_build(manifest: impl AsRef<Path>) -> Result<Built, BuildError> {
    let manifest = manifest.as_ref();
    let mut inputs = BTreeSet::from([manifest.to_owned()]);
    let start = Instant::now();
    let result = bake_to_out_dir(manifest, &mut inputs);
    inputs.iter().for_each(|input| println!("cargo::rerun-if-changed={}", input.display()));
    for variable in ["GPUSKIN_CACHE", "GPUSKIN_SHARED_CACHE", "GPUSKIN_SHARED_CACHE_MODE"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
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

fn bake_to_out_dir(path: &Path, inputs: &mut BTreeSet<PathBuf>) -> Result<Built, Findings> {
    let out_dir = std::env::var_os("OUT_DIR").ok_or_else(|| {
        Finding::error(Code::ScriptOutDir, "OUT_DIR is not set: this is not a build script")
            .help("elsewhere use `gpuskin bake`, or gpuskin_build::bake and gpuskin_build::output")
    })?;
    let out = Path::new(&out_dir);
    let cache = Cache::shared().unwrap_or_else(|| Cache::of_script(out)).with_shared_of_environment();
    match job(path, out, Some(&cache)).run(false) {
        Ok(Done { models, warnings, inputs: read, .. }) => {
            inputs.extend(read.iter().cloned());
            Ok(Built { models, inputs: read, warnings })
        }
        Err(failed) => {
            inputs.extend(failed.inputs);
            Err(failed.findings)
        }
    }
}

/// Bakes a manifest into any folder, and tells nobody: for tools that neither are build scripts nor call the command line.
/// With a cache, what it holds is not baked again.
///
/// # Errors
/// When there is no manifest, when a model cannot be baked, or when the files cannot be written. Then the folder is as it
/// was.
pub fn bake_into(
    manifest: impl AsRef<Path>,
    folder: impl AsRef<Path>,
    cache: Option<&Cache>,
) -> Result<Built, BuildError> {
    match job(manifest.as_ref(), folder.as_ref(), cache).run(false) {
        Ok(Done { models, warnings, inputs, .. }) => Ok(Built { models, inputs, warnings }),
        Err(failed) => Err(BuildError { findings: failed.findings }),
    }
}

/// A whole bake without a word.
fn job<'a>(manifest: &'a Path, out: &'a Path, cache: Option<&'a Cache>) -> Job<'a> {
    Job {
        manifest,
        out,
        model: None,
        explain: false,
        share: Share::Whole,
        cache,
        progress: None,
        describe: &|_| String::new(),
        may_write: &|| Ok(()),
        waiting: &|| (),
    }
}

/// What a bake has brought into its folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// Models, in the order of the manifest. Those that have not changed have no way back to their source.
    pub models: Vec<BakedModel>,
    /// Every file that was read, the manifest included.
    pub inputs: BTreeSet<PathBuf>,
    /// What was odd.
    pub warnings: Findings,
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
