//! `rest_frame`: the pose that a mesh stands still in where its vertices are baked.

use gpuskin_rt::Encoding;
use serde::Serialize;
use toml::de::DeValue;

use super::section::{Notes, Section, Value, number};
use super::{At, Mode, keys};
use crate::diagnostic::{DiagnosticCode, Diagnostic};

/// A pose of a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestFrame {
    /// The clip's name in Rust.
    pub clip: At<String>,
    /// Which of its poses.
    pub moment: At<RestMoment>,
}

/// When in a clip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum RestMoment {
    /// At one of the frames that are baked, from 0 up.
    Frame(u32),
    /// Seconds from its start.
    Seconds(f64),
}

const EXAMPLE: &str =
    "write rest_frame = { clip = \"idle\", frame = 0 }, or { clip = \"idle\", time = 0.5 } in seconds";

pub(super) fn read(section: Section<'_>, notes: &mut Notes) -> Option<RestFrame> {
    let value = section.get("rest_frame")?;
    let DeValue::Table(table) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`rest_frame` is a table", EXAMPLE);
        return None;
    };
    let section = Section::new(table, &keys::REST_FRAME, notes);
    let clip = section.string("clip", notes);
    if section.get("clip").is_none() {
        notes.error(DiagnosticCode::ManifestMissing, value.span(), "`rest_frame` has no `clip`", EXAMPLE);
    }
    let frame = section.get("frame").map(|value| frame(value, notes));
    let time = section.get("time").map(|value| time(value, notes));
    let moment = match (frame, time) {
        (Some(_), Some(_)) => {
            let message = "`rest_frame` has both `frame` and `time`";
            notes.error(DiagnosticCode::ManifestConflict, value.span(), message, "leave one of the two out");
            return None;
        }
        (Some(moment), None) | (None, Some(moment)) => moment?,
        (None, None) => At { value: RestMoment::Frame(0), span: value.span() },
    };
    Some(RestFrame { clip: clip?, moment })
}

fn frame(value: Value<'_>, notes: &mut Notes) -> Option<At<RestMoment>> {
    match number(value.get_ref()) {
        Some(n) if n.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&n) => {
            return Some(At { value: RestMoment::Frame(n as u32), span: value.span() });
        }
        Some(_) => {
            let help = "frames are counted from 0; `time` takes seconds";
            notes.error(DiagnosticCode::ManifestValue, value.span(), "`frame` is a whole number from 0 up", help);
        }
        None => notes.expected("frame", "a whole number from 0 up", value),
    }
    None
}

fn time(value: Value<'_>, notes: &mut Notes) -> Option<At<RestMoment>> {
    match number(value.get_ref()) {
        Some(n) if n.is_finite() && n >= 0.0 => {
            return Some(At { value: RestMoment::Seconds(n), span: value.span() });
        }
        Some(_) => notes.error(DiagnosticCode::ManifestValue, value.span(), "`time` is in seconds, from 0 up", ""),
        None => notes.expected("time", "a number of seconds", value),
    }
    None
}

/// Notes a rest frame of a model whose bones are baked.
pub(super) fn check_mode(
    section: Section<'_>,
    mode: Option<&At<Mode>>,
    encoding: Option<&At<Encoding>>,
    notes: &mut Notes,
) {
    let Some(value) = section.get("rest_frame") else { return };
    let of_bones = match (encoding, mode) {
        (Some(at), _) if at.value.is_vertex() => return,
        (Some(at), _) => Some((at.span.clone(), "the encoding")),
        (None, Some(at)) if at.value != Mode::Bone => return,
        (None, at) => at.map(|at| (at.span.clone(), "the mode")),
    };
    let message = "`rest_frame` is of vertex mode, and the model's bones are baked: its mesh stands as it was modelled";
    let help = "write `mode = \"vertex\"`, or remove `rest_frame`";
    let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help).at(&notes.source, value.span());
    notes.diagnostics.push(match of_bones {
        Some((span, what)) => diagnostic.also(span, what),
        None => diagnostic,
    });
}
