//! `bake`: from the manifest to files, and what they cost.

use std::fmt::Write;
use std::sync::Mutex;

use gpuskin_rt::Metadata;
use indicatif::{ProgressBar, ProgressStyle};

use super::args::{Args, Command, MANIFEST, option, switch};
use super::text::{bytes, clip_table, model_line, worst};
use super::work::{self, BakeOptions, Stage};
use super::{Done, Failure, load};
use crate::finding::{Finding, Findings};

pub(super) const COMMAND: Command = Command {
    name: "bake",
    summary: "Bakes the models of a manifest, and prints what they cost and how exact they are.",
    operand: None,
    flags: &[
        MANIFEST,
        option("out", "DIR", "where the files go [default: baked/ beside the manifest]"),
        option("model", "NAME", "only this one"),
        switch("check", "write nothing; fail when what is in DIR differs from what would be written"),
        switch("dry-run", "write nothing; print sizes only"),
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
        let plans = work::plan(&manifest, &BakeOptions { model, ..Default::default() })?;
        let text: String = plans.iter().map(|plan| heading(&plan.meta, plan.bytes)).collect();
        return Ok(text.into());
    }

    let models = manifest.models.iter().filter(|entry| model.is_none_or(|name| entry.name.value == name)).count();
    let progress = Progress::new(models);
    let report = |model: &str, stage: Stage| progress.report(model, stage);
    let baked = work::bake(&manifest, &BakeOptions { model, progress: Some(&report), ..Default::default() });
    progress.bar.finish_and_clear();
    let baked = baked?;

    let mut text = String::new();
    for model in &baked.models {
        text.push_str(&heading(&model.meta, work::bytes_of(&baked, model)));
        text.push_str(&worst(&model.meta, "encoding error", |clip| clip.encoding_error));
        text.push_str(&worst(&model.meta, "motion error", |clip| clip.motion_error));
        let _ = writeln!(text, "\n{}", clip_table(&model.meta));
    }
    if args.has("check") {
        let help = "bake again, and commit what it writes";
        let mut findings = Findings::default();
        for difference in work::check(&baked, &out)? {
            findings.push(Finding::error(difference.to_string()).help(help));
        }
        if findings.has_errors() {
            return Err(findings.into());
        }
        let _ = writeln!(text, "{} is up to date", out.display());
    } else {
        work::write(&baked, &out)?;
        let total = baked.files.values().map(|file| file.len() as u64).sum();
        let _ = writeln!(text, "{} files, {}, in {}", baked.files.len(), bytes(total), out.display());
    }
    Ok(Done { text, warnings: baked.warnings })
}

/// The first line about a model.
fn heading(meta: &Metadata, size: u64) -> String {
    format!("{}  {}, {}\n", meta.name, model_line(meta), bytes(size))
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    bar: ProgressBar,
    /// Stages that are behind us, by model.
    reached: Mutex<std::collections::BTreeMap<String, u64>>,
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
