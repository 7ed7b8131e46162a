//! Flags that `preview` and `view` share.

use super::args::{Args, Flag, option};
use super::outcome::Failure;
use crate::diagnostic::{Diagnostic, DiagnosticCode};

pub(super) const CAMERA: Flag = option(
    "camera",
    "SIDE|YAW,PITCH",
    "front, back, left, right, top or bottom, or two angles in degrees: 0,0 sees the front,\n\
     90,0 the model's left side [default: 36,17]",
);
pub(super) const HIDE: Flag = option("hide", "PART,...", "draw the model without these parts");
pub(super) const VARIANT: Flag = option("variant", "NAME", "draw a variant, of the manifest or of the file");
pub(super) const LOD: Flag = option("lod", "N", "draw level of detail N; 0 is the finest [default: 0]");

/// Sides of a model that `--camera` accepts, as yaw and pitch in degrees.
const SIDES: [(&str, [f32; 2]); 6] = [
    ("front", [0.0, 0.0]),
    ("back", [180.0, 0.0]),
    ("left", [90.0, 0.0]),
    ("right", [-90.0, 0.0]),
    ("top", [0.0, 90.0]),
    ("bottom", [0.0, -90.0]),
];

/// Values of the flags.
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "used only with the feature `gpu`"))]
pub(super) struct PictureArgs {
    hidden_parts: Vec<String>,
    variant: Option<String>,
    lod: usize,
    /// Yaw and pitch in degrees.
    camera: Option<[f32; 2]>,
}

impl PictureArgs {
    pub(super) fn new(args: &Args) -> Result<Self, Failure> {
        let lod = match args.text("lod")? {
            None => 0,
            Some(text) => text.parse().map_err(|_| {
                Failure::Usage(format!("invalid value `{text}` for `--lod`: expected a number, 0 for the finest level"))
            })?,
        };
        let camera = args.text("camera")?.map(camera).transpose()?;
        let variant = args.text("variant")?.map(str::to_owned);
        Ok(Self { hidden_parts: names(args, "hide")?, variant, lod, camera })
    }

    /// Returns the options of a picture of all clips.
    #[cfg(feature = "gpu")]
    pub(super) fn options(self) -> crate::preview::SheetOptions {
        use crate::preview::{Orbit, SheetOptions};

        let orbit = |[yaw, pitch]: [f32; 2]| Orbit { yaw: yaw.to_radians(), pitch: pitch.to_radians() };
        let camera = self.camera.map(orbit).unwrap_or_default();
        let Self { hidden_parts, variant, lod, .. } = self;
        SheetOptions { hidden_parts, variant, lod, camera, ..Default::default() }
    }
}

/// Returns the names of a comma-separated list; empty if the flag is missing.
pub(super) fn names(args: &Args, flag: &str) -> Result<Vec<String>, Failure> {
    Ok(args.text(flag)?.map(|text| text.split(',').map(|n| n.trim().to_owned()).collect()).unwrap_or_default())
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
