//! Readers of keys that several tables share, such as tolerances, devices and frame rates.

use gpuskin_rt::internals::vertex::MAX_INFLUENCES;
use std::ops::{Range, RangeInclusive};

use toml::de::DeValue;

use super::keys::{self, MAX_COARSER_LODS, MAX_FPS};
use super::section::{Notes, Section, Value, choice, number, shorten, string};
use super::{
    At, DeviceClass, Feature, ForwardAxis, Fps, InfluenceLimit, Lods, LoopWish, Tolerance, Tolerances, UpAxis,
};
use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// Maximum of a frame rate relative to the source, in percent.
const MAX_SHARE: f64 = 1000.0;

/// Reads a clip's key `loop`.
pub(super) fn loop_wish(section: Section<'_>, notes: &mut Notes) -> Option<At<LoopWish>> {
    let value = section.get("loop")?;
    let wish = match value.get_ref() {
        DeValue::Boolean(true) => LoopWish::Loop,
        DeValue::Boolean(false) => LoopWish::Once,
        DeValue::String(text) if text == "close" => LoopWish::Close,
        DeValue::String(text) => {
            let help = match text.as_ref() {
                "true" | "false" => "remove the quotes",
                _ => "write `loop = true`, `loop = false` or `loop = \"close\"`",
            };
            let message = format!("`loop` cannot be \"{}\"", shorten(text));
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, help);
            return None;
        }
        _ => {
            notes.expected("loop", "true, false or \"close\"", value);
            return None;
        }
    };
    Some(At { value: wish, span: value.span() })
}

/// Reads the width of the animation texture, in texels.
pub(super) fn width(section: Section<'_>, notes: &mut Notes) -> Option<u32> {
    power_of_two(section, "width", 64..=4096, notes)
}

/// Reads a power of two within a range.
pub(super) fn power_of_two(
    section: Section<'_>,
    key: &str,
    range: RangeInclusive<u32>,
    notes: &mut Notes,
) -> Option<u32> {
    let value = section.get(key)?;
    let wanted = format!("a power of two from {} to {}", range.start(), range.end());
    let read = number(value.get_ref()).map(|n| n as u32).filter(|n| range.contains(n) && n.is_power_of_two());
    match (number(value.get_ref()), read) {
        (Some(number), Some(read)) if f64::from(read) == number => return Some(read),
        (Some(_), _) => {
            let message = format!("`{key}` must be {wanted}");
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, section.meaning(key));
        }
        (None, _) => notes.expected(key, &wanted, value),
    }
    None
}

pub(super) fn tolerances(section: Section<'_>, notes: &mut Notes) -> Tolerances {
    let mut length = |key: &str| {
        let text = section.string(key, notes)?;
        let value = match quantity(&text.value) {
            Some((share, "%")) => Some(Tolerance::Relative(share / 100.0)),
            Some((metres, "m")) => Some(Tolerance::Absolute(metres)),
            Some((metres, "cm")) => Some(Tolerance::Absolute(metres / 100.0)),
            Some((metres, "mm")) => Some(Tolerance::Absolute(metres / 1000.0)),
            Some((metres, "um")) => Some(Tolerance::Absolute(metres / 1e6)),
            _ => None,
        };
        let help = "write a length in m, cm, mm or um, such as \"0.1 mm\", or a percentage of the rest pose's diagonal, such as \"0.005 %\"";
        noted(value, text, key, help, notes)
    };
    let (encoding, motion) = (length("tolerance"), length("motion_tolerance"));
    let normal = section.string("normal_tolerance", notes).and_then(|text| {
        let value = quantity(&text.value).and_then(|(degrees, unit)| (unit == "deg").then_some(degrees));
        noted(value, text, "normal_tolerance", "write an angle in degrees, such as \"1 deg\"", notes)
    });
    Tolerances { encoding, motion, normal }
}

impl Tolerances {
    /// Fills missing tolerances from others.
    pub(super) fn or(self, others: &Self) -> Self {
        Self {
            encoding: self.encoding.or(others.encoding.clone()),
            motion: self.motion.or(others.motion.clone()),
            normal: self.normal.or(others.normal.clone()),
        }
    }
}

/// Parses a number greater than 0; returns it with the text after it.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | '-' | '+')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some((number, text[end..].trim()))
}

/// Returns the value with its location, or reports an error if it is `None`.
fn noted<T>(value: Option<T>, text: At<String>, key: &str, help: &str, notes: &mut Notes) -> Option<At<T>> {
    if value.is_none() {
        notes.error(
            DiagnosticCode::ManifestValue,
            text.span.clone(),
            format!("`{key}` cannot be \"{}\"", shorten(&text.value)),
            help,
        );
    }
    value.map(|value| At { value, span: text.span })
}

pub(super) fn devices(section: Section<'_>, notes: &mut Notes) -> Option<Vec<DeviceClass>> {
    let value = section.get("devices")?;
    let mut devices = Vec::new();
    for word in section.strings("devices", notes) {
        let class = choice(&word, "devices", &keys::DEVICES, "", notes);
        devices.extend(class.filter(|class| !devices.contains(class)));
    }
    if devices.is_empty() && !notes.diagnostics.has_errors() {
        notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            "`devices` is empty",
            "write [\"compute\"], [\"webgl2\"], or both",
        );
    }
    Some(devices)
}

pub(super) fn require(section: Section<'_>, notes: &mut Notes) -> Option<Vec<Feature>> {
    section.get("require")?;
    let mut features = Vec::new();
    for word in section.strings("require", notes) {
        let feature = choice(&word, "require", &keys::FEATURES, "", notes);
        features.extend(feature.filter(|feature| !features.contains(feature)));
    }
    Some(features)
}

pub(super) fn influences(section: Section<'_>, notes: &mut Notes) -> Option<InfluenceLimit> {
    let value = section.get("influences")?;
    if value.get_ref().as_str() == Some("auto") {
        return Some(InfluenceLimit::Auto);
    }
    match number(value.get_ref()) {
        Some(number) if (1..=MAX_INFLUENCES).any(|n| n as f64 == number) => Some(InfluenceLimit::Most(number as usize)),
        Some(_) => {
            let message = format!("`influences` must be a whole number from 1 to {MAX_INFLUENCES}, or \"auto\"");
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, section.meaning("influences"));
            None
        }
        None => {
            notes.expected("influences", "\"auto\" or a number from 1 to 8", value);
            None
        }
    }
}

/// Reads a key that is true or false.
pub(super) fn boolean(section: Section<'_>, key: &str, notes: &mut Notes) -> Option<bool> {
    let value = section.get(key)?;
    let wanted = value.get_ref().as_bool();
    if wanted.is_none() {
        notes.expected(key, "true or false", value);
    }
    wanted
}

/// Reads the number of levels of detail below the finest.
pub(super) fn lods(section: Section<'_>, notes: &mut Notes) -> Option<Lods> {
    let value = section.get("lods")?;
    match (value.get_ref(), number(value.get_ref())) {
        (DeValue::Boolean(true), _) => return Some(Lods::Auto),
        (DeValue::Boolean(false), _) => return Some(Lods::Most(0)),
        (_, Some(number)) if (0..=MAX_COARSER_LODS).any(|n| n as f64 == number) => {
            return Some(Lods::Most(number as usize));
        }
        (_, Some(_)) => {
            let message = format!("`lods` must be a whole number of at most {MAX_COARSER_LODS}, or true or false");
            notes.error(DiagnosticCode::ManifestValue, value.span(), message, "false bakes only the finest LOD");
        }
        _ => notes.expected("lods", "true, false or a number of LODs", value),
    }
    None
}

pub(super) fn fps(section: Section<'_>, notes: &mut Notes) -> Option<Fps> {
    let value: Value<'_> = section.get("fps")?;
    if let Some(number) = number(value.get_ref()) {
        return section.check_positive(number, value, "fps", MAX_FPS, notes).map(Fps::Rate);
    }
    let word = string(value, "fps", "\"source\", \"auto\" or a number", notes)?;
    if word.value.parse::<f64>().is_ok() {
        notes.error(
            DiagnosticCode::ManifestType,
            word.span,
            "`fps` must be \"source\", \"auto\" or a number, not a string",
            "remove the quotes",
        );
        return None;
    }
    match quantity(&word.value) {
        Some((share, "%")) if share <= MAX_SHARE => return Some(Fps::Share(share / 100.0)),
        Some((_, "%")) => {
            notes.error(
                DiagnosticCode::ManifestValue,
                word.span,
                format!("`fps` must be at most {MAX_SHARE} % of the source rate"),
                "",
            );
            return None;
        }
        _ => {}
    }
    let or = ", a percentage of the source rate such as \"50 %\", or a number";
    choice(&word, "fps", &keys::FPS_WORDS, or, notes)
}

/// Axes of `[bake]`, for models that name none.
#[derive(Clone, Default)]
pub(super) struct DefaultAxes {
    up: UpAxis,
    forward: Option<At<ForwardAxis>>,
}

/// Reads the axes of `[bake]`.
pub(super) fn default_axes(section: Section<'_>, notes: &mut Notes) -> DefaultAxes {
    DefaultAxes {
        up: section.choice("up", &keys::UP_AXES, notes).map(|at| at.value).unwrap_or_default(),
        forward: section.choice("forward", &keys::FORWARD_AXES, notes),
    }
}

/// Reads the axes of a model. Reports a forward axis that is also the up axis.
pub(super) fn axes(section: Section<'_>, defaults: &DefaultAxes, notes: &mut Notes) -> (UpAxis, ForwardAxis) {
    let own = section.choice("up", &keys::UP_AXES, notes);
    let up = own.as_ref().map_or(defaults.up, |at| at.value);
    let Some(forward) = section.choice("forward", &keys::FORWARD_AXES, notes).or(defaults.forward.clone()) else {
        return (up, up.default_forward());
    };
    if forward.value.vector().dot(up.vector()) != 0.0 {
        report_parallel(up, forward.span, own.map(|at| at.span), notes);
        return (up, up.default_forward());
    }
    (up, forward.value)
}

fn report_parallel(up: UpAxis, forward: Range<usize>, own_up: Option<Range<usize>>, notes: &mut Notes) {
    let (axis, others) = match up {
        UpAxis::Y => ("y", "\"z\", \"-z\", \"x\" or \"-x\""),
        UpAxis::Z => ("z", "\"y\", \"-y\", \"x\" or \"-x\""),
    };
    let message = format!("`forward` is along {axis}, which is the up axis");
    let help = format!("set `forward` to {others}, or change `up`");
    let diagnostic = Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help);
    let diagnostic = diagnostic.at(&notes.source, forward);
    notes.diagnostics.push(match own_up {
        Some(span) => diagnostic.also(span, "the up axis"),
        None => diagnostic,
    });
}
