//! `preview`: draws a contact sheet of a model's clips.

use std::path::Path;

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required};
use super::outcome::{CommandOutput, Failure, load};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::Manifest;

pub(super) const COMMAND: Command = Command {
    name: "preview",
    summary: "Draws a contact sheet of a model: clips down, times across.",
    operand: None,
    flags: &[
        MANIFEST,
        MESSAGE_FORMAT,
        required("model", "NAME", "name of the model"),
        required("out", "FILE.png", "output image"),
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

/// Content of the sheet.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
enum SheetKind {
    /// All clips, in the given encoding or in the manifest's.
    One(Option<Encoding>),
    /// All clips in two encodings, with the difference.
    Two([Encoding; 2]),
    /// Crossfades and layers, in the given encoding or in the manifest's.
    Acts(Option<Encoding>, Vec<SequenceArgs>),
}

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let out = args.path("out").expect("`--out` is a required flag");
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("invalid value `{}` for `--out`: expected a .png file", out.display())));
    }
    let look = look(args)?;
    need_gpu("preview")?;
    let manifest = load(&args.manifest())?;
    draw(&manifest, args.required("model")?, look, &out)
}

fn look(args: &Args) -> Result<SheetKind, Failure> {
    let names = args.words("encoding", &Encoding::ALL.map(Encoding::name))?.unwrap_or_default();
    let encodings: Vec<Encoding> = names.into_iter().filter_map(Encoding::from_name).collect();
    let acts = acts(args)?;
    if !acts.is_empty() {
        return match encodings[..] {
            [] => Ok(SheetKind::Acts(None, acts)),
            [one] => Ok(SheetKind::Acts(Some(one), acts)),
            _ => Err(Failure::Usage("`--crossfade` and `--layer` accept only one encoding".to_owned())),
        };
    }
    match encodings[..] {
        [] => Ok(SheetKind::One(None)),
        [one] => Ok(SheetKind::One(Some(one))),
        [a, b] if a == b => {
            let name = a.name();
            Err(Failure::Usage(format!(
                "`--encoding {name},{name}` compares {name} with itself: expected two different encodings"
            )))
        }
        [a, b] => Ok(SheetKind::Two([a, b])),
        _ => Err(Failure::Usage(format!(
            "`--encoding` names {} encodings: expected one, or two separated by a comma",
            encodings.len()
        ))),
    }
}

fn acts(args: &Args) -> Result<Vec<SequenceArgs>, Failure> {
    let names =
        |flag| Ok::<_, Failure>(args.text(flag)?.map(|text| text.split(',').map(|n| n.trim().to_owned()).collect()));
    let (fade, layer): (Option<Vec<String>>, Option<Vec<String>>) = (names("crossfade")?, names("layer")?);
    let mut acts = Vec::new();
    if let Some(names) = fade {
        let names = names
            .try_into()
            .map_err(|_| Failure::Usage("`--crossfade` expects two clips, for example walk,run".to_owned()))?;
        acts.push(SequenceArgs::Crossfade(names));
    }
    if let Some(mut names) = layer {
        let mask = if names.len() == 3 { names.pop() } else { None };
        let wrong = |_| {
            Failure::Usage(
                "`--layer` expects two clips and optionally a mask, for example walk,attack,upper_body".to_owned(),
            )
        };
        acts.push(SequenceArgs::Layer(names.try_into().map_err(wrong)?, mask));
    }
    Ok(acts)
}

#[cfg(feature = "gpu")]
fn draw(manifest: &Manifest, model: &str, look: SheetKind, out: &Path) -> Result<CommandOutput, Failure> {
    let sheet = match look {
        SheetKind::One(encoding) => crate::preview::preview(manifest, model, encoding)?,
        SheetKind::Two(encodings) => crate::preview::compare(manifest, model, encodings)?,
        SheetKind::Acts(encoding, acts) => {
            use crate::preview::Sequence;
            let sequence = |act| match act {
                SequenceArgs::Crossfade([from, to]) => Sequence::Crossfade { from, to },
                SequenceArgs::Layer([base, clip], mask) => Sequence::Layer { base, clip, mask },
            };
            let acts: Vec<Sequence> = acts.into_iter().map(sequence).collect();
            crate::preview::sequences(manifest, model, encoding, &acts)?
        }
    };
    sheet.write(out)?;
    let text = format!("{}: {} x {} pixels\n", out.display(), sheet.width(), sheet.height());
    Ok(CommandOutput { text, warnings: sheet.warnings })
}

#[cfg(not(feature = "gpu"))]
fn draw(_: &Manifest, _: &str, _: SheetKind, _: &Path) -> Result<CommandOutput, Failure> {
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
