//! Comparison of two reports: what became larger, smaller, better or worse.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::data::{ClipReport, ModelReport, Report};
use super::number::Number;
use crate::units::{bytes, length};

/// Smallest relative change of an error that is listed: smaller ones do not show in three digits.
const MIN_ERROR_CHANGE: f64 = 0.01;

/// Changes from an earlier report to a later one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// One line: numbers of changes by kind.
    pub(crate) summary: String,
    pub(crate) changes: Vec<Change>,
}

/// One change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// Name of the model; empty for diagnostics without one.
    pub(crate) model: String,
    /// Quantity that changed, such as ``clip `run`: motion error``.
    pub(crate) what: String,
    pub(crate) before: String,
    pub(crate) after: String,
    /// Relative change as text.
    pub(crate) change: String,
    /// Relative change; `None` if the quantity was or is zero, or has no size.
    pub(crate) percent: Option<f64>,
}

/// Kind of a change. Changes are sorted by it, those that need attention first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    /// An error is greater.
    Worse,
    /// There are more bytes.
    Larger,
    /// A diagnostic that was not there before.
    #[serde(rename = "new diagnostic")]
    NewDiagnostic,
    /// An error is smaller.
    Better,
    /// There are fewer bytes.
    Smaller,
    /// A diagnostic is gone.
    Repaired,
    /// Neither better nor worse.
    Changed,
    Added,
    Removed,
}

impl ChangeKind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Worse,
        Self::Larger,
        Self::NewDiagnostic,
        Self::Better,
        Self::Smaller,
        Self::Repaired,
        Self::Changed,
        Self::Added,
        Self::Removed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Larger => "larger",
            Self::NewDiagnostic => "new diagnostic",
            Self::Better => "better",
            Self::Smaller => "smaller",
            Self::Repaired => "repaired",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

impl Comparison {
    /// Compares a report with an earlier one.
    pub(crate) fn new(old: &Report, new: &Report) -> Self {
        let mut changes = Changes::default();
        let key = |model: &ModelReport| (model.name.clone(), model.variant);
        let before: BTreeMap<_, _> = old.models.iter().map(|model| (key(model), model)).collect();
        for model in &new.models {
            match before.get(&key(model)) {
                Some(old) => changes.model(old, model),
                None => changes.presence(ChangeKind::Added, model),
            }
        }
        let after: BTreeSet<_> = new.models.iter().map(key).collect();
        old.models.iter().filter(|model| !after.contains(&key(model))).for_each(|model| {
            changes.presence(ChangeKind::Removed, model);
        });
        changes.diagnostics(old, new);
        let mut changes = changes.0;
        changes.sort_by_key(|change| change.kind);
        Self { summary: summary(&changes), changes }
    }
}

fn summary(changes: &[Change]) -> String {
    let counts = ChangeKind::ALL.into_iter().filter_map(|kind| {
        let count = changes.iter().filter(|change| change.kind == kind).count();
        (count > 0).then(|| format!("{count} {}", kind.name()))
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { "nothing has changed".to_owned() } else { counts.join(", ") }
}

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn push(
        &mut self,
        kind: ChangeKind,
        model: &str,
        what: String,
        [before, after]: [String; 2],
        percent: Option<f64>,
    ) {
        let change = match percent {
            Some(percent) if percent.abs() < 9.95 => format!("{percent:+.1} %"),
            Some(percent) => format!("{percent:+.0} %"),
            None => String::new(),
        };
        self.0.push(Change { kind, model: model.to_owned(), what, before, after, change, percent });
    }

    fn presence(&mut self, kind: ChangeKind, model: &ModelReport) {
        let size = bytes(model.files.iter().filter(|file| file.kind != "texture").map(|file| file.bytes).sum());
        let texts = if kind == ChangeKind::Added { [String::new(), size] } else { [size, String::new()] };
        self.push(kind, &model.name, "model, without textures".to_owned(), texts, None);
    }

    fn model(&mut self, old: &ModelReport, new: &ModelReport) {
        self.text(new, "encoding".to_owned(), &old.encoding, &new.encoding);
        for (kind, what) in [("animation", "animation"), ("mesh", "mesh")] {
            let size = |model: &ModelReport| model.files.iter().filter(|f| f.kind == kind).map(|f| f.bytes).sum();
            self.size(new, what.to_owned(), size(old), size(new));
        }
        let formats = |model: &ModelReport| -> BTreeSet<String> {
            model.files.iter().filter_map(|file| file.format.clone()).collect()
        };
        for format in formats(old).union(&formats(new)) {
            let of_format = |file: &&super::data::FileReport| file.format.as_ref() == Some(format);
            let size = |model: &ModelReport| model.files.iter().filter(of_format).map(|file| file.bytes).sum();
            self.size(new, format!("textures, {format}"), size(old), size(new));
        }
        self.size(new, "animation and vertices on the GPU".to_owned(), old.gpu_bytes, new.gpu_bytes);
        self.text(new, "vertices".to_owned(), &old.vertices.to_string(), &new.vertices.to_string());
        self.text(new, "triangles".to_owned(), &old.triangles.to_string(), &new.triangles.to_string());
        for (number, (before, after)) in old.levels.iter().zip(&new.levels).enumerate().skip(1) {
            self.error(new, format!("LOD {number}: error"), before.error, after.error);
        }
        self.text(new, "levels of detail".to_owned(), &old.levels.len().to_string(), &new.levels.len().to_string());
        self.clips(old, new);
    }

    fn clips(&mut self, old: &ModelReport, new: &ModelReport) {
        let before: BTreeMap<&str, &ClipReport> = old.clips.iter().map(|clip| (&*clip.name, clip)).collect();
        let frames = |clip: &ClipReport| format!("{} frames", clip.frames);
        for clip in &new.clips {
            let what = |quantity: &str| format!("clip `{}`: {quantity}", clip.name);
            let Some(earlier) = before.get(&*clip.name) else {
                let texts = [String::new(), frames(clip)];
                self.push(ChangeKind::Added, &new.name, format!("clip `{}`", clip.name), texts, None);
                continue;
            };
            self.error(new, what("encoding error"), earlier.encoding.max, clip.encoding.max);
            self.error(new, what("motion error"), earlier.motion.max, clip.motion.max);
            self.text(new, what("frames"), &earlier.frames.to_string(), &clip.frames.to_string());
            self.text(new, what("seconds"), &earlier.seconds.to_string(), &clip.seconds.to_string());
            let ends = |clip: &ClipReport| if clip.ends.looped { "loop" } else { "once" };
            self.text(new, what("ends"), ends(earlier), ends(clip));
        }
        let after: BTreeSet<&str> = new.clips.iter().map(|clip| &*clip.name).collect();
        for clip in old.clips.iter().filter(|clip| !after.contains(&*clip.name)) {
            let texts = [frames(clip), String::new()];
            self.push(ChangeKind::Removed, &new.name, format!("clip `{}`", clip.name), texts, None);
        }
    }

    fn text(&mut self, model: &ModelReport, what: String, before: &str, after: &str) {
        if before != after {
            self.push(ChangeKind::Changed, &model.name, what, [before.to_owned(), after.to_owned()], None);
        }
    }

    fn size(&mut self, model: &ModelReport, what: String, before: u64, after: u64) {
        let kind = match after.cmp(&before) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => ChangeKind::Larger,
            std::cmp::Ordering::Less => ChangeKind::Smaller,
        };
        let percent = relative(before as f64, after as f64);
        self.push(kind, &model.name, what, [bytes(before), bytes(after)], percent);
    }

    fn error(&mut self, model: &ModelReport, what: String, before: Number, after: Number) {
        let (old, new) = (f64::from(before.0), f64::from(after.0));
        let percent = relative(old, new);
        if old == new || percent.is_some_and(|percent| percent.abs() < MIN_ERROR_CHANGE * 100.0) {
            return;
        }
        let kind = if new < old { ChangeKind::Better } else { ChangeKind::Worse };
        self.push(kind, &model.name, what, [length(before.0), length(after.0)], percent);
    }

    fn diagnostics(&mut self, old: &Report, new: &Report) {
        #[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        struct Told {
            code: String,
            message: String,
            #[serde(default)]
            model: Option<String>,
        }
        let told = |report: &Report| -> BTreeSet<Told> {
            report.diagnostics.iter().filter_map(|json| serde_json::from_str(json.get()).ok()).collect()
        };
        let (before, after) = (told(old), told(new));
        for one in after.difference(&before) {
            let model = one.model.clone().unwrap_or_default();
            let texts = [String::new(), one.message.clone()];
            self.push(ChangeKind::NewDiagnostic, &model, one.code.clone(), texts, None);
        }
        for one in before.difference(&after) {
            let model = one.model.clone().unwrap_or_default();
            let texts = [one.message.clone(), String::new()];
            self.push(ChangeKind::Repaired, &model, one.code.clone(), texts, None);
        }
    }
}

/// Returns the relative change in percent.
fn relative(before: f64, after: f64) -> Option<f64> {
    let percent = (after / before - 1.0) * 100.0;
    (before > 0.0 && percent.is_finite()).then_some(percent)
}
