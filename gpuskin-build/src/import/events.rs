//! Events of clips, from the manifest and from the `extras` of glTF animations.
//!
//! ```text
//! "animations": [{ "name": "Run", "extras": { "events": { "footstep": [0.12, 0.47] } } }]
//! "animations": [{ "name": "Run", "extras": { "events": [{ "name": "footstep", "time": 0.12 }] } }]
//! ```
//!
//! If the manifest defines an event of the same clip and name, the event of the file is ignored.

use std::collections::{BTreeMap, BTreeSet};

use gpuskin_rt::internals::MAX_EVENTS;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::document;
use super::file::File;
use super::report::Report;
use super::select::{ClipFile, SelectedClip};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::identifier_case::has_words;
use crate::manifest::ModelEntry;
use crate::model::Clip;
use crate::suggest::quoted;

/// Maximum size of `events` in the extras of an animation, in bytes: more than [`MAX_EVENTS`]
/// events need.
const MAX_TEXT: usize = 1 << 20;
/// Maximum length of an event name in a file, in bytes.
const MAX_NAME: usize = 256;
/// Tolerance at the end of a clip, in seconds: an event that is later by at most this is moved to
/// the end. Key times are `f32`, and people round.
const END_TOLERANCE: f64 = 1e-3;

/// Sets the events of all clips, and returns the sorted names of all events.
pub(super) fn read(
    choices: &[SelectedClip],
    sources: &[ClipFile<'_, '_>],
    entry: &ModelEntry,
    clips: &mut [Clip],
    report: &mut Report<'_>,
) -> Vec<String> {
    let of_files: Vec<Vec<Option<&RawValue>>> = sources.iter().map(|source| extras(source.file)).collect();
    let mut found: Vec<Vec<(f64, String)>> = Vec::with_capacity(clips.len());
    for (clip, choice) in clips.iter().zip(choices) {
        let settings = entry.clip(&clip.name);
        let named = |name: &str| settings.is_some_and(|s| s.events.iter().any(|event| event.name.value == name));
        let mut events = Vec::new();
        if let Some(text) = of_files[choice.source].get(choice.animation).copied().flatten() {
            let within = Label::file(&sources[choice.source].file.shown).clip(&choice.title);
            let mut warn = |message: String| {
                report.warn(Diagnostic::warning(DiagnosticCode::ClipEvent, message).collected().within(&within))
            };
            let listed = of_extras(text).unwrap_or_else(|why| {
                warn(format!("`extras.events` is ignored: it {why}"));
                Vec::new()
            });
            for (name, time) in listed.into_iter().filter(|(name, _)| !named(name)) {
                if !has_words(&name) || name.len() > MAX_NAME {
                    warn(format!("event name {} cannot become a Rust identifier; the event is ignored", quoted(&name)));
                } else if !(0.0..=clip.end + END_TOLERANCE).contains(&time) {
                    warn(format!("event {} at {time} s is outside of the clip; the event is ignored", quoted(&name)));
                } else {
                    events.push((time.min(clip.end), name));
                }
            }
        }
        for event in settings.iter().flat_map(|s| &s.events) {
            for time in &event.times {
                if time.value <= clip.end + END_TOLERANCE {
                    events.push((time.value.min(clip.end), event.name.value.clone()));
                    continue;
                }
                let message = format!("clip {} ends at {} s, before this event", quoted(&clip.name), clip.end as f32);
                report.error_at(
                    &time.span,
                    Diagnostic::error(DiagnosticCode::ClipEvent, message)
                        .help("write event times in seconds from the start of the clip"),
                );
            }
        }
        if events.len() > MAX_EVENTS {
            let message =
                format!("clip {} has {} events; at most {MAX_EVENTS} are supported", quoted(&clip.name), events.len());
            report.error(Diagnostic::error(DiagnosticCode::ClipEvent, message));
            events.clear();
        }
        found.push(events);
    }
    let names: BTreeSet<&String> = found.iter().flatten().map(|(_, name)| name).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    if names.len() > usize::from(u16::MAX) {
        let message = format!("the clips have {} different events; at most {} are supported", names.len(), u16::MAX);
        report.error(Diagnostic::error(DiagnosticCode::ClipEvent, message));
        return Vec::new();
    }
    for (clip, events) in clips.iter_mut().zip(&found) {
        let index = |name| names.binary_search(name).expect("all names are in the list") as u16;
        clip.events = events.iter().map(|(time, name)| (*time, index(name))).collect();
        clip.events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        clip.events.dedup();
    }
    names
}

/// Returns `extras.events` of each animation of a file, as JSON text.
fn extras<'a>(file: &'a File<'_>) -> Vec<Option<&'a RawValue>> {
    #[derive(Deserialize)]
    struct DocumentExtras<'a> {
        #[serde(borrow, default)]
        animations: Vec<AnimationExtras<'a>>,
    }
    #[derive(Deserialize)]
    struct AnimationExtras<'a> {
        #[serde(borrow)]
        extras: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Extras<'a> {
        #[serde(borrow)]
        events: Option<&'a RawValue>,
    }
    let json = document::text(file.json());
    // This avoids parsing the JSON a second time.
    if !file.may_have_events() {
        return Vec::new();
    }
    let animations =
        serde_json::from_slice::<DocumentExtras<'_>>(json).map_or_else(|_| Vec::new(), |root| root.animations);
    // Extras may be any JSON value; only objects can have events.
    let events = |extras: &'a RawValue| {
        let object = Some(extras.get()).filter(|text| text.starts_with('{'))?;
        serde_json::from_str::<Extras<'a>>(object).ok()?.events
    };
    animations.into_iter().map(|animation| animation.extras.and_then(events)).collect()
}

/// Parses `extras.events` into names and times in seconds.
fn of_extras(text: &RawValue) -> Result<Vec<(String, f64)>, String> {
    #[derive(Deserialize)]
    struct Event {
        name: String,
        time: f64,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum EventTimes {
        One(f64),
        Several(Vec<f64>),
    }
    let text = text.get();
    if text.len() > MAX_TEXT {
        return Err(format!("has {} bytes; at most {MAX_TEXT} are supported", text.len()));
    }
    if let Ok(list) = serde_json::from_str::<Vec<Event>>(text) {
        return Ok(list.into_iter().map(|event| (event.name, event.time)).collect());
    }
    let table = serde_json::from_str::<BTreeMap<String, EventTimes>>(text);
    let table = table.map_err(|_| {
        "is neither an object of names and times nor a list of objects with `name` and `time`".to_owned()
    })?;
    let each = |(name, times): (String, EventTimes)| {
        let times = match times {
            EventTimes::One(time) => vec![time],
            EventTimes::Several(times) => times,
        };
        times.into_iter().map(move |time| (name.clone(), time))
    };
    Ok(table.into_iter().flat_map(each).collect())
}
