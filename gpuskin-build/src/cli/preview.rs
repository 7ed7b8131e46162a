//! `preview`: draws a contact sheet of a model's clips.

use std::path::Path;
#[cfg(feature = "gpu")]
use std::path::PathBuf;

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required, switch};
use super::outcome::{CommandOutput, Failure, load};
use super::picture::{CAMERA, HIDE, LOD, PictureArgs, VARIANT, names, need_gpu};
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
        CAMERA,
        HIDE,
        VARIANT,
        LOD,
        option(
            "encoding",
            "A|A,B",
            "A: draw in this encoding instead of the manifest's\n\
             A,B: draw in both, with the errors of each, and draw the difference |A - B|,\n\
             amplified by a power of two up to 64 that is printed on the sheet",
        ),
        switch("retarget", "draw the retargeted clips, each below the skeleton of its source"),
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
enum SheetRows {
    /// Clips in the given encoding or in the manifest's.
    Clips(Option<Encoding>),
    /// Clips in two encodings, with the difference.
    Compared([Encoding; 2]),
    /// Retargeted clips with their sources, in the given encoding or in the manifest's.
    Retargeted(Option<Encoding>),
    /// Crossfades and layers, in the given encoding or in the manifest's.
    Sequences(Option<Encoding>, Vec<SequenceArgs>),
}

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let out = args.path("out").expect("`--out` is a required flag");
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("invalid value `{}` for `--out`: expected a .png file", out.display())));
    }
    let (rows, picture) = (rows(args)?, PictureArgs::new(args)?);
    let clips = names(args, "clips")?;
    if matches!(rows, SheetRows::Sequences(..)) && !clips.is_empty() {
        return Err(Failure::Usage("`--crossfade` and `--layer` name their clips: remove `--clips`".to_owned()));
    }
    need_gpu("preview")?;
    let manifest = load(&args.manifest())?;
    draw(&manifest, args.required("model")?, rows, clips, picture, &out)
}

fn rows(args: &Args) -> Result<SheetRows, Failure> {
    let names = args.words("encoding", &Encoding::ALL.map(Encoding::name))?.unwrap_or_default();
    let encodings: Vec<Encoding> = names.into_iter().filter_map(Encoding::from_name).collect();
    let sequences = sequences(args)?;
    if args.has("retarget") {
        return match encodings[..] {
            _ if !sequences.is_empty() => {
                Err(Failure::Usage("`--retarget` excludes `--crossfade` and `--layer`".to_owned()))
            }
            [] => Ok(SheetRows::Retargeted(None)),
            [one] => Ok(SheetRows::Retargeted(Some(one))),
            _ => Err(Failure::Usage("`--retarget` accepts only one encoding".to_owned())),
        };
    }
    if !sequences.is_empty() {
        return match encodings[..] {
            [] => Ok(SheetRows::Sequences(None, sequences)),
            [one] => Ok(SheetRows::Sequences(Some(one), sequences)),
            _ => Err(Failure::Usage("`--crossfade` and `--layer` accept only one encoding".to_owned())),
        };
    }
    match encodings[..] {
        [] => Ok(SheetRows::Clips(None)),
        [one] => Ok(SheetRows::Clips(Some(one))),
        [a, b] if a == b => {
            let name = a.name();
            Err(Failure::Usage(format!(
                "`--encoding {name},{name}` compares {name} with itself: expected two different encodings"
            )))
        }
        [a, b] => Ok(SheetRows::Compared([a, b])),
        _ => Err(Failure::Usage(format!(
            "`--encoding` names {} encodings: expected one, or two separated by a comma",
            encodings.len()
        ))),
    }
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

#[cfg(feature = "gpu")]
fn draw(
    manifest: &Manifest,
    model: &str,
    rows: SheetRows,
    clips: Vec<String>,
    picture: PictureArgs,
    out: &Path,
) -> Result<CommandOutput, Failure> {
    use crate::preview::{Sequence, SheetOptions};

    let options = |encoding| SheetOptions { encoding, clips, ..picture.options() };
    let preview = match rows {
        SheetRows::Clips(encoding) => crate::preview::preview(manifest, model, &options(encoding))?,
        SheetRows::Retargeted(encoding) => crate::preview::retargeted(manifest, model, &options(encoding))?,
        SheetRows::Compared(encodings) => crate::preview::compare(manifest, model, encodings, &options(None))?,
        SheetRows::Sequences(encoding, sequences) => {
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
fn draw(
    _: &Manifest,
    _: &str,
    _: SheetRows,
    _: Vec<String>,
    _: PictureArgs,
    _: &Path,
) -> Result<CommandOutput, Failure> {
    unreachable!("`need_gpu` fails in builds without the feature `gpu`")
}
