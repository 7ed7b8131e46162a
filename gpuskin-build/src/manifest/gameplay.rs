//! Settings for gameplay: events, root motion, layers, parts, sockets.

use gpuskin_rt::internals::{MAX_EVENTS, MAX_MASKS, MAX_PARTS};
use toml::de::{DeTable, DeValue};

use super::section::{Notes, Section, Value, number, shorten, string, strings};
use super::{At, ClipEntry, DeviceClass, EventEntry, MaskEntry, Mode, PartEntry, Rename, keys};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::suggest::closest;
use gpuskin_rt::internals::Encoding;

/// Reads a table whose keys are names, in the order of the file.
pub(super) fn named<'d>(
    value: Value<'d>,
    key: &str,
    expected: &str,
    notes: &mut Notes,
) -> Vec<(At<String>, Value<'d>)> {
    let DeValue::Table(table) = value.get_ref() else {
        notes.expected(key, expected, value);
        return Vec::new();
    };
    // The parser sorts tables by key.
    let mut entries: Vec<_> =
        table.iter().map(|(key, value)| (At { value: key.get_ref().to_string(), span: key.span() }, value)).collect();
    entries.sort_by_key(|(name, _)| name.span.start);
    entries
}

pub(super) fn events(section: Section<'_>, notes: &mut Notes) -> Vec<EventEntry> {
    let Some(value) = section.get("events") else { return Vec::new() };
    let expected = "a table of times in seconds, such as { footstep = [0.12, 0.47] }";
    let mut left = MAX_EVENTS;
    let mut events = Vec::new();
    for (name, value) in named(value, "events", expected, notes) {
        let list: Vec<Value<'_>> = match value.get_ref() {
            DeValue::Array(array) => array.iter().collect(),
            _ => vec![value],
        };
        let Some(rest) = left.checked_sub(list.len()) else {
            notes.error(
                DiagnosticCode::ManifestValue,
                value.span(),
                format!("a clip can have at most {MAX_EVENTS} events"),
                "remove some",
            );
            return events;
        };
        left = rest;
        let shown = shorten(&name.value);
        let mut times = Vec::with_capacity(list.len());
        for value in list {
            match number(value.get_ref()) {
                Some(time) if time.is_finite() && time >= 0.0 => times.push(At { value: time, span: value.span() }),
                Some(_) => {
                    let help = "write event times in seconds from the start of the clip";
                    notes.error(
                        DiagnosticCode::ManifestValue,
                        value.span(),
                        format!("event `{shown}` has an invalid time; expected a finite number of at least 0"),
                        help,
                    );
                }
                None => notes.expected(&shown, "a time in seconds, or an array of times", value),
            }
        }
        events.push(EventEntry { name, times });
    }
    events
}

/// Reads `additive`: the name of the reference clip. `true` means the clip's own name.
pub(super) fn additive(section: Section<'_>, own: &At<String>, notes: &mut Notes) -> Option<At<String>> {
    let value = section.get("additive")?;
    match value.get_ref() {
        DeValue::Boolean(wanted) => wanted.then(|| At { value: own.value.clone(), span: value.span() }),
        DeValue::String(_) => string(value, "additive", "true or the name of a clip", notes),
        _ => {
            notes.expected("additive", "true or the name of a clip", value);
            None
        }
    }
}

/// Reports additive clips whose reference is not a clip of the model.
pub(super) fn check_references(clips: &[ClipEntry], notes: &mut Notes) {
    let names = || clips.iter().map(|clip| clip.name.value.as_str());
    for reference in clips.iter().filter_map(|clip| clip.additive.as_ref()) {
        if names().any(|name| name == reference.value) {
            continue;
        }
        let help = match closest(&reference.value, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => {
                "use the name of a clip in [model.clips], or `additive = true` for the first frame of the clip itself"
                    .to_owned()
            }
        };
        let message = format!("clip `{}` not found in [model.clips]", shorten(&reference.value));
        notes.error(DiagnosticCode::ClipNotFound, reference.span.clone(), message, help);
    }
}

pub(super) fn masks(section: Section<'_>, notes: &mut Notes) -> Vec<MaskEntry> {
    let Some(value) = section.get("masks") else { return Vec::new() };
    let help = "each mask is a table:\n[model.masks]\nupper_body = { root = \"Spine1\" }";
    let DeValue::Table(_) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`masks` must be a table of tables", help);
        return Vec::new();
    };
    let mut masks = Vec::new();
    for (name, value) in named(value, "masks", "a table of tables", notes) {
        let DeValue::Table(table) = value.get_ref() else {
            notes.error(
                DiagnosticCode::ManifestType,
                value.span(),
                format!("mask `{}` must be a table", shorten(&name.value)),
                keys::of_model(&name.value, "[model.masks]").unwrap_or_else(|| help.to_owned()),
            );
            continue;
        };
        masks.extend(mask(name, table, notes));
    }
    if masks.len() > MAX_MASKS {
        notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            format!("the model has {} masks; it can have at most {MAX_MASKS}", masks.len()),
            "",
        );
    }
    masks
}

fn mask(name: At<String>, table: &DeTable<'_>, notes: &mut Notes) -> Option<MaskEntry> {
    let diagnostics_before = notes.diagnostics.len();
    let section = Section::new(table, &keys::MASK, notes);
    let mut roots = section.strings("roots", notes);
    roots.extend(section.string("root", notes));
    let exclude = section.strings("exclude", notes);
    if roots.is_empty() && notes.diagnostics.len() == diagnostics_before {
        let message = format!("mask `{}` has no root", shorten(&name.value));
        notes.error(
            DiagnosticCode::ManifestValue,
            name.span.clone(),
            message,
            "name the topmost node of the mask: { root = \"Spine1\" }",
        );
        return None;
    }
    Some(MaskEntry { name, roots, exclude })
}

pub(super) fn parts(section: Section<'_>, notes: &mut Notes) -> Vec<PartEntry> {
    let Some(value) = section.get("parts") else { return Vec::new() };
    let expected = "a table of arrays of node names, such as { sword = [\"Sword\"] }";
    let mut parts = Vec::new();
    for (name, value) in named(value, "parts", expected, notes) {
        let diagnostics_before = notes.diagnostics.len();
        let nodes = strings(value, &shorten(&name.value), notes);
        if nodes.is_empty() && notes.diagnostics.len() == diagnostics_before {
            let message = format!("part `{}` has no nodes", shorten(&name.value));
            notes.error(
                DiagnosticCode::ManifestValue,
                value.span(),
                message,
                "name the nodes whose meshes belong to the part",
            );
        }
        parts.push(PartEntry { name, nodes });
    }
    if parts.len() > MAX_PARTS {
        let help = "an instance has one bit per part: combine parts that are always shown together";
        notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            format!("the model has {} parts; it can have at most {MAX_PARTS}", parts.len()),
            help,
        );
    }
    parts
}

pub(super) fn exclude_clips(section: Section<'_>, notes: &mut Notes) -> Vec<At<String>> {
    let patterns = section.strings("exclude_clips", notes);
    for pattern in patterns.iter().filter(|pattern| pattern.value.matches('*').count() > 1) {
        let message = format!("`exclude_clips`: {:?} has more than one `*`", shorten(&pattern.value));
        notes.error(DiagnosticCode::ManifestValue, pattern.span.clone(), message, "write a pattern for each");
    }
    patterns
}

pub(super) fn rename(section: Section<'_>, notes: &mut Notes) -> Vec<Rename> {
    let Some(value) = section.get("rename") else { return Vec::new() };
    let expected = "a table of new names, such as { \"mixamorig:*\" = \"*\" }";
    let mut renames = Vec::new();
    for (from, value) in named(value, "rename", expected, notes) {
        let DeValue::String(to) = value.get_ref() else {
            notes.expected("rename", expected, value);
            continue;
        };
        let stars = |text: &str| text.matches('*').count();
        if stars(&from.value) > 1 || stars(to) > stars(&from.value) {
            let message = format!("`rename`: {:?} = {:?} has too many `*`", shorten(&from.value), shorten(to));
            let help = "write at most one `*` in the old name, and at most as many in the new one";
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, help);
            continue;
        }
        renames.push(Rename { from: from.value, to: to.to_string() });
    }
    renames
}

/// Reports settings for bones that the mode, encoding or devices of the model do not support.
pub(super) fn check_bones(
    section: Section<'_>,
    clips: &[ClipEntry],
    mode: Option<&At<Mode>>,
    encoding: Option<&At<Encoding>>,
    devices: &[DeviceClass],
    notes: &mut Notes,
) {
    let span = |key: &str| section.get(key).filter(|v| v.get_ref().as_table().is_none_or(|t| !t.is_empty()));
    let additive = clips.iter().find_map(|clip| clip.additive.as_ref());
    let locals = span("masks").map(|v| ("`masks`", v.span())).or(additive.map(|a| ("`additive`", a.span.clone())));
    let required = section.get("require").filter(|v| v.get_ref().as_array().is_some_and(|list| !list.is_empty()));
    let locals = locals.or(required.map(|v| ("`require`", v.span())));
    let any = locals.clone().or(span("sockets").map(|v| ("`sockets`", v.span())));
    let vertices = match (encoding, mode) {
        (Some(at), _) => at.value.is_vertex().then(|| at.span.clone()),
        (None, mode) => mode.filter(|at| at.value == Mode::Vertex).map(|at| at.span.clone()),
    };
    if let (Some((what, at)), Some(of_vertices)) = (any, vertices) {
        let message = format!("{what} needs bones, but the model is baked in vertex mode");
        let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message)
            .help(format!("set `mode = \"bone\"`, or remove {what}"));
        notes.diagnostics.push(diagnostic.at(&notes.source, at).also(of_vertices, "vertex mode"));
        return;
    }
    let Some((what, at)) = locals else { return };
    let named = encoding.filter(|named| named.value != Encoding::LocalPacked);
    if let Some(named) = named {
        let message = format!("{what} needs local bone transforms, which {} does not store", named.value.name());
        let help = format!("remove `encoding`, set it to \"local-packed\", or remove {what}");
        let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help);
        notes.diagnostics.push(diagnostic.at(&notes.source, at).also(named.span.clone(), "the encoding"));
    } else if !devices.contains(&DeviceClass::Compute) {
        let message = format!("{what} needs compute shaders, but no device class in `devices` has them");
        notes.error(
            DiagnosticCode::ManifestConflict,
            at,
            message,
            format!("add \"compute\" to `devices`, or remove {what}"),
        );
    }
}
