//! `preview`: a contact sheet of a model's clips.

use std::path::Path;

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, MANIFEST, MESSAGE_FORMAT, option, required};
use super::{Done, Failure, load};
use crate::finding::{Code, Finding};
use crate::manifest::Manifest;

pub(super) const COMMAND: Command = Command {
    name: "preview",
    summary: "Draws a contact sheet of a model: clips down, times across.",
    operand: None,
    flags: &[
        MANIFEST,
        MESSAGE_FORMAT,
        required("model", "NAME", "which model"),
        required("out", "FILE.png", "the picture"),
        option(
            "encoding",
            "A|A,B",
            "A: in this encoding instead of the manifest's\n\
             A,B: in both, with the errors of each, and the difference |A - B| of the\n\
             pictures, amplified by a power of two up to 64 that stands on the sheet",
        ),
        option("crossfade", "A,B", "instead of all clips, one that fades from clip A to B, from its start to its end"),
        option(
            "layer",
            "A,B[,MASK]",
            "instead of all clips, A with a layer of clip B that fades in, on the bones of a\n\
             mask or on all; with --crossfade below that",
        ),
    ],
    notes: "It is drawn by the runtime, on whatever adapter there is. The manifest's tolerances hold: a model that does\n\
            not meet one that is set is not drawn.",
};

/// Names of a crossfade's clips, or of a layer's and its mask.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "nothing is drawn without a GPU"))]
enum Acted {
    Crossfade([String; 2]),
    Layer([String; 2], Option<String>),
}

/// How a model is drawn.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "nothing is drawn without a GPU"))]
enum Look {
    /// In the manifest's encoding, or this.
    One(Option<Encoding>),
    /// In two, with the difference.
    Two([Encoding; 2]),
    /// What becomes of clips.
    Acts(Option<Encoding>, Vec<Acted>),
}

pub(super) fn run(args: &Args) -> Result<Done, Failure> {
    let out = args.path("out").expect("it is required");
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("`--out {}` is not a .png", out.display())));
    }
    let look = look(args)?;
    need_gpu("preview")?;
    let manifest = load(&args.manifest())?;
    draw(&manifest, args.required("model")?, look, &out)
}

fn look(args: &Args) -> Result<Look, Failure> {
    let names = args.words("encoding", &Encoding::ALL.map(Encoding::name))?.unwrap_or_default();
    let encodings: Vec<Encoding> = names.into_iter().filter_map(Encoding::from_name).collect();
    let acts = acts(args)?;
    if !acts.is_empty() {
        return match encodings[..] {
            [] => Ok(Look::Acts(None, acts)),
            [one] => Ok(Look::Acts(Some(one), acts)),
            _ => Err(Failure::Usage("`--crossfade` and `--layer` are drawn in one encoding".to_owned())),
        };
    }
    match encodings[..] {
        [] => Ok(Look::One(None)),
        [one] => Ok(Look::One(Some(one))),
        [a, b] if a == b => {
            let name = a.name();
            Err(Failure::Usage(format!(
                "`--encoding {name},{name}` compares {name} to itself: name another encoding after the comma"
            )))
        }
        [a, b] => Ok(Look::Two([a, b])),
        _ => Err(Failure::Usage(format!(
            "`--encoding` names {} encodings: it takes one, or two with a comma between them",
            encodings.len()
        ))),
    }
}

fn acts(args: &Args) -> Result<Vec<Acted>, Failure> {
    let names =
        |flag| Ok::<_, Failure>(args.text(flag)?.map(|text| text.split(',').map(|n| n.trim().to_owned()).collect()));
    let (fade, layer): (Option<Vec<String>>, Option<Vec<String>>) = (names("crossfade")?, names("layer")?);
    let mut acts = Vec::new();
    if let Some(names) = fade {
        let names =
            names.try_into().map_err(|_| Failure::Usage("`--crossfade` takes two clips: walk,run".to_owned()))?;
        acts.push(Acted::Crossfade(names));
    }
    if let Some(mut names) = layer {
        let mask = if names.len() == 3 { names.pop() } else { None };
        let wrong =
            |_| Failure::Usage("`--layer` takes two clips and perhaps a mask: walk,attack,upper_body".to_owned());
        acts.push(Acted::Layer(names.try_into().map_err(wrong)?, mask));
    }
    Ok(acts)
}

#[cfg(feature = "gpu")]
fn draw(manifest: &Manifest, model: &str, look: Look, out: &Path) -> Result<Done, Failure> {
    let sheet = match look {
        Look::One(encoding) => crate::preview::preview(manifest, model, encoding)?,
        Look::Two(encodings) => crate::preview::compare(manifest, model, encodings)?,
        Look::Acts(encoding, acts) => {
            use crate::preview::Sequence;
            let sequence = |act| match act {
                Acted::Crossfade([from, to]) => Sequence::Crossfade { from, to },
                Acted::Layer([base, clip], mask) => Sequence::Layer { base, clip, mask },
            };
            let acts: Vec<Sequence> = acts.into_iter().map(sequence).collect();
            crate::preview::sequences(manifest, model, encoding, &acts)?
        }
    };
    sheet.write(out)?;
    let text = format!("{}: {} x {} pixels\n", out.display(), sheet.width(), sheet.height());
    Ok(Done { text, warnings: sheet.warnings })
}

#[cfg(not(feature = "gpu"))]
fn draw(_: &Manifest, _: &str, _: Look, _: &Path) -> Result<Done, Failure> {
    unreachable!("refused before: there is no GPU in this build")
}

/// Commands that draw need the feature that brings wgpu.
pub(super) fn need_gpu(command: &str) -> Result<(), Failure> {
    if cfg!(feature = "gpu") {
        return Ok(());
    }
    let message = format!("`{command}` needs gpuskin-build with the feature `gpu`");
    let help =
        "cargo install gpuskin-build --features cli,gpu; or add `gpu` to the features of your xtask's dependency";
    Err(Finding::error(Code::GpuMissing, message).help(help).into())
}
