//! Reader of `rest_frame`: the pose of the undeformed mesh in vertex mode.

use gpuskin_rt::internals::Encoding;
use toml::de::DeValue;

use super::section::{Notes, Section, Value, number};
use super::{At, Mode, RestFrame, RestTime, keys};
use crate::diagnostic::{Diagnostic, DiagnosticCode};

const EXAMPLE: &str =
    "write rest_frame = { clip = \"idle\", frame = 0 }, or { clip = \"idle\", time = 0.5 } in seconds";

pub(super) fn read(section: Section<'_>, notes: &mut Notes) -> Option<RestFrame> {
    let value = section.get("rest_frame")?;
    let DeValue::Table(table) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`rest_frame` must be a table", EXAMPLE);
        return None;
    };
    let section = Section::new(table, &keys::REST_FRAME, notes);
    let clip = section.string("clip", notes);
    if section.get("clip").is_none() {
        notes.error(DiagnosticCode::ManifestMissing, value.span(), "`rest_frame` has no `clip`", EXAMPLE);
    }
    let frame = section.get("frame").map(|value| frame(value, notes));
    let time = section.get("time").map(|value| time(value, notes));
    let time = match (frame, time) {
        (Some(_), Some(_)) => {
            let message = "`rest_frame` has both `frame` and `time`";
            notes.error(DiagnosticCode::ManifestConflict, value.span(), message, "remove one of the two");
            return None;
        }
        (Some(time), None) | (None, Some(time)) => time?,
        (None, None) => At { value: RestTime::Frame(0), span: value.span() },
    };
    Some(RestFrame { clip: clip?, time })
}

fn frame(value: Value<'_>, notes: &mut Notes) -> Option<At<RestTime>> {
    match number(value.get_ref()) {
        Some(n) if n.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&n) => {
            return Some(At { value: RestTime::Frame(n as u32), span: value.span() });
        }
        Some(_) => {
            let help = "`frame` counts from 0; use `time` for seconds";
            notes.error(
                DiagnosticCode::ManifestValue,
                value.span(),
                "`frame` must be a whole number of at least 0",
                help,
            );
        }
        None => notes.expected("frame", "a whole number of at least 0", value),
    }
    None
}

fn time(value: Value<'_>, notes: &mut Notes) -> Option<At<RestTime>> {
    match number(value.get_ref()) {
        Some(n) if n.is_finite() && n >= 0.0 => {
            return Some(At { value: RestTime::Seconds(n), span: value.span() });
        }
        Some(_) => notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            "`time` must be a finite number of seconds, at least 0",
            "",
        ),
        None => notes.expected("time", "a number of seconds", value),
    }
    None
}

/// Reports a rest frame of a model in bone mode.
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
    let message =
        "`rest_frame` needs vertex mode, but the model is baked in bone mode: its mesh keeps the pose of the file";
    let help = "set `mode = \"vertex\"`, or remove `rest_frame`";
    let diagnostic =
        Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help).at(&notes.source, value.span());
    notes.diagnostics.push(match of_bones {
        Some((span, what)) => diagnostic.also(span, what),
        None => diagnostic,
    });
}
