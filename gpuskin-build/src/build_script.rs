//! Entry points for build scripts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bake::BakedModel;
use crate::bake_job::{BakeJob, BakeScope, BakeSummary};
use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::report::{DrawnIn, DrawnModels, Report, ReportFile, ReportKind};

/// Bakes without optimisation that take longer than this give a warning. Shorter ones do not:
/// models are baked only when they change, not in every build.
const MAX_UNOPTIMISED_BAKE: Duration = Duration::from_secs(10);

/// Bakes a manifest from a build script into `OUT_DIR`, where `gpuskin_rt::include_baked!()` finds
/// the result.
///
/// Tells Cargo to run the script again when an input file changes. Prints diagnostics as Cargo
/// errors and warnings. After an error the build fails, and the files of the last successful bake
/// stay unchanged.
///
/// Models whose inputs have not changed are not baked again. The cache for this is in `OUT_DIR` by
/// default. The environment variable `GPUSKIN_CACHE` names a folder that several build scripts,
/// checkouts or machines share instead; `GPUSKIN_SHARED_CACHE` names a bucket behind it (feature
/// `shared-cache`).
///
/// The environment variable `GPUSKIN_REPORT` names a file for a report of the bake, `.html`,
/// `.json` or `.md`: sizes, errors over time, and diagnostics, also of a bake that fails.
///
/// # Example
/// ```no_run
/// // In the `main` of build.rs:
/// gpuskin_build::build("gpuskin.toml");
/// ```
pub fn build(manifest: impl AsRef<Path>) {
    if let Err(error) = try_build(manifest) {
        error.diagnostics.cargo_directives().iter().for_each(|line| println!("{line}"));
    }
}

/// Bakes like [`build`], but returns errors instead of printing them for Cargo.
///
/// # Errors
/// If the manifest cannot be read, a model cannot be baked, or a file cannot be written.
pub fn try_build(manifest: impl AsRef<Path>) -> Result<Built, BuildError> {
    let manifest = manifest.as_ref();
    let mut inputs = BTreeSet::from([manifest.to_owned()]);
    let start = Instant::now();
    let result = bake_to_out_dir(manifest, &mut inputs);
    inputs.iter().for_each(|input| println!("cargo::rerun-if-changed={}", input.display()));
    for variable in ["GPUSKIN_CACHE", "GPUSKIN_REPORT", "GPUSKIN_SHARED_CACHE", "GPUSKIN_SHARED_CACHE_MODE"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let mut baked = result.map_err(|diagnostics| BuildError { diagnostics })?;
    if let Some(advice) = unoptimised(start.elapsed(), env!("GPUSKIN_OPT_LEVEL")) {
        baked.warnings.push(advice);
        // Cargo repeats the warnings of a script in each build until the script runs again. A file that
        // does not exist makes the next build run it: that finds all models in the cache, and is fast.
        if let Some(out) = std::env::var_os("OUT_DIR") {
            println!("cargo::rerun-if-changed={}", Path::new(&out).join("gpuskin-next-build").display());
        }
    }
    baked.warnings.cargo_directives().iter().for_each(|line| println!("{line}"));
    Ok(baked)
}

/// Returns a warning if the bake was slow because the baker was compiled without optimisation.
fn unoptimised(took: Duration, opt_level: &str) -> Option<Diagnostic> {
    (took > MAX_UNOPTIMISED_BAKE && opt_level == "0").then(|| {
        Diagnostic::warning(DiagnosticCode::ScriptSlow, format!("baking took {} s, because build scripts are compiled without optimisation", took.as_secs()))
            .help("in Cargo.toml:\n[profile.dev.build-override]\nopt-level = 3\n[profile.release.build-override]\nopt-level = 3")
    })
}

fn bake_to_out_dir(path: &Path, inputs: &mut BTreeSet<PathBuf>) -> Result<Built, Diagnostics> {
    let out_dir = std::env::var_os("OUT_DIR").ok_or_else(|| {
        Diagnostic::error(
            DiagnosticCode::ScriptOutDir,
            "the environment variable OUT_DIR is not set: `build` was not called from a build script",
        )
        .help("use `gpuskin bake`, or gpuskin_build::bake_into")
    })?;
    let out = Path::new(&out_dir);
    let cache = Cache::shared().unwrap_or_else(|| Cache::of_script(out)).with_shared_from_environment();
    let report = report_file()?;
    match job(path, out, Some(&cache)).run(false) {
        Ok(BakeSummary { models, warnings, inputs: read, .. }) => {
            inputs.extend(read.iter().cloned());
            if let Some(file) = report {
                let drawn = || DrawnModels::read(&models, out, DrawnIn::File, &DrawnModels::default());
                file.write(&Report::new(&models, &warnings), None, drawn)?;
            }
            Ok(Built { models, inputs: read, warnings })
        }
        Err(mut failed) => {
            inputs.extend(failed.inputs);
            let failure = Report::of_failure(path, None, &failed.diagnostics);
            if let Some(Err(diagnostic)) = report.map(|file| file.write(&failure, None, DrawnModels::default)) {
                failed.diagnostics.push(diagnostic);
            }
            Err(failed.diagnostics)
        }
    }
}

/// Returns the file that `GPUSKIN_REPORT` names. An empty variable names none.
fn report_file() -> Result<Option<ReportFile>, Diagnostic> {
    let Some(path) = std::env::var_os("GPUSKIN_REPORT").filter(|path| !path.is_empty()) else { return Ok(None) };
    let (expected, path) = (ReportKind::ENDINGS, PathBuf::from(path));
    ReportFile::new(&path).map(Some).ok_or_else(|| {
        let message = format!("GPUSKIN_REPORT is {}: expected a {expected} file", path.display());
        Diagnostic::error(DiagnosticCode::OutputFailed, message)
            .help("name a file for the report, or unset the variable")
    })
}

/// Bakes a manifest into any folder and prints nothing: for tools that are neither build scripts
/// nor use the command line. With a cache, models in the cache are not baked again.
///
/// # Errors
/// If the manifest cannot be read, a model cannot be baked, or a file cannot be written. The folder
/// is unchanged then.
pub fn bake_into(
    manifest: impl AsRef<Path>,
    folder: impl AsRef<Path>,
    cache: Option<&Cache>,
) -> Result<Built, BuildError> {
    match job(manifest.as_ref(), folder.as_ref(), cache).run(false) {
        Ok(BakeSummary { models, warnings, inputs, .. }) => Ok(Built { models, inputs, warnings }),
        Err(failed) => Err(BuildError { diagnostics: failed.diagnostics }),
    }
}

/// A job that bakes all models without output.
fn job<'a>(manifest: &'a Path, out: &'a Path, cache: Option<&'a Cache>) -> BakeJob<'a> {
    BakeJob {
        manifest,
        out,
        model: None,
        explain: false,
        scope: BakeScope::Whole,
        cache,
        progress: None,
        describe: &|_| String::new(),
        may_write: &|| Ok(()),
        waiting: &|| (),
    }
}

/// Result of a bake whose files are written: models, inputs and warnings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// Models in the order of the manifest. Includes models that did not change and were not baked again.
    pub models: Vec<BakedModel>,
    /// All files that were read, including the manifest.
    pub inputs: BTreeSet<PathBuf>,
    /// Warnings about the models and their files; empty if there are none.
    pub warnings: Diagnostics,
}

/// Errors of a failed bake.
#[derive(Clone, Debug)]
pub struct BuildError {
    /// Diagnostics in the order of the manifest; at least one is an error.
    pub diagnostics: Diagnostics,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.diagnostics.render(crate::diagnostic::Style::Plain).trim_end())
    }
}

impl std::error::Error for BuildError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_unoptimised_bakes_warn() {
        let warned = |seconds, level| unoptimised(Duration::from_secs(seconds), level);
        assert!(warned(11, "0").is_some_and(|f| f.to_string().contains("took 11 s")));
        assert!(warned(11, "3").is_none() && warned(9, "0").is_none());
    }
}
