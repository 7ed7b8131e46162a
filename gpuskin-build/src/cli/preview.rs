//! `preview`: draws a contact sheet of a model's clips.

use std::path::Path;
#[cfg(feature = "gpu")]
use std::path::PathBuf;

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required};
use super::outcome::{CommandOutput, Failure, load};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::Manifest;

pub(super) const COMMAND: Command = Command {
    name: "preview",
    summary: "Draws contact sheets of a model: clips down, times across.",
    operand: None,
    flags: &[
        MANIFEST,
        MESSAGE_FORMAT,
        required("model", "NAME", "name of the model"),
        required("out", "FILE.png", "output image; more than 24 rows go to FILE-2.png and so on"),
        option("clips", "A,B,...", "draw these clips instead of all"),
        option(
            "camera",
            "SIDE|YAW,PITCH",
            "front, back, left, right, top or bottom, or two angles in degrees: 0,0 sees the front,\n\
             90,0 the model's left side [default: 36,17]",
        ),
        option("hide", "PART,...", "draw the model without these parts"),
        option("lod", "N", "draw level of detail N; 0 is the finest [default: 0]"),
        option(
            "encoding",
            "A|A,B",
            "A: draw in this encoding instead of the manifest's\n\
             A,B: draw in both, with the errors of each, and draw the difference |A - B|,\n\
             amplified by a power of two up to 64 that is printed on the sheet",
        ),
        option("crossfade", "A,B", "instead of all clips, draw a crossfade from clip A to clip B, from start to end"),
        option(
            "layer",
            "A,B[,MASK]",
            "instead of all clips, draw clip A with a layer of clip B that fades in, on the\n\
             bones of MASK or on all bones; with --crossfade, below the crossfade",
        ),
    ],
    notes: "The runtime draws the sheet on the adapter that wgpu selects. The manifest's tolerances apply: a model whose\n\
            error is above a tolerance is not drawn.",
};

/// A crossfade with its two clips, or a layer with its two clips and its mask.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
enum SequenceArgs {
    Crossfade([String; 2]),
    Layer([String; 2], Option<String>),
}

/// Rows of the sheet.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
enum Rows {
    /// Clips in the given encoding or in the manifest's.
    Clips(Option<Encoding>),
    /// Clips in two encodings, with the difference.
    Compared([Encoding; 2]),
    /// Crossfades and layers, in the given encoding or in the manifest's.
    Sequences(Option<Encoding>, Vec<SequenceArgs>),
}

/// Arguments that all kinds of sheets share.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
struct View {
    clips: Vec<String>,
    hidden_parts: Vec<String>,
    lod: usize,
    /// Yaw and pitch in degrees.
    camera: Option<[f32; 2]>,
}

/// Sides of a model that `--camera` accepts, as yaw and pitch in degrees.
const SIDES: [(&str, [f32; 2]); 6] = [
    ("front", [0.0, 0.0]),
    ("back", [180.0, 0.0]),
    ("left", [90.0, 0.0]),
    ("right", [-90.0, 0.0]),
    ("top", [0.0, 90.0]),
    ("bottom", [0.0, -90.0]),
];

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let out = args.path("out").expect("`--out` is a required flag");
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("invalid value `{}` for `--out`: expected a .png file", out.display())));
    }
    let (rows, view) = (rows(args)?, view(args)?);
    if matches!(rows, Rows::Sequences(..)) && !view.clips.is_empty() {
        return Err(Failure::Usage("`--crossfade` and `--layer` name their clips: remove `--clips`".to_owned()));
    }
    need_gpu("preview")?;
    let manifest = load(&args.manifest())?;
    draw(&manifest, args.required("model")?, rows, view, &out)
}

fn rows(args: &Args) -> Result<Rows, Failure> {
    let names = args.words("encoding", &Encoding::ALL.map(Encoding::name))?.unwrap_or_default();
    let encodings: Vec<Encoding> = names.into_iter().filter_map(Encoding::from_name).collect();
    let sequences = sequences(args)?;
    if !sequences.is_empty() {
        return match encodings[..] {
            [] => Ok(Rows::Sequences(None, sequences)),
            [one] => Ok(Rows::Sequences(Some(one), sequences)),
            _ => Err(Failure::Usage("`--crossfade` and `--layer` accept only one encoding".to_owned())),
        };
    }
    match encodings[..] {
        [] => Ok(Rows::Clips(None)),
        [one] => Ok(Rows::Clips(Some(one))),
        [a, b] if a == b => {
            let name = a.name();
            Err(Failure::Usage(format!(
                "`--encoding {name},{name}` compares {name} with itself: expected two different encodings"
            )))
        }
        [a, b] => Ok(Rows::Compared([a, b])),
        _ => Err(Failure::Usage(format!(
            "`--encoding` names {} encodings: expected one, or two separated by a comma",
            encodings.len()
        ))),
    }
}

/// Returns the names of a comma-separated list; empty if the flag is missing.
fn names(args: &Args, flag: &str) -> Result<Vec<String>, Failure> {
    Ok(args.text(flag)?.map(|text| text.split(',').map(|n| n.trim().to_owned()).collect()).unwrap_or_default())
}

fn sequences(args: &Args) -> Result<Vec<SequenceArgs>, Failure> {
    let (fade, mut layer) = (names(args, "crossfade")?, names(args, "layer")?);
    let mut sequences = Vec::new();
    if !fade.is_empty() {
        let clips = fade
            .try_into()
            .map_err(|_| Failure::Usage("`--crossfade` expects two clips, for example walk,run".to_owned()))?;
        sequences.push(SequenceArgs::Crossfade(clips));
    }
    if !layer.is_empty() {
        let mask = if layer.len() == 3 { layer.pop() } else { None };
        let wrong = |_| {
            Failure::Usage(
                "`--layer` expects two clips and optionally a mask, for example walk,attack,upper_body".to_owned(),
            )
        };
        sequences.push(SequenceArgs::Layer(layer.try_into().map_err(wrong)?, mask));
    }
    Ok(sequences)
}

fn view(args: &Args) -> Result<View, Failure> {
    let lod = match args.text("lod")? {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Failure::Usage(format!("invalid value `{text}` for `--lod`: expected a number, 0 for the finest level"))
        })?,
    };
    let camera = args.text("camera")?.map(camera).transpose()?;
    Ok(View { clips: names(args, "clips")?, hidden_parts: names(args, "hide")?, lod, camera })
}

/// Parses a side or two angles in degrees.
fn camera(text: &str) -> Result<[f32; 2], Failure> {
    if let Some((_, angles)) = SIDES.iter().find(|(side, _)| *side == text) {
        return Ok(*angles);
    }
    let angles: Vec<f32> = text.split(',').map_while(|angle| angle.trim().parse().ok()).collect();
    match angles[..] {
        [yaw, pitch] if yaw.is_finite() && pitch.abs() <= 90.0 && text.matches(',').count() == 1 => Ok([yaw, pitch]),
        _ => Err(Failure::Usage(format!(
            "invalid value `{text}` for `--camera`: expected {}, or two angles in degrees such as 30,15, \
             the second from -90 to 90",
            SIDES.map(|(side, _)| side).join(", ")
        ))),
    }
}

#[cfg(feature = "gpu")]
fn draw(manifest: &Manifest, model: &str, rows: Rows, view: View, out: &Path) -> Result<CommandOutput, Failure> {
    use crate::preview::{Orbit, Sequence, SheetOptions};

    let orbit = |[yaw, pitch]: [f32; 2]| Orbit { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
    let camera = view.camera.map(orbit).unwrap_or_default();
    let View { clips, hidden_parts, lod, .. } = view;
    let options = |encoding| SheetOptions { encoding, clips, hidden_parts, lod, camera };
    let preview = match rows {
        Rows::Clips(encoding) => crate::preview::preview(manifest, model, &options(encoding))?,
        Rows::Compared(encodings) => crate::preview::compare(manifest, model, encodings, &options(None))?,
        Rows::Sequences(encoding, sequences) => {
            let sequence = |sequence| match sequence {
                SequenceArgs::Crossfade([from, to]) => Sequence::Crossfade { from, to },
                SequenceArgs::Layer([base, clip], mask) => Sequence::Layer { base, clip, mask },
            };
            let sequences: Vec<Sequence> = sequences.into_iter().map(sequence).collect();
            crate::preview::sequences(manifest, model, &options(encoding), &sequences)?
        }
    };
    let mut text = String::new();
    for (index, sheet) in preview.sheets.iter().enumerate() {
        let out = page(out, index);
        sheet.write(&out)?;
        text += &format!("{}: {} x {} pixels\n", out.display(), sheet.width(), sheet.height());
    }
    Ok(CommandOutput { text, warnings: preview.warnings })
}

/// Returns the path of a sheet: `sheet.png`, `sheet-2.png`, `sheet-3.png`.
#[cfg(feature = "gpu")]
fn page(out: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return out.to_owned();
    }
    let (stem, extension) = (out.file_stem().unwrap_or_default(), out.extension().unwrap_or_default());
    let mut name = stem.to_owned();
    name.push(format!("-{}.", index + 1));
    name.push(extension);
    out.with_file_name(name)
}

#[cfg(not(feature = "gpu"))]
fn draw(_: &Manifest, _: &str, _: Rows, _: View, _: &Path) -> Result<CommandOutput, Failure> {
    unreachable!("`need_gpu` fails in builds without the feature `gpu`")
}

/// Fails in builds without the feature `gpu`.
pub(super) fn need_gpu(command: &str) -> Result<(), Failure> {
    if cfg!(feature = "gpu") {
        return Ok(());
    }
    let message = format!("`{command}` needs gpuskin-build with the feature `gpu`");
    let help =
        "run `cargo install gpuskin-build --features cli,gpu`, or add `gpu` to the features of your xtask's dependency";
    Err(Diagnostic::error(DiagnosticCode::GpuMissing, message).help(help).into())
}
