//! `bake`: bakes a manifest into files, and prints their sizes and errors.

use std::fmt::Write;
use std::path::Path;

use gpuskin_rt::internals::{ColorFormat, Encoding};

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, switch};
use super::cache_folder::{self, CachePlace};
use super::outcome::{CommandOutput, Failure, load, print_error};
use super::progress::ProgressDisplay;
use super::text::{Table, bytes, clip_table, count, influence_line, level_table, model_line, worst};
use crate::bake::{BakeFailure, BakeOptions, BakedModel, ClipErrors, ClipLoop, LoopChange};
use crate::bake_job::{BakeJob, BakeScope, BakeSummary};
use crate::cache::{Cache, SharedMode};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::output::Difference;
use crate::report::{Comparison, DrawnIn, DrawnModels, Report, ReportFile, ReportKind};
use crate::shard::Shard;
use crate::units::{digits, length};

pub(super) const COMMAND: Command = Command {
    name: "bake",
    summary: "Bakes the models of a manifest, and prints their sizes and errors.",
    operand: None,
    flags: &[
        MANIFEST,
        option("out", "DIR", "output folder [default: baked/ beside the manifest]"),
        option("model", "NAME", "bake only this model, into a folder of its own; with --check, compare only its files"),
        switch("check", "write nothing; fail if a file in DIR differs from the result of the bake"),
        switch("dry-run", "write nothing; print sizes only"),
        option("shard", "I/N", "bake only part I of N, counted from 0; afterwards run --merge with the same cache"),
        option(
            "shared-cache",
            "URL",
            "cache shared by several machines: s3:, gs:, az: or file: [default: GPUSKIN_SHARED_CACHE]",
        ),
        option("shared-cache-mode", "MODE", "read, or read-write to upload results as well [default: read]"),
        switch("merge", "bake everything, but fail for a model that no shard has baked"),
        MESSAGE_FORMAT,
        switch("explain", "print every encoding that the devices support, and why it was not chosen"),
        option(
            "report",
            "FILE",
            "also write sizes, errors over time and diagnostics to FILE.html, FILE.json or FILE.md",
        ),
        option(
            "compare",
            "OLD.json",
            "list what changed since an earlier report: in the report,\nelse as Markdown on standard output",
        ),
    ],
    notes: "Errors are distances to the glTF model evaluated in f64, over all its vertices: `encoding` at the times of\n\
            the baked frames, `motion` also between the frames. `normals` are angles, at and between the frames.",
};

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    if args.has("check") && args.has("dry-run") {
        return Err(Failure::Usage("`--check` and `--dry-run` exclude each other".to_owned()));
    }
    if args.has("explain") && args.has("dry-run") {
        let reason = "`--explain` and `--dry-run` exclude each other: errors are known only after a bake";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let scope = scope(args)?;
    let report = report_file(args)?;
    let old = args.path("compare").map(|path| Report::read(&path)).transpose()?;
    let path = args.manifest();
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let out = args.path("out").unwrap_or_else(|| folder.join("baked"));
    let model = args.text("model")?;
    if args.has("dry-run") {
        let (models, warnings) = crate::bake::plan(&load(&path)?, &BakeOptions { model, ..Default::default() })?;
        return Ok(CommandOutput { text: models.iter().map(planned).collect(), warnings });
    }

    let explain = args.has("explain");
    let progress = ProgressDisplay::new();
    let (cache, place) = cache_folder::open(&folder).unzip();
    let cache = with_shared_cache(cache, args)?;
    let job = BakeJob {
        manifest: &path,
        out: &out,
        model,
        explain,
        scope,
        cache: cache.as_ref(),
        progress: Some(&|model, stage| progress.report(model, stage)),
        describe: &|model| describe(model, explain),
        may_write: &|| model.map_or(Ok(()), |model| refuse_others(&out, model)),
        waiting: &|| print_error("waiting for another bake of the same manifest\n"),
    };
    if scope != BakeScope::Whole && job.cache.is_none() {
        let diagnostic =
            Diagnostic::error(DiagnosticCode::CacheNone, "`--shard` and `--merge` need a cache, but there is none");
        return Err(diagnostic.help("set GPUSKIN_CACHE to a folder that all shards can access").into());
    }
    if args.has("check") {
        let result = job.check();
        progress.clear();
        let (done, differences) = match result {
            Ok(result) => result,
            Err(failed) => return Err(report_failure(report.as_ref(), &path, model, failed)),
        };
        write_report(report.as_ref(), old.as_ref(), &done, &out)?;
        check(&differences, &out, model)?;
        return Ok(CommandOutput {
            text: format!("{}{} is up to date\n", done.text, out.display()),
            warnings: done.warnings,
        });
    }
    // A report needs the models, also if there is nothing to do.
    let result = job.run(report.is_none() && old.is_none());
    progress.clear();
    let done = match result {
        Ok(done) => done,
        Err(failed) => return Err(report_failure(report.as_ref(), &path, model, failed)),
    };
    if let Some(text) = write_report(report.as_ref(), old.as_ref(), &done, &out)? {
        return Ok(CommandOutput { text, warnings: done.warnings });
    }
    let mut text = done.text;
    let size = bytes(done.bytes);
    let models = count(done.count as u64, "model", "models");
    let _ = match done.baked {
        baked if baked == done.count => writeln!(text, "{models} baked"),
        0 => writeln!(text, "{models}, nothing to bake"),
        baked => writeln!(text, "{models}, {baked} of them baked"),
    };
    let _ = writeln!(text, "{} files, {size}, in {}", done.files, out.display());
    match (&cache, place) {
        (Some(cache), Some(CachePlace::User)) => {
            let _ =
                writeln!(text, "cache in {}, because the manifest is not in a Cargo package", cache.folder().display());
        }
        (None, _) => text.push_str("no cache: the next bake repeats this one, unless GPUSKIN_CACHE names a folder\n"),
        _ => {}
    }
    if let Some((url, used)) = cache.as_ref().and_then(Cache::shared_use) {
        let entries = |number: usize| count(number as u64, "entry", "entries");
        let _ = writeln!(
            text,
            "{} downloaded from {url}, {} uploaded",
            entries(used.downloaded.0),
            entries(used.uploaded.0)
        );
    }
    Ok(CommandOutput { text, warnings: done.warnings })
}

/// Returns the file of `--report`.
fn report_file(args: &Args) -> Result<Option<ReportFile>, Failure> {
    let flag = ["report", "compare"].into_iter().find(|flag| args.has(flag));
    if let Some(flag) = flag.filter(|_| args.has("dry-run")) {
        let reason = "exclude each other: errors are known only after a bake";
        return Err(Failure::Usage(format!("`--{flag}` and `--dry-run` {reason}")));
    }
    let Some(path) = args.path("report") else { return Ok(None) };
    let invalid = || {
        let expected = ReportKind::ENDINGS;
        Failure::Usage(format!("invalid value `{}` for `--report`: expected a {expected} file", path.display()))
    };
    ReportFile::new(&path).map(Some).ok_or_else(invalid)
}

/// Writes the report. Without a file, returns the changes since the old report as Markdown.
fn write_report(
    file: Option<&ReportFile>,
    old: Option<&Report>,
    done: &BakeSummary,
    out: &Path,
) -> Result<Option<String>, Failure> {
    if file.is_none() && old.is_none() {
        return Ok(None);
    }
    let report = Report::new(&done.models, &done.warnings);
    let comparison = old.map(|old| Comparison::new(old, &report));
    match file {
        Some(file) => {
            let drawn = || DrawnModels::read(&done.models, out, DrawnIn::File, &DrawnModels::default());
            file.write(&report, comparison.as_ref(), drawn)?;
            Ok(None)
        }
        None => Ok(comparison.map(|comparison| comparison.to_markdown())),
    }
}

/// Writes the report of a failed bake, and returns its diagnostics.
fn report_failure(file: Option<&ReportFile>, manifest: &Path, model: Option<&str>, failed: BakeFailure) -> Failure {
    let mut diagnostics = failed.diagnostics;
    if let Some(file) = file
        && let Err(diagnostic) =
            file.write(&Report::of_failure(manifest, model, &diagnostics), None, DrawnModels::default)
    {
        diagnostics.push(diagnostic);
    }
    diagnostics.into()
}

/// Adds the shared cache given by the arguments.
fn with_shared_cache(cache: Option<Cache>, args: &Args) -> Result<Option<Cache>, Failure> {
    let mode = match args.word("shared-cache-mode", &["read", "read-write"])? {
        Some("read-write") => SharedMode::ReadWrite,
        _ => SharedMode::Read,
    };
    match (args.text("shared-cache")?, args.has("shared-cache-mode")) {
        (Some(url), _) => Ok(cache.map(|cache| cache.with_shared(url, mode))),
        (None, true) => Err(Failure::Usage("`--shared-cache-mode` needs `--shared-cache`".to_owned())),
        (None, false) => Ok(cache),
    }
}

/// Returns the part of the bake that the arguments ask for.
fn scope(args: &Args) -> Result<BakeScope, Failure> {
    let shard = args.text("shard")?;
    let other = ["check", "dry-run", "model"].into_iter().find(|flag| args.has(flag));
    match (shard, args.has("merge"), other) {
        (None, false, _) => Ok(BakeScope::Whole),
        (Some(_), true, _) => Err(Failure::Usage("`--shard` and `--merge` exclude each other".to_owned())),
        (shard, _, Some(other)) => {
            let flag = if shard.is_some() { "shard" } else { "merge" };
            Err(Failure::Usage(format!("`--{flag}` and `--{other}` exclude each other")))
        }
        (None, true, None) => Ok(BakeScope::Merge),
        (Some(text), false, None) => Shard::parse(text).map(BakeScope::Shard).ok_or_else(|| {
            Failure::Usage(format!("invalid value `{text}` for `--shard`: expected I/N, for example 0/4 to 3/4"))
        }),
    }
}

/// Returns the report of a model.
fn describe(model: &BakedModel, explain: bool) -> String {
    let mut text = String::new();
    for model in std::iter::once(model).chain(&model.others) {
        text.push_str(&heading(model));
        text.push_str(&worst(&model.meta, "encoding error", |clip| clip.encoding_error));
        text.push_str(&worst(&model.meta, "motion error", |clip| clip.motion_error));
        let _ = writeln!(
            text,
            "{}{}\n{}",
            layers(model),
            jumps(model),
            clip_table(&model.meta, |clip, _| ends(&model.loops[clip]))
        );
        if !model.meta.mesh.levels.is_empty() {
            let _ = writeln!(text, "{}", level_table(&model.meta.mesh));
        }
        text.push_str(&influence_line(&model.meta.mesh));
        if explain {
            let _ = writeln!(text, "{}", candidate_table(model));
        }
    }
    text
}

/// Returns what happens at the end of a clip, and how far its ends are apart: `loop, guessed (0.47
/// mm)`.
fn ends(ends: &ClipLoop) -> String {
    let what = if ends.looped { "loop" } else { "once" };
    let who = if ends.guessed { ", guessed" } else { "" };
    let change = match ends.change {
        LoopChange::None => "",
        LoopChange::FrameAdded => ", one frame added",
        LoopChange::Blended => ", blended",
    };
    format!("{what}{who}{change} ({})", length(ends.source_gap as f32))
}

/// Fails with one error per file that differs. With `--model`, compares only the files of that
/// model.
fn check(differences: &[Difference], out: &Path, model: Option<&str>) -> Result<(), Failure> {
    let folder = model.map(|model| out.join("gpuskin").join(model));
    let mut diagnostics = Diagnostics::default();
    for difference in differences {
        if folder.as_ref().is_none_or(|folder| difference.path().starts_with(folder)) {
            diagnostics.push(
                Diagnostic::error(DiagnosticCode::OutputDiffers, difference.to_string())
                    .help("bake again, and commit the files that it writes"),
            );
        }
    }
    if diagnostics.has_errors() { Err(diagnostics.into()) } else { Ok(()) }
}

/// Fails if the folder has other models. The generated module names all models of a folder, so
/// baking one of several would remove the others.
fn refuse_others(out: &Path, model: &str) -> Result<(), Diagnostic> {
    let folders = std::fs::read_dir(out.join("gpuskin")).into_iter().flatten().flatten();
    let mut others: Vec<_> =
        folders.filter_map(|folder| folder.file_name().into_string().ok()).filter(|name| name != model).collect();
    others.sort();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!("{} also contains other models ({})", out.display(), others.join(", "));
    Err(Diagnostic::error(DiagnosticCode::OutputOtherModels, message)
        .help("leave out --model to bake all models, or choose another folder with --out"))
}

/// Returns the first lines of a model's report.
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
    // A device loads only one of the formats, so their sizes are not added up.
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

/// Returns a table with one row per candidate encoding.
fn candidate_table(model: &BakedModel) -> String {
    // Texel rows per frame: one per bone or one per vertex.
    let vertices = model.candidates.iter().filter(|c| c.encoding.is_vertex()).count();
    let sample = match vertices {
        0 => ">B/bone-frame",
        n if n == model.candidates.len() => ">B/vertex-frame",
        _ => ">B/bone or vertex-frame",
    };
    let mut table =
        Table::new(["candidate", ">GPU bytes", sample, ">encoding", ">p99.96", ">motion", ">p99.96", ">normals", ""]);
    for candidate in &model.candidates {
        let worst = |error: fn(&ClipErrors) -> f32| candidate.errors.iter().map(error).reduce(f32::max);
        let cell = |error: fn(&ClipErrors) -> f32| worst(error).map_or("-".to_owned(), length);
        table.row([
            candidate.encoding.name().to_owned(),
            bytes(candidate.gpu_bytes),
            digits(candidate.bytes_per_bone_sample),
            cell(|e| e.encoding.max),
            cell(|e| e.encoding.p9996),
            cell(|e| e.motion.max),
            cell(|e| e.motion.p9996),
            worst(|e| e.motion.normal_degrees).map_or("-".to_owned(), |d| format!("{} deg", digits(d.into()))),
            candidate.refused.clone().unwrap_or("chosen".to_owned()),
        ]);
    }
    table.render()
}

/// Returns a note if masks or additive clips cannot be used: layers need the motion of each bone
/// relative to its parent.
fn layers(model: &BakedModel) -> &'static str {
    let meta = &model.meta;
    let any = !meta.masks.is_empty() || meta.clips.iter().any(|clip| clip.additive.is_some());
    if any && meta.encoding != Encoding::LocalPacked {
        "  no layers: they need the encoding local-packed\n"
    } else {
        ""
    }
}

/// Lists clips that have tracks with STEP interpolation which are not drawn as in the source.
fn jumps(model: &BakedModel) -> String {
    let clips = model.meta.clips.iter().zip(&model.errors).filter(|(_, errors)| errors.step_tracks > 0);
    let clips: Vec<_> = clips.map(|(clip, errors)| format!("{} ({})", clip.name, errors.step_tracks)).collect();
    if clips.is_empty() {
        return String::new();
    }
    let how = if model.meta.encoding == Encoding::LocalPacked { "jump" } else { "are blended or jump" };
    format!("  STEP tracks that {how} between frames, excluded from the motion error: {}\n", clips.join(", "))
}

/// Returns the size that a model would have.
fn planned(model: &BakedModel) -> String {
    let mut text = String::new();
    for baked in std::iter::once(model).chain(&model.others) {
        let _ = writeln!(
            text,
            "{}  {}, {}",
            model.meta.name,
            model_line(&baked.meta),
            bytes(baked.meta.texture.byte_len(baked.meta.encoding))
        );
    }
    text
}
