//! `bake`: from the manifest to files, and what they cost.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gpuskin_rt::{ColorFormat, Encoding};
use indicatif::{ProgressBar, ProgressStyle};

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, switch};
use super::text::{Table, bytes, clip_table, model_line, worst};
use super::{Done, Failure, load};
use crate::bake::{BakeOptions, BakedModel, ClipErrors, Stage};
use crate::cache::Cache;
use crate::finding::{Code, Finding, Findings};
use crate::output;
use crate::units::{digits, length};

pub(super) const COMMAND: Command = Command {
    name: "bake",
    summary: "Bakes the models of a manifest, and prints what they cost and how exact they are.",
    operand: None,
    flags: &[
        MANIFEST,
        option("out", "DIR", "where the files go [default: baked/ beside the manifest]"),
        option("model", "NAME", "only this one, into a folder of its own; with --check, only its files"),
        switch("check", "write nothing; fail when what is in DIR differs from what would be written"),
        switch("dry-run", "write nothing; print sizes only"),
        MESSAGE_FORMAT,
        switch("explain", "print every encoding that the devices can play, and why it was not chosen"),
    ],
    notes: "Errors are distances to the glTF model evaluated in f64, over all its vertices: `encoding` at the baked\n\
            frames' own times, `motion` between them as well.",
};

pub(super) fn run(args: &Args) -> Result<Done, Failure> {
    if args.has("check") && args.has("dry-run") {
        return Err(Failure::Usage("`--check` and `--dry-run` exclude each other".to_owned()));
    }
    let manifest = load(&args.manifest())?;
    let out = args.path("out").unwrap_or_else(|| manifest.folder.join("baked"));
    let model = args.text("model")?;
    if args.has("dry-run") {
        let plans = crate::bake::plan(&manifest, &BakeOptions { model, ..Default::default() })?;
        return Ok(plans.iter().map(planned).collect::<String>().into());
    }

    let models = manifest.models.iter().filter(|entry| model.is_none_or(|name| entry.name.value == name)).count();
    let explain = args.has("explain");
    let progress = Progress::new(models);
    let report = |model: &str, stage: Stage| progress.report(model, stage);
    let cache = cache(&manifest.folder);
    let options = BakeOptions { model, explain, cache: cache.as_ref(), progress: Some(&report), ..Default::default() };
    let baked = crate::bake::bake(&manifest, &options);
    progress.bar.finish_and_clear();
    let mut baked = baked?;
    if let Some(note) = cache.as_ref().and_then(Cache::note) {
        baked.warnings.push(note);
    }

    let mut text = String::new();
    for model in baked.models.iter().flat_map(|model| std::iter::once(model).chain(&model.others)) {
        text.push_str(&heading(model));
        text.push_str(&worst(&model.meta, "encoding error", |clip| clip.encoding_error));
        text.push_str(&worst(&model.meta, "motion error", |clip| clip.motion_error));
        let _ = writeln!(text, "{}{}\n{}", layers(model), jumps(model), clip_table(&model.meta));
        if explain {
            let _ = writeln!(text, "{}", candidate_table(model));
        }
    }
    if args.has("check") {
        check(&baked.files, &out, model)?;
        let _ = writeln!(text, "{} is up to date", out.display());
    } else {
        if let Some(model) = model {
            refuse_others(&out, model)?;
        }
        output::write(&baked.files, &out)?;
        let total = baked.files.values().map(|file| file.len() as u64).sum();
        let _ = writeln!(text, "{} files, {}, in {}", baked.files.len(), bytes(total), out.display());
    }
    Ok(Done { text, warnings: baked.warnings })
}

/// Where encoded textures are kept: `GPUSKIN_CACHE`, else in the target folder of the package that the manifest is part of.
fn cache(folder: &Path) -> Option<Cache> {
    let target = || {
        if let Some(target) = std::env::var_os("CARGO_TARGET_DIR").filter(|target| !target.is_empty()) {
            return Some(PathBuf::from(target));
        }
        let folder = std::path::absolute(folder).ok()?;
        Some(folder.ancestors().find(|folder| folder.join("Cargo.lock").is_file())?.join("target"))
    };
    Cache::shared().or_else(|| Some(Cache::new(target()?.join("gpuskin-cache"))))
}

/// Fails with every file that differs; of one model alone, where only that one was baked.
fn check(files: &BTreeMap<String, Vec<u8>>, out: &Path, model: Option<&str>) -> Result<(), Failure> {
    let mut files = files.clone();
    let folder = model.map(|model| format!("gpuskin/{model}/"));
    if let Some(folder) = &folder {
        files.retain(|name, _| name.starts_with(folder));
    }
    let mut findings = Findings::default();
    for difference in output::check(&files, out)? {
        if folder.as_ref().is_none_or(|folder| difference.path().starts_with(out.join(folder))) {
            findings.push(
                Finding::error(Code::OutputDiffers, difference.to_string())
                    .help("bake again, and commit what it writes"),
            );
        }
    }
    if findings.has_errors() { Err(findings.into()) } else { Ok(()) }
}

/// The generated module names all models of a folder: baking one of several would take the others away.
fn refuse_others(out: &Path, model: &str) -> Result<(), Failure> {
    let folders = std::fs::read_dir(out.join("gpuskin")).into_iter().flatten().flatten();
    let mut others: Vec<_> =
        folders.filter_map(|folder| folder.file_name().into_string().ok()).filter(|name| name != model).collect();
    others.sort();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!("{} holds other models too ({})", out.display(), others.join(", "));
    Err(Finding::error(Code::OutputOthers, message)
        .help("leave out --model to bake all of them, or give this one a folder with --out")
        .into())
}

/// The first lines about a model.
fn heading(model: &BakedModel) -> String {
    let size = |part: &str| -> u64 {
        let names =
            model.payloads.iter().filter(|(name, _)| name.rsplit('/').next().is_some_and(|n| n.starts_with(part)));
        names.map(|(_, payload)| payload.size).sum()
    };
    let files: Vec<_> = [("animation", "anim-"), ("mesh", "mesh")]
        .into_iter()
        .map(|(title, part)| (title, size(part)))
        .filter(|(_, size)| *size > 0)
        .map(|(title, size)| format!("{title} {}", bytes(size)))
        .collect();
    // A device takes one of the formats: their sizes do not add up to anything that it holds.
    let colors: Vec<_> = ColorFormat::ALL
        .into_iter()
        .filter_map(|format| {
            let ending = format!("-{}.ktx2", format.name());
            let colors = model.payloads.iter().filter(|(name, _)| name.contains("/color-") && name.ends_with(&ending));
            let size: u64 = colors.map(|(_, payload)| payload.size).sum();
            (size > 0).then(|| format!("{} {}", format.name(), bytes(size)))
        })
        .collect();
    let colors = if colors.is_empty() { String::new() } else { format!("  textures        {}\n", colors.join(" or ")) };
    format!("{}  {}\n  files           {}\n{colors}", model.meta.name, model_line(&model.meta), files.join(", "))
}

/// A line an encoding that was looked at.
fn candidate_table(model: &BakedModel) -> String {
    let mut table = Table::new([
        "candidate",
        ">GPU bytes",
        ">B/bone-frame",
        ">encoding",
        ">p99.96",
        ">motion",
        ">p99.96",
        ">normals",
        "",
    ]);
    for candidate in &model.candidates {
        let worst = |error: fn(&ClipErrors) -> f32| candidate.errors.iter().map(error).reduce(f32::max);
        let cell = |error: fn(&ClipErrors) -> f32| worst(error).map_or("-".to_owned(), length);
        table.row([
            candidate.encoding.name().to_owned(),
            bytes(candidate.gpu_bytes),
            digits(candidate.bytes_a_bone_sample),
            cell(|e| e.encoding.max),
            cell(|e| e.encoding.p9996),
            cell(|e| e.motion.max),
            cell(|e| e.motion.p9996),
            worst(|e| e.encoding.normal_degrees).map_or("-".to_owned(), |d| format!("{} deg", digits(d.into()))),
            candidate.refused.clone().unwrap_or("chosen".to_owned()),
        ]);
    }
    table.render()
}

/// Masks and additive clips are of no use where each bone's own motion is not known.
fn layers(model: &BakedModel) -> &'static str {
    let meta = &model.meta;
    let any = !meta.masks.is_empty() || meta.clips.iter().any(|clip| clip.additive.is_some());
    if any && meta.encoding != Encoding::LocalPacked { "  plays no layers: they need compute shaders\n" } else { "" }
}

/// Tracks that jump: between frames they are where they were, whatever the encoding, and no error is measured there.
fn jumps(model: &BakedModel) -> String {
    let clips = model.meta.clips.iter().zip(&model.errors).filter(|(_, errors)| errors.step_tracks > 0);
    let clips: Vec<_> = clips.map(|(clip, errors)| format!("{} ({})", clip.name, errors.step_tracks)).collect();
    if clips.is_empty() {
        return String::new();
    }
    format!("  STEP tracks, left out of the motion error: {}\n", clips.join(", "))
}

/// What a model would take.
fn planned(model: &BakedModel) -> String {
    let mut text = String::new();
    for baked in std::iter::once(model).chain(&model.others) {
        let _ =
            writeln!(text, "{}  {}, {}", model.meta.name, model_line(&baked.meta), bytes(baked.plan.texture_bytes()));
    }
    text
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    bar: ProgressBar,
    /// Stages that are behind us, by model.
    reached: Mutex<BTreeMap<String, u64>>,
}

impl Progress {
    fn new(models: usize) -> Self {
        let bar = ProgressBar::new(models as u64 * Stage::Done as u64);
        let style = ProgressStyle::with_template("{bar:24} {msg}").expect("the template is right");
        bar.set_style(style);
        Self { bar, reached: Mutex::default() }
    }

    fn report(&self, model: &str, stage: Stage) {
        let doing = match stage {
            Stage::Import => "reading",
            Stage::Encode => "encoding",
            Stage::Measure => "measuring",
            Stage::Done => "finished",
        };
        let mut reached = self.reached.lock().expect("nothing panics with the lock held");
        reached.insert(model.to_owned(), stage as u64);
        self.bar.set_position(reached.values().sum());
        self.bar.set_message(format!("{model}: {doing}"));
    }
}
