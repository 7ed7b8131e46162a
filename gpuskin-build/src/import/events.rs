//! Events of clips: from the manifest, and from `extras` of glTF animations.
//!
//! ```text
//! "animations": [{ "name": "Run", "extras": { "events": { "footstep": [0.12, 0.47] } } }]
//! "animations": [{ "name": "Run", "extras": { "events": [{ "name": "footstep", "time": 0.12 }] } }]
//! ```
//!
//! What the manifest says of a clip and name stands instead of what the file says.

use std::collections::{BTreeMap, BTreeSet};

use gpuskin_rt::internals::MAX_EVENTS;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::document;
use super::file::File;
use super::report::Report;
use super::select::{Choice, Source};
use crate::finding::{Code, Finding, Label};
use crate::manifest::ModelEntry;
use crate::model::Clip;
use crate::names::has_words;
use crate::suggest::quoted;

/// Longest `events` of an animation, bytes: more than [`MAX_EVENTS`] take.
const MAX_TEXT: usize = 1 << 20;
/// Longest name that a file can give, bytes.
const MAX_NAME: usize = 256;
/// How far beyond a clip's end a time may be that means its end, seconds: keys are `f32`, and people round.
const END_TOLERANCE: f64 = 1e-3;

/// Gives clips their events. The names of all, sorted.
pub(super) fn read(
    choices: &[Choice],
    sources: &[Source<'_, '_>],
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
            let mut warn = |message: String| report.warn(Finding::warning(Code::ClipEvent, message).within(&within));
            let listed = of_extras(text).unwrap_or_else(|why| {
                warn(format!("`extras.events` {why}: left out"));
                Vec::new()
            });
            for (name, time) in listed.into_iter().filter(|(name, _)| !named(name)) {
                if !has_words(&name) || name.len() > MAX_NAME {
                    warn(format!("the name of the event {} makes no Rust identifier: left out", quoted(&name)));
                } else if !(0.0..=clip.end + END_TOLERANCE).contains(&time) {
                    warn(format!("the event {} at {time} s is outside of it: left out", quoted(&name)));
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
                let message =
                    format!("clip {} ends at {} s: it never reaches this event", quoted(&clip.name), clip.end as f32);
                report.error_at(
                    &time.span,
                    Finding::error(Code::ClipEvent, message).help("times count seconds from the clip's start"),
                );
            }
        }
        if events.len() > MAX_EVENTS {
            let message =
                format!("clip {} has {} events; at most {MAX_EVENTS} are supported", quoted(&clip.name), events.len());
            report.error(Finding::error(Code::ClipEvent, message));
            events.clear();
        }
        found.push(events);
    }
    let names: BTreeSet<&String> = found.iter().flatten().map(|(_, name)| name).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    if names.len() > usize::from(u16::MAX) {
        let message = format!("its clips name {} events; at most {} are supported", names.len(), u16::MAX);
        report.error(Finding::error(Code::ClipEvent, message));
        return Vec::new();
    }
    for (clip, events) in clips.iter_mut().zip(&found) {
        let index = |name| names.binary_search(name).expect("all names are there") as u16;
        clip.events = events.iter().map(|(time, name)| (*time, index(name))).collect();
        clip.events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        clip.events.dedup();
    }
    names
}

/// `extras.events` of each animation of a file, as text.
fn extras<'a>(file: &'a File<'_>) -> Vec<Option<&'a RawValue>> {
    #[derive(Deserialize)]
    struct Root<'a> {
        #[serde(borrow, default)]
        animations: Vec<Animation<'a>>,
    }
    #[derive(Deserialize)]
    struct Animation<'a> {
        #[serde(borrow)]
        extras: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Extras<'a> {
        #[serde(borrow)]
        events: Option<&'a RawValue>,
    }
    let json = document::text(file.json());
    // Most files have none: not worth reading them twice.
    if !json.windows(8).any(|w| w == b"\"events\"") {
        return Vec::new();
    }
    let animations = serde_json::from_slice::<Root<'_>>(json).map_or_else(|_| Vec::new(), |root| root.animations);
    // Extras may be anything: what is no object has no events.
    let events = |extras: &'a RawValue| {
        let object = Some(extras.get()).filter(|text| text.starts_with('{'))?;
        serde_json::from_str::<Extras<'a>>(object).ok()?.events
    };
    animations.into_iter().map(|animation| animation.extras.and_then(events)).collect()
}

/// Names and times, in seconds.
fn of_extras(text: &RawValue) -> Result<Vec<(String, f64)>, String> {
    #[derive(Deserialize)]
    struct Event {
        name: String,
        time: f64,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Times {
        One(f64),
        Several(Vec<f64>),
    }
    let text = text.get();
    if text.len() > MAX_TEXT {
        return Err(format!("has {} bytes", text.len()));
    }
    if let Ok(list) = serde_json::from_str::<Vec<Event>>(text) {
        return Ok(list.into_iter().map(|event| (event.name, event.time)).collect());
    }
    let table = serde_json::from_str::<BTreeMap<String, Times>>(text);
    let table = table.map_err(|_| "is neither names with times nor a list of names and times".to_owned())?;
    let each = |(name, times): (String, Times)| {
        let times = match times {
            Times::One(time) => vec![time],
            Times::Several(times) => times,
        };
        times.into_iter().map(move |time| (name.clone(), time))
    };
    Ok(table.into_iter().flat_map(each).collect())
}
