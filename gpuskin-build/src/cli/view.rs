//! `view`: shows a model in a window, or writes a picture of it.

use std::path::Path;

use gpuskin_rt::internals::Encoding;

use super::args::{Args, Command, option};
use super::outcome::{CommandOutput, Failure, load};
use super::picture::{CAMERA, HIDE, LOD, PictureArgs, VARIANT, names, need_gpu};
use crate::analysis::Analysis;
#[cfg(not(feature = "view"))]
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::Manifest;

pub(super) const COMMAND: Command = Command {
    name: "view",
    summary: "Shows a model in a window, or writes a picture of it.",
    operand: Some("MODEL.glb|gpuskin.toml"),
    flags: &[
        option("model", "NAME", "name of the model in the manifest [default: the first one]"),
        option("out", "FILE.png", "write a picture instead of opening a window"),
        option("size", "WIDTHxHEIGHT", "size in pixels [default: 1280x960]"),
        option("clip", "NAME", "clip to play [default: the first one]"),
        option("time", "SECONDS", "time in the clip at the start, or of the picture [default: 0]"),
        option("speed", "FACTOR", "speed of the clip in the window [default: 1]"),
        CAMERA,
        HIDE,
        VARIANT,
        LOD,
        option(
            "show",
            "WORD,...",
            "skeleton, names, sockets: draw bones; source: draw the source beside the baked model",
        ),
        option("mask", "NAME", "colour the vertices that move with the bones of a mask"),
        option("encoding", "NAME", "encoding to use instead of the manifest's"),
    ],
    notes: "A glTF file is baked as `gpuskin inspect` drafts its manifest. In the window, H lists the keys.",
};

const SHOWN: [&str; 4] = ["skeleton", "names", "sockets", "source"];
const MAX_EDGE: u32 = 16384;

pub(super) fn run(args: &Args) -> Result<CommandOutput, Failure> {
    let out = args.path("out");
    if let Some(out) = out.as_ref().filter(|out| out.extension().is_none_or(|e| !e.eq_ignore_ascii_case("png"))) {
        return Err(Failure::Usage(format!("invalid value `{}` for `--out`: expected a .png file", out.display())));
    }
    let size = size(args)?;
    let view = ViewArgs {
        picture: PictureArgs::new(args)?,
        encoding: args.word("encoding", &Encoding::ALL.map(Encoding::name))?.and_then(Encoding::from_name),
        clips: names(args, "clip")?,
        time: number(args, "time", 0.0)?,
        speed: number(args, "speed", 1.0)?,
        shown: args.words("show", &SHOWN)?.unwrap_or_default().into_iter().map(str::to_owned).collect(),
        mask: args.text("mask")?.map(str::to_owned),
    };
    let (path, model) = (args.operand(), args.text("model")?);
    if model.is_some() && !is_manifest(&path) {
        return Err(Failure::Usage("`--model` names a model of a manifest: remove it for a glTF file".to_owned()));
    }
    need_gpu("view")?;
    let (manifest, model) = manifest(&path, model)?;
    match out {
        Some(out) => write(&manifest, &model, view, size, &out),
        None => open(&manifest, &model, view, size),
    }
}

/// Values of the flags.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
struct ViewArgs {
    picture: PictureArgs,
    encoding: Option<Encoding>,
    clips: Vec<String>,
    time: f64,
    speed: f64,
    shown: Vec<String>,
    mask: Option<String>,
}

/// Whether a path is that of a manifest, not of a glTF file.
fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns the manifest and the name of the model in it.
fn manifest(path: &Path, model: Option<&str>) -> Result<(Manifest, String), Failure> {
    if is_manifest(path) {
        let manifest = load(path)?;
        let first = manifest.models.first().map(|entry| entry.name.value.clone()).unwrap_or_default();
        return Ok((manifest, model.map_or(first, str::to_owned)));
    }
    let analysis = Analysis::new(path)?;
    let shown = path.to_string_lossy();
    let draft = analysis.baked_draft(&shown)?;
    let manifest = Manifest::parse(Path::new("gpuskin.toml"), draft.text)?;
    Ok((manifest, draft.name))
}

fn size(args: &Args) -> Result<[u32; 2], Failure> {
    let Some(text) = args.text("size")? else { return Ok([1280, 960]) };
    let edges = text.split_once('x').map(|(width, height)| [width, height].map(|edge| edge.trim().parse::<u32>()));
    match edges {
        Some([Ok(width @ 16..=MAX_EDGE), Ok(height @ 16..=MAX_EDGE)]) => Ok([width, height]),
        _ => Err(Failure::Usage(format!(
            "invalid value `{text}` for `--size`: expected width and height from 16 to {MAX_EDGE} pixels, such as 1280x960"
        ))),
    }
}

fn number(args: &Args, flag: &str, default: f64) -> Result<f64, Failure> {
    let Some(text) = args.text(flag)? else { return Ok(default) };
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Failure::Usage(format!("invalid value `{text}` for `--{flag}`: expected a number")))
}

#[cfg(feature = "gpu")]
impl ViewArgs {
    fn options(self) -> crate::preview::ViewOptions {
        let shows = |word: &str| self.shown.iter().any(|shown| shown == word);
        let [skeleton, names, sockets, source] = SHOWN.map(shows);
        let sheet =
            crate::preview::SheetOptions { encoding: self.encoding, clips: self.clips, ..self.picture.options() };
        let speed = self.speed as f32;
        crate::preview::ViewOptions { sheet, time: self.time, speed, skeleton, names, sockets, source, mask: self.mask }
    }
}

#[cfg(feature = "gpu")]
fn write(
    manifest: &Manifest,
    model: &str,
    view: ViewArgs,
    size: [u32; 2],
    out: &Path,
) -> Result<CommandOutput, Failure> {
    let warnings = crate::preview::view(manifest, model, &view.options(), size, out)?;
    Ok(CommandOutput { text: format!("{}: {} x {} pixels\n", out.display(), size[0], size[1]), warnings })
}

#[cfg(not(feature = "gpu"))]
fn write(_: &Manifest, _: &str, _: ViewArgs, _: [u32; 2], _: &Path) -> Result<CommandOutput, Failure> {
    unreachable!("`need_gpu` fails in builds without the feature `gpu`")
}

#[cfg(feature = "view")]
fn open(manifest: &Manifest, model: &str, view: ViewArgs, size: [u32; 2]) -> Result<CommandOutput, Failure> {
    let warnings = crate::preview::show(manifest, model, &view.options(), size)?;
    Ok(CommandOutput { text: String::new(), warnings })
}

#[cfg(not(feature = "view"))]
fn open(_: &Manifest, _: &str, _: ViewArgs, _: [u32; 2]) -> Result<CommandOutput, Failure> {
    let message = "no window can be opened: gpuskin-build was compiled without the feature `view`";
    let help = "pass --out FILE.png to write a picture instead, or run \
                `cargo install gpuskin-build --features cli,gpu,view`";
    Err(Diagnostic::error(DiagnosticCode::ViewWindow, message).help(help).into())
}
