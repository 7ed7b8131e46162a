//! `preview`: a contact sheet of a model's clips.

use std::path::Path;

use super::args::{Args, Command, MANIFEST, required};
use super::{Done, Failure, load};
use crate::finding::Finding;
use crate::manifest::Manifest;

pub(super) const COMMAND: Command = Command {
    name: "preview",
    summary: "Draws a contact sheet of a model: clips down, times across.",
    operand: None,
    flags: &[MANIFEST, required("model", "NAME", "which model"), required("out", "FILE.png", "the picture")],
    notes: "It is drawn by the runtime, on whatever adapter there is.",
};

pub(super) fn run(args: &Args) -> Result<Done, Failure> {
    let out = args.path("out").expect("it is required");
    if out.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Usage(format!("`--out {}` is not a .png", out.display())));
    }
    need_gpu("preview")?;
    let manifest = load(&args.manifest())?;
    draw(&manifest, args.required("model")?, &out)
}

#[cfg(feature = "gpu")]
fn draw(manifest: &Manifest, model: &str, out: &Path) -> Result<Done, Failure> {
    let sheet = crate::preview::preview(manifest, model)?;
    sheet.write(out)?;
    let text = format!("{}: {} x {} pixels\n", out.display(), sheet.width(), sheet.height());
    Ok(Done { text, warnings: sheet.warnings })
}

#[cfg(not(feature = "gpu"))]
fn draw(_: &Manifest, _: &str, _: &Path) -> Result<Done, Failure> {
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
    Err(Finding::error(message).help(help).into())
}
