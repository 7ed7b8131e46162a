//! Diagnostics for encodings that do not meet the tolerances, with suggested settings.

use gpuskin_rt::internals::Encoding;

use super::EncodingChoice;
use crate::bake::BakeOptions;
use crate::bake::attempt::{Attempt, AttemptSource, ExceededLimit, LimitKind};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::encode::Misfit;
use crate::manifest::{DeviceClass, Fps, ModelEntry};
use crate::units::{digits, length, tolerance};

/// Suggested tolerances are this factor above the measured error: a larger tolerance also gives
/// `local-packed` a larger budget, whose error can be above that of the smaller one.
const ACCEPTED: f32 = 1.1;

impl EncodingChoice<'_> {
    /// Returns the error as text: `clip `run`, at 0.5 s, bone `Hand`: trs-packed has an error of
    /// 0.2 mm, but at most 0.1 mm is allowed`.
    pub(super) fn error_text(&self, attempt: &Attempt, miss: &ExceededLimit) -> String {
        let limits = self.limits();
        let model = &attempt.plan.model;
        let bone = model.bones.get(miss.error.bone as usize).map_or("", |bone| &bone.name);
        let (is, allowed) = match miss.kind {
            LimitKind::Encoding => {
                (format!("an error of {}", length(miss.error.max)), length(limits.encoding as f32) + " is allowed")
            }
            LimitKind::Motion => (
                format!("an error of {} between frames", length(miss.error.max)),
                length(limits.motion as f32) + " is allowed",
            ),
            LimitKind::Normal => (
                format!("an error of {} degrees in its normals", digits(miss.error.normal_degrees.into())),
                format!("{} is allowed", digits(limits.normal)),
            ),
            LimitKind::NormalMotion => (
                format!(
                    "an error of {} degrees in its normals between frames",
                    digits(miss.error.normal_degrees.into())
                ),
                format!("{} is allowed", digits(limits.normal)),
            ),
        };
        let place = match miss.kind {
            kind if kind.is_angle() => format!("clip `{}`", model.clips[miss.clip].name),
            _ => format!("clip `{}`, at {:.3} s, bone `{bone}`", model.clips[miss.clip].name, miss.error.time),
        };
        let others = match miss.other_clips {
            0 => String::new(),
            1 => "; another clip exceeds it, too".to_owned(),
            count => format!("; {count} other clips exceed it, too"),
        };
        format!("{place}: {} has {is}, but at most {allowed}{others}", attempt.plan.encoding.name())
    }

    /// Returns an error with suggested settings that would meet the tolerance.
    pub(super) fn rejection(&self, attempt: &Attempt, miss: &ExceededLimit) -> Diagnostic {
        let none = if self.is_automatic() && !miss.kind.is_between() {
            "no encoding meets the tolerance; the closest: "
        } else {
            ""
        };
        if !miss.error.max.is_finite() {
            let model = &attempt.plan.model;
            let bone = model.bones.get(miss.error.bone as usize).map_or("", |bone| &bone.name);
            let (clip, name) = (&model.clips[miss.clip].name, attempt.plan.encoding.name());
            let place = format!("clip `{clip}`, at {:.3} s, bone `{bone}`", miss.error.time);
            return Diagnostic::error(
                DiagnosticCode::EncodingRange,
                format!("{place}: the pose is out of the range of {name}"),
            )
            .clip(clip)
            .bone(bone)
            .help("set `scale` so that the model is in metres, or look for extreme keys");
        }
        if self.source.outline.diagonal == 0.0 && !miss.kind.is_angle() {
            let message = "the rest pose has no size: tolerances are relative to its diagonal, so no error is allowed";
            let help = "look for scales of zero in the rest pose, or set `tolerance` and `motion_tolerance` as lengths";
            return Diagnostic::error(DiagnosticCode::EncodingTolerance, message).help(help);
        }
        let dropped = &self.source.geometry(attempt.plan.encoding).dropped;
        let help = match miss.kind {
            LimitKind::Encoding if dropped.vertices > 0 => format!(
                "{} vertices have more influences than are stored, and lose up to {:.1} % of their weight: limit them in the \
                 modelling tool, or set `tolerance = \"{}\"`",
                dropped.vertices,
                dropped.weight * 100.0,
                tolerance(miss.error.max * ACCEPTED)
            ),
            LimitKind::Encoding => {
                let accepted = format!("`tolerance = \"{}\"`", tolerance(miss.error.max * ACCEPTED));
                match self.automatic_alternative() {
                    Some(encoding) => {
                        format!("set {accepted}, or remove `encoding`: {} meets the tolerances", encoding.name())
                    }
                    None => format!("set {accepted}"),
                }
            }
            LimitKind::Normal => format!("set {}", accepted_angle(miss)),
            LimitKind::Motion | LimitKind::NormalMotion => {
                let accepted = match miss.kind {
                    LimitKind::NormalMotion => accepted_angle(miss),
                    _ => format!("`motion_tolerance = \"{}\"`", tolerance(miss.error.max * ACCEPTED)),
                };
                if self.auto_rates_help(attempt.plan.encoding) {
                    format!("set `fps = \"auto\"` for the model and its clips, or {accepted}")
                } else {
                    format!("set {accepted}: no frame rate of the search reduces the error to the tolerance")
                }
            }
        };
        let model = &attempt.plan.model;
        let diagnostic =
            Diagnostic::error(DiagnosticCode::EncodingTolerance, none.to_owned() + &self.error_text(attempt, miss));
        let diagnostic = diagnostic.clip(&model.clips[miss.clip].name).help(help);
        match model.bones.get(miss.error.bone as usize) {
            Some(bone) if !miss.kind.is_angle() => diagnostic.bone(&bone.name),
            _ => diagnostic,
        }
    }

    /// Returns a warning about a default tolerance that is exceeded; `None` if none is.
    pub(super) fn above_default(&self, attempt: &Attempt) -> Option<Diagnostic> {
        let miss = self.limits().exceeded(&attempt.errors)?;
        let key = miss.kind.key();
        let message = format!("{}; the manifest sets no `{key}`, so it is used", self.error_text(attempt, &miss));
        let value = match miss.kind {
            LimitKind::Normal | LimitKind::NormalMotion => accepted_degrees(&miss),
            LimitKind::Encoding | LimitKind::Motion => tolerance(miss.error.max * ACCEPTED),
        };
        let diagnostic = Diagnostic::warning(DiagnosticCode::EncodingAboveDefault, message)
            .clip(&attempt.plan.model.clips[miss.clip].name);
        Some(diagnostic.help(format!("set `{key} = \"{value}\"` to accept the error, or a smaller value to refuse it")))
    }

    /// Returns a warning about features that an encoding does not have. `reason`: why `local-packed` is
    /// not used.
    pub(super) fn fewer_features(&self, attempt: &Attempt, reason: &str) -> Diagnostic {
        let name = attempt.plan.encoding.name();
        let message = format!(
            "the model is baked as {name}, without layers, live bones, levels of detail and culling, because local-packed \
             does not fit: {reason}"
        );
        Diagnostic::warning(DiagnosticCode::EncodingFewerFeatures, message)
    }

    /// Returns whether `fps = "auto"` meets the tolerances in this encoding, or in `local-packed`.
    fn auto_rates_help(&self, encoding: Encoding) -> bool {
        let mut outline = self.source.outline.clone();
        if outline.clips.iter().all(|clip| clip.fps == Fps::Auto) {
            return false;
        }
        outline.clips.iter_mut().for_each(|clip| clip.fps = Fps::Auto);
        let source = AttemptSource { outline: &outline, ..self.source };
        let choice = EncodingChoice { entry: self.entry, source, options: self.options };
        let local = (choice.is_automatic() && self.entry.devices.contains(&DeviceClass::Compute))
            .then_some(Encoding::LocalPacked)
            .filter(|_| !encoding.is_vertex());
        let mut encodings: Vec<Encoding> = local.into_iter().chain([encoding]).collect();
        encodings.dedup();
        encodings.into_iter().any(|encoding| choice.candidate(encoding, u64::MAX).0.is_ok())
    }

    /// Returns the encoding that would be chosen if none were named, if it meets the tolerances.
    fn automatic_alternative(&self) -> Option<Encoding> {
        if self.is_automatic() {
            return None;
        }
        let entry = ModelEntry { encoding: None, ..self.entry.clone() };
        let options = BakeOptions { encoding: None, explain: false, ..*self.options };
        let choice = EncodingChoice { entry: &entry, source: self.source, options: &options };
        let chosen = choice.make(*self.entry.devices.first()?).ok()?;
        let meets = choice.limits().exceeded(&chosen.attempt.errors).is_none();
        meets.then_some(chosen.attempt.plan.encoding)
    }

    fn is_automatic(&self) -> bool {
        self.entry.encoding.is_none() && self.options.encoding.is_none()
    }

    /// Reports a pose that the encoding cannot store: as a warning if the clip can be shown
    /// nevertheless, else as an error.
    pub(in crate::bake) fn misfit_diagnostic(&self, attempt: &Attempt, clip: usize, misfit: Misfit) -> Diagnostic {
        let (model, encoding) = (&attempt.plan.model, attempt.plan.encoding);
        let (clip, name) = (&model.clips[clip].name, encoding.name());
        match misfit {
            Misfit::Uneven { bone } => {
                let bone = &model.bones[bone].name;
                let message = format!("clip `{clip}` scales bone `{bone}` non-uniformly, which {name} cannot store");
                Diagnostic::warning(DiagnosticCode::EncodingUnevenScale, message).clip(clip).bone(bone)
            }
            Misfit::OutOfRange { bone } => {
                let bone = &model.bones[bone].name;
                let message = format!("clip `{clip}` moves bone `{bone}` out of the range of {name}");
                Diagnostic::error(DiagnosticCode::EncodingRange, message).clip(clip).bone(bone).help(match encoding {
                    Encoding::Fixed16 => {
                        "its limit is 127: set `scale` so that the model is in metres, or use `encoding = \"trs-packed\"`"
                    }
                    Encoding::VatF16 => {
                        "the limit of 16-bit floats is 65,504: set `scale` so that the model is in metres, or use `encoding = \"vat-packed\"`"
                    }
                    _ if encoding.is_vertex() => "set `scale` so that the model is in metres",
                    _ => {
                        "the limit of 16-bit floats is 65,504: set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`"
                    }
                })
            }
        }
    }
}

/// Returns a setting that accepts the error of normals.
fn accepted_angle(miss: &ExceededLimit) -> String {
    format!("`normal_tolerance = \"{}\"`", accepted_degrees(miss))
}

fn accepted_degrees(miss: &ExceededLimit) -> String {
    format!("{} deg", digits(f64::from(miss.error.normal_degrees) * 1.01))
}
