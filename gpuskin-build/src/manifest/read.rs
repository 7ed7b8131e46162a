//! Parser of a [`Manifest`]. All errors are collected; none stops the parser.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpuskin_rt::internals::{Encoding, Normals};
use miette::NamedSource;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::section::{Notes, Section, shorten};
use super::values::{
    DefaultAxes, axes, boolean, default_axes, devices, fps, influences, lods, loop_wish, require, tolerances, width,
};
use super::{
    At, ClipEntry, DeviceClass, Feature, Fps, InfluenceLimit, Lods, Manifest, Mode, ModelEntry, Storage, Textures,
    Tolerances, animations, environments, files, gameplay, keys, limits, rest_frame, textures, variants,
};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::name_collisions::{self, ModelNames, check_identifiers};

/// Maximum number of syntax errors shown. Errors after the first ones are often caused by them.
const MAX_SYNTAX_ERRORS: usize = 5;

/// Default settings for models, from `[bake]`.
#[derive(Default)]
struct Defaults {
    fps: Fps,
    encoding: EncodingWish,
    tolerances: Tolerances,
    devices: Option<Vec<DeviceClass>>,
    require: Vec<Feature>,
    influences: Option<InfluenceLimit>,
    normals: Normals,
    lods: Lods,
    textures: Textures,
    scale: Option<f64>,
    axes: DefaultAxes,
}

/// Value of the key `encoding`: `None` if missing, `Some(None)` for "auto".
type EncodingWish = Option<Option<At<Encoding>>>;

/// Parses a manifest. Returns the manifest with all models that have no errors, or `None` if the
/// text is not TOML, and all errors.
pub(super) fn manifest(path: &Path, text: String) -> (Option<Manifest>, Diagnostics) {
    let source = named_source(path, &text);
    let document = match parse(&text, &source) {
        Ok(document) => document,
        Err(diagnostics) => return (None, diagnostics),
    };
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let mut notes = Notes { source: Arc::clone(&source), diagnostics: Diagnostics::default() };

    let root = Section::new(document.get_ref(), &keys::ROOT, &mut notes);
    let (defaults, storage, roots) = bake(root, &folder, &mut notes);
    let limits = limits::read(root, &mut notes);
    let entries = model_tables(root, &mut notes);
    let read: Vec<_> =
        entries.iter().map(|(header, table)| model(table, header.clone(), &folder, &defaults, &mut notes)).collect();
    let names: Vec<_> = read.iter().filter_map(ReadModel::names).collect();
    notes.diagnostics.extend(check_identifiers(&source, &names));

    let named: Vec<_> = read.iter().filter(|model| model.has_name).map(|model| &model.entry.name).collect();
    let environments = environments::read(root, &folder, &named, &mut notes);
    let models = read.into_iter().filter(|model| model.sound).map(|model| model.entry).collect();
    notes.diagnostics.sort();
    (
        Some(Manifest { path: path.to_owned(), folder, source, storage, limits, roots, models, environments }),
        notes.diagnostics,
    )
}

/// Creates the named source text of diagnostics. Control characters become `?`, one per byte,
/// because they would act on the terminal that shows a diagnostic.
pub(crate) fn named_source(path: &Path, text: &str) -> Arc<NamedSource<String>> {
    let mut harmless = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\n' | '\t' => harmless.push(c),
            '\r' if letters.peek() == Some(&'\n') => harmless.push(c),
            _ if c.is_control() => harmless.extend(std::iter::repeat_n('?', c.len_utf8())),
            _ => harmless.push(c),
        }
    }
    Arc::new(NamedSource::new(path.display().to_string(), harmless))
}

fn parse<'d>(text: &'d str, source: &Arc<NamedSource<String>>) -> Result<Spanned<DeTable<'d>>, Diagnostics> {
    let (document, mut errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(document);
    }
    let line = |at: usize| text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count();
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    let mut diagnostics = Diagnostics::default();
    let mut last_line = None;
    for error in errors {
        let span = error.span().unwrap_or_default();
        // Further errors in the same line are usually caused by the first.
        let this_line = Some(line(span.start.min(text.len())));
        if last_line == this_line {
            continue;
        }
        last_line = this_line;
        let diagnostic = Diagnostic::error(DiagnosticCode::ManifestSyntax, error.message());
        let diagnostic = if error.message().contains("escape") {
            diagnostic.help("write paths with `/`, or in single quotes")
        } else {
            diagnostic
        };
        diagnostics.push(diagnostic.at(source, span));
        if diagnostics.len() == MAX_SYNTAX_ERRORS {
            break;
        }
    }
    Err(diagnostics)
}

fn bake(root: Section<'_>, folder: &Path, notes: &mut Notes) -> (Defaults, Storage, Vec<PathBuf>) {
    let mut defaults = Defaults::default();
    let Some(value) = root.get("bake") else { return (defaults, Storage::default(), Vec::new()) };
    let DeValue::Table(table) = value.get_ref() else {
        notes.error(
            DiagnosticCode::ManifestType,
            value.span(),
            "`bake` must be a table",
            "write the table [bake] once",
        );
        return (defaults, Storage::default(), Vec::new());
    };
    let section = Section::new(table, &keys::BAKE, notes);
    defaults.fps = fps(section, notes).unwrap_or_default();
    defaults.encoding = encoding(section, notes);
    defaults.tolerances = tolerances(section, notes);
    defaults.devices = devices(section, notes);
    defaults.require = require(section, notes).unwrap_or_default();
    defaults.influences = influences(section, notes);
    defaults.normals = section.choice("normals", &keys::NORMALS, notes).map(|at| at.value).unwrap_or_default();
    defaults.lods = lods(section, notes).unwrap_or_default();
    defaults.scale = section.positive("scale", f64::MAX, notes);
    defaults.axes = default_axes(section, notes);
    defaults.textures = textures::read(section, notes).unwrap_or_default();
    let storage = section.choice("storage", &keys::STORAGES, notes).map(|at| at.value).unwrap_or_default();
    let roots = limits::roots(section, folder, notes);
    (defaults, storage, roots)
}

/// Returns the `[[model]]` tables and the locations of their headers.
fn model_tables<'d>(root: Section<'d>, notes: &mut Notes) -> Vec<(Range<usize>, &'d DeTable<'d>)> {
    let help = "each model is a separate table:\n[[model]]\nname = \"soldier\"\npath = \"art/soldier.glb\"";
    let Some(value) = root.get("model") else {
        // A misspelt header was already reported.
        if !notes.diagnostics.has_errors() {
            notes.error(DiagnosticCode::ManifestEmpty, 0..0, "the manifest has no models", help);
        }
        return Vec::new();
    };
    let DeValue::Array(array) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`model` must be an array of tables", help);
        return Vec::new();
    };
    if array.is_empty() {
        notes.error(DiagnosticCode::ManifestEmpty, value.span(), "the manifest has no models", help);
    }
    let mut tables = Vec::new();
    for entry in array.iter() {
        match entry.get_ref() {
            DeValue::Table(table) => tables.push((entry.span(), table)),
            _ => notes.error(DiagnosticCode::ManifestType, entry.span(), "a model must be a table", help),
        }
    }
    tables
}

/// A [`ModelEntry`] that may have errors.
struct ReadModel {
    entry: ModelEntry,
    /// Whether the model has a valid name.
    has_name: bool,
    /// Whether the model has no errors.
    sound: bool,
}

impl ReadModel {
    fn names(&self) -> Option<ModelNames<'_>> {
        if !self.has_name {
            return None;
        }
        let ModelEntry { name, clips, masks, parts, variants, .. } = &self.entry;
        let mut names = ModelNames { name: &name.value, span: name.span.clone(), members: Vec::new() };
        let clips = clips.iter().flatten();
        names.add(&name_collisions::CLIPS, clips.clone().map(|clip| &clip.name));
        names.add(&name_collisions::EVENTS, clips.flat_map(|clip| &clip.events).map(|event| &event.name));
        names.add(&name_collisions::MASKS, masks.iter().map(|mask| &mask.name));
        names.add(&name_collisions::PARTS, parts.iter().map(|part| &part.name));
        names.add_variants(variants.iter().map(|variant| &variant.name));
        Some(names)
    }
}

fn model(
    table: &DeTable<'_>,
    header: Range<usize>,
    folder: &Path,
    defaults: &Defaults,
    notes: &mut Notes,
) -> ReadModel {
    let diagnostics_before = notes.diagnostics.len();
    let section = Section::new(table, &keys::MODEL, notes);
    let name = section.string("name", notes).filter(|name| files::check_name("a model", name, notes));
    let path = section.string("path", notes);
    let animations = animations::read(section, notes);
    for path in path.iter().chain(animations.iter().map(|animation| &animation.path)) {
        files::check(path, folder, &files::GLTF, notes);
    }
    for key in ["name", "path"] {
        if section.get(key).is_none() && !section.is_misspelt(key) {
            let example = if key == "name" { "soldier" } else { "art/soldier.glb" };
            let help = format!("add {key} = \"{example}\"");
            notes.error(DiagnosticCode::ManifestMissing, header.clone(), format!("the model has no `{key}`"), help);
        }
    }
    let mode = section.choice("mode", &keys::MODES, notes);
    let encoding = in_mode(mode.as_ref(), encoding(section, notes), &defaults.encoding, notes);
    let devices = devices(section, notes).or(defaults.devices.clone()).unwrap_or(vec![DeviceClass::Compute]);
    let takes_default = encoding.is_none() && mode.as_ref().is_none_or(|mode| mode.value == Mode::Bone);
    let default_require = || if takes_default { defaults.require.clone() } else { Vec::new() };
    let require = require(section, notes).unwrap_or_else(default_require);
    let (up, forward) = axes(section, &defaults.axes, notes);
    let clips = clips(section, notes);
    gameplay::check_bones(section, clips.as_deref().unwrap_or(&[]), mode.as_ref(), encoding.as_ref(), &devices, notes);
    rest_frame::check_mode(section, mode.as_ref(), encoding.as_ref(), notes);
    let missing = || At { value: String::new(), span: header.clone() };
    let has_name = name.is_some();
    let entry = ModelEntry {
        name: name.unwrap_or_else(missing),
        path: path.unwrap_or_else(missing),
        animations,
        humanoid: animations::bones(section, "humanoid", notes),
        rename: gameplay::rename(section, notes),
        include: section.strings("include", notes),
        exclude: section.strings("exclude", notes),
        exclude_clips: gameplay::exclude_clips(section, notes),
        mode: mode.map_or(Mode::default(), |at| at.value),
        width: width(section, notes),
        rest_frame: rest_frame::read(section, notes),
        encoding,
        tolerances: tolerances(section, notes).or(&defaults.tolerances),
        devices,
        require,
        influences: influences(section, notes).or(defaults.influences).unwrap_or_default(),
        morphs: boolean(section, "morphs", notes).unwrap_or(true),
        normals: section.choice("normals", &keys::NORMALS, notes).map_or(defaults.normals, |at| at.value),
        lods: lods(section, notes).unwrap_or(defaults.lods),
        textures: textures::read(section, notes).unwrap_or_else(|| defaults.textures.clone()),
        fps: fps(section, notes).unwrap_or(defaults.fps),
        scale: section.positive("scale", f64::MAX, notes).or(defaults.scale).unwrap_or(1.0),
        up,
        forward,
        root: section.string("root", notes),
        masks: gameplay::masks(section, notes),
        parts: gameplay::parts(section, notes),
        file_variants: boolean(section, "file_variants", notes).unwrap_or(true),
        variants: variants::read(section, folder, notes),
        tint_masks: variants::tint_masks(section, folder, notes),
        sockets: section.strings("sockets", notes),
        clips,
    };
    ReadModel { entry, has_name, sound: notes.diagnostics.len() == diagnostics_before }
}

fn clips(section: Section<'_>, notes: &mut Notes) -> Option<Vec<ClipEntry>> {
    let value = section.get("clips")?;
    let help = "each clip is a separate table:\n[model.clips.run]\nsource = \"Armature|Run\"";
    let DeValue::Table(table) = value.get_ref() else {
        notes.error(DiagnosticCode::ManifestType, value.span(), "`clips` must be a table of tables", help);
        return None;
    };
    if table.is_empty() {
        notes.error(
            DiagnosticCode::ManifestValue,
            value.span(),
            "`clips` is empty",
            "remove the key to bake all clips of the file",
        );
    }
    let mut clips: Vec<_> = table
        .iter()
        .filter_map(|(key, value)| {
            let name = At { value: key.get_ref().to_string(), span: key.span() };
            let DeValue::Table(table) = value.get_ref() else {
                notes.error(
                    DiagnosticCode::ManifestType,
                    value.span(),
                    format!("clip `{}` must be a table", shorten(&name.value)),
                    keys::of_model(&name.value, "[model.clips]").unwrap_or_else(|| help.to_owned()),
                );
                return None;
            };
            let section = Section::new(table, &keys::CLIP, notes);
            let (source, looped) = (section.string("source", notes), loop_wish(section, notes));
            let (events, root_motion) =
                (gameplay::events(section, notes), section.choice("root_motion", &keys::ROOT_MOTIONS, notes));
            let additive = gameplay::additive(section, &name, notes);
            Some(ClipEntry { name, source, looped, fps: fps(section, notes), events, root_motion, additive })
        })
        .collect();
    // The parser sorts tables by key.
    clips.sort_by_key(|clip| clip.name.span.start);
    gameplay::check_references(&clips, notes);
    Some(clips)
}

fn encoding(section: Section<'_>, notes: &mut Notes) -> EncodingWish {
    let at = section.choice("encoding", &keys::ENCODINGS, notes)?;
    Some(at.value.map(|value| At { value, span: at.span }))
}

/// Returns the encoding of a model: its own, which must suit its mode, or the default if that suits
/// the mode.
fn in_mode(
    mode: Option<&At<Mode>>,
    own: EncodingWish,
    default: &EncodingWish,
    notes: &mut Notes,
) -> Option<At<Encoding>> {
    let fits = |encoding: &At<Encoding>| match mode.map(|at| at.value) {
        Some(Mode::Bone) => !encoding.value.is_vertex(),
        Some(Mode::Vertex) => encoding.value.is_vertex(),
        Some(Mode::Auto) | None => true,
    };
    let Some(own) = own else { return default.clone().flatten().filter(fits) };
    let own = own?;
    if let (Some(mode), false) = (mode, fits(&own)) {
        let (name, rows, other) = match own.value.is_vertex() {
            true => (own.value.name(), "vertices", "vertex"),
            false => (own.value.name(), "bones", "bone"),
        };
        let diagnostic = Diagnostic::error(
            DiagnosticCode::ManifestConflict,
            format!("encoding \"{name}\" stores {rows}, which does not match the mode of the model"),
        )
        .help(format!("set `mode = \"{other}\"`, or remove one of the two keys"));
        let diagnostic = diagnostic.at(&notes.source, own.span.clone()).also(mode.span.clone(), "the mode");
        notes.diagnostics.push(diagnostic);
    }
    Some(own)
}
