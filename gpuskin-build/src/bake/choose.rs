//! Chooses the encoding for a class of devices: the smallest that meets the tolerances.

mod rates;
mod refusal;

use gpuskin_rt::internals::{Encoding, Packing, VertexFormat};

use super::BakeOptions;
use super::attempt::{Attempt, AttemptSource, ErrorLimits, ExceededLimit, LimitKind};
use super::plan::BakePlan;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::{At, DeviceClass, ModelEntry, Tolerance, Tolerances};
use crate::measure::MeasuredTimes;

/// Reason why an encoding that meets the tolerances is not chosen.
const NOT_SMALLER: &str = "not smaller than the chosen encoding";

/// An encoding that was evaluated, for `bake --explain`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Candidate {
    /// Encoding.
    pub encoding: Encoding,
    /// Bytes of animation and vertices on the GPU.
    pub gpu_bytes: u64,
    /// Bytes of the animation per bone per stored frame; in vertex mode per vertex per stored
    /// frame.
    pub bytes_per_bone_sample: f64,
    /// Errors of each clip; empty if the encoding was rejected before they were measured.
    pub errors: Vec<crate::measure::ClipErrors>,
    /// Reason why the encoding was not chosen; `None` for the chosen one.
    pub refused: Option<String>,
}

/// Inputs of the choice of an encoding for a model.
#[derive(Clone, Copy)]
pub(super) struct EncodingChoice<'a> {
    pub(super) entry: &'a ModelEntry,
    pub(super) source: AttemptSource<'a>,
    pub(super) options: &'a BakeOptions<'a>,
}

impl EncodingChoice<'_> {
    /// Returns the tolerances, with defaults for those that are not set.
    fn limits(&self) -> ErrorLimits {
        limits(&self.entry.tolerances, self.source.outline.diagonal)
    }

    /// Returns the tolerances that the manifest sets; others are infinite.
    fn set_limits(&self) -> ErrorLimits {
        let (limits, set) = (self.limits(), &self.entry.tolerances);
        let or_none = |limit: f64, set: bool| if set { limit } else { f64::INFINITY };
        ErrorLimits {
            encoding: or_none(limits.encoding, set.encoding.is_some()),
            motion: or_none(limits.motion, set.motion.is_some()),
            normal: or_none(limits.normal, set.normal.is_some()),
        }
    }

    /// Encodes the model in the named encoding, or in the smallest that meets the tolerances on
    /// this class of devices. Also returns the other encodings that were evaluated.
    pub(super) fn make(&self, class: DeviceClass) -> Result<(Attempt, Vec<Candidate>), Diagnostic> {
        let named = self.options.encoding.or(self.entry.encoding.as_ref().map(|at| at.value));
        match named {
            Some(encoding) => {
                let attempt = self.named(encoding)?;
                let mut candidates = Vec::new();
                if self.options.explain {
                    let others = readable(class, encoding.is_vertex()).into_iter().filter(|e| *e != encoding);
                    candidates = others
                        .map(|e| self.candidate(e, u64::MAX).1.refused_unless("another encoding is named"))
                        .collect();
                    candidates.insert(0, Candidate::new(&attempt, None));
                }
                Ok((attempt, candidates))
            }
            None => self.smallest_of_modes(class),
        }
    }

    /// Encodes the model in a named encoding. Fails only if an error exceeds a tolerance that the
    /// manifest sets.
    fn named(&self, encoding: Encoding) -> Result<Attempt, Diagnostic> {
        let (rates, _) = self.rates(encoding, u64::MAX)?;
        let set = self.set_limits();
        let any = set.encoding.is_finite() || set.normal.is_finite();
        let mut attempt = Attempt::new(self.source, encoding, &rates, any.then_some(&set))?;
        attempt
            .measure(self.source, if self.options.skip_errors { MeasuredTimes::Some(1) } else { MeasuredTimes::All });
        match set.exceeded(&attempt.errors) {
            Some(miss) => Err(self.rejection(&attempt, &miss)),
            None => Ok(attempt),
        }
    }

    /// Returns the smallest encoding of the modes that the manifest allows. Bones cannot reproduce
    /// morph targets, so if both modes are allowed, a model with morph targets uses vertex mode.
    fn smallest_of_modes(&self, class: DeviceClass) -> Result<(Attempt, Vec<Candidate>), Diagnostic> {
        let smallest = |vertices| self.smallest(readable(class, vertices));
        let model = &self.source.outline.model;
        let morphs = || model.primitives.iter().any(|p| !p.targets.is_empty());
        if self.entry.needs_locals() && class == DeviceClass::Compute {
            return self.smallest(vec![Encoding::LocalPacked]);
        }
        if !self.entry.wants_vertices() {
            return smallest(false);
        }
        if !self.entry.wants_bones() || morphs() {
            return smallest(true);
        }
        let bones = smallest(false);
        match &bones {
            Ok((attempt, _)) if !self.options.explain && self.min_vertex_bytes() >= attempt.gpu_bytes() => bones,
            _ => match (bones, smallest(true)) {
                (Ok(mut a), Ok(mut b)) => {
                    if b.0.gpu_bytes() < a.0.gpu_bytes() {
                        std::mem::swap(&mut a, &mut b);
                    }
                    a.1.extend(b.1.into_iter().map(|c| c.refused_unless(NOT_SMALLER)));
                    Ok(a)
                }
                (bones, Err(_)) => bones,
                (Err(_), vertices) => vertices,
            },
        }
    }

    /// Returns a lower bound of the bytes that vertex mode takes.
    fn min_vertex_bytes(&self) -> u64 {
        let rates = self.lowest_rates();
        Encoding::ALL.into_iter().filter(|e| e.is_vertex()).map(|e| self.min_bytes(e, &rates)).min().unwrap_or(0)
    }

    /// Returns a lower bound of the bytes that an encoding takes on the GPU, known before encoding:
    /// with the given rates and the smallest vertices. Returns 0 if no bound is known.
    fn min_bytes(&self, encoding: Encoding, rates: &[f64]) -> u64 {
        if encoding.needs_compute() {
            return 0;
        }
        let geometry = self.source.geometry(encoding);
        let packing = match (encoding.is_vertex(), encoding.is_exact()) {
            (true, _) => Packing::Static,
            (_, true) => Packing::Full,
            _ => Packing::Narrow,
        };
        let format = VertexFormat { packing, tangent: geometry.tangents, color: geometry.colors };
        let vertices = geometry.vertices.len() * format.stride();
        BakePlan::new(self.source.outline, encoding, rates).map_or(0, |plan| plan.texture_bytes() + vertices as u64)
    }

    /// Returns the encoding with the smallest measured size. Skips encodings whose lower bound is
    /// above the size of one that meets the tolerances.
    fn smallest(&self, encodings: Vec<Encoding>) -> Result<(Attempt, Vec<Candidate>), Diagnostic> {
        let mut chosen: Option<Attempt> = None;
        // The attempt that is closest to the limits.
        let mut nearest: Option<(Distance, Diagnostic)> = None;
        let mut candidates = Vec::new();
        for encoding in encodings {
            let most = chosen.as_ref().filter(|_| !self.options.explain).map_or(u64::MAX, Attempt::gpu_bytes);
            if self.min_bytes(encoding, &self.lowest_rates()) >= most {
                continue;
            }
            let (attempt, candidate) = self.candidate(encoding, most);
            match attempt {
                Ok(attempt) => {
                    if chosen.as_ref().is_none_or(|chosen| attempt.gpu_bytes() < chosen.gpu_bytes()) {
                        chosen = Some(attempt);
                    }
                }
                Err((distance, diagnostic)) => {
                    if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                        nearest = Some((distance, diagnostic));
                    }
                }
            }
            candidates.push(candidate);
        }
        match (chosen, nearest) {
            (Some(attempt), _) => {
                let other =
                    |c: Candidate| if c.encoding == attempt.plan.encoding { c } else { c.refused_unless(NOT_SMALLER) };
                let candidates = candidates.into_iter().map(other).collect();
                Ok((attempt, candidates))
            }
            (None, Some((_, diagnostic))) => Err(diagnostic),
            (None, None) => Err(Diagnostic::error(
                DiagnosticCode::EncodingUnfit,
                "no encoding is available for this class of devices",
            )),
        }
    }

    /// Evaluates an encoding against the limits. Stops as soon as it is known to take at least
    /// `most` bytes. A rejected attempt is returned as a diagnostic with its distance to the
    /// limits.
    fn candidate(&self, encoding: Encoding, most: u64) -> (Result<Attempt, (Distance, Diagnostic)>, Candidate) {
        let limits = self.limits();
        let made = self.rates(encoding, most).and_then(|(rates, made)| match made {
            Some(attempt) => Ok(attempt),
            None => Attempt::new(self.source, encoding, &rates, Some(&limits)),
        });
        let mut attempt = match made {
            Ok(attempt) => attempt,
            Err(diagnostic) => {
                let refused = Some(diagnostic.message().to_owned());
                let none =
                    Candidate { encoding, gpu_bytes: 0, bytes_per_bone_sample: 0.0, errors: Vec::new(), refused };
                return (Err((Distance::FAR, diagnostic)), none);
            }
        };
        if let Some((clip, misfit)) = attempt.misfits.first() {
            let diagnostic = self.misfit_diagnostic(&attempt, *clip, *misfit);
            let candidate = Candidate::new(&attempt, Some(diagnostic.message().to_owned()));
            return (Err((Distance::FAR, diagnostic)), candidate);
        }
        let early = limits.exceeded(attempt.probe(self.source));
        if early.is_none() || self.options.explain {
            attempt.measure(self.source, MeasuredTimes::All);
        }
        match early.or_else(|| limits.exceeded(&attempt.errors)) {
            Some(miss) => {
                let candidate = Candidate::new(&attempt, Some(self.error_text(&attempt, &miss)));
                (Err((Distance::of(&miss), self.rejection(&attempt, &miss))), candidate)
            }
            None => {
                let candidate = Candidate::new(&attempt, None);
                (Ok(attempt), candidate)
            }
        }
    }
}

/// Converts tolerances to the units of errors, with defaults for those that are not set.
pub(super) fn limits(tolerances: &Tolerances, diagonal: f64) -> ErrorLimits {
    let metres =
        |set: &Option<At<Tolerance>>, default: Tolerance| set.as_ref().map_or(default, |at| at.value).metres(diagonal);
    ErrorLimits {
        encoding: metres(&tolerances.encoding, Tolerances::ENCODING),
        motion: metres(&tolerances.motion, Tolerances::MOTION),
        normal: tolerances.normal.as_ref().map_or(Tolerances::NORMAL, |at| at.value),
    }
}

/// Distance of an attempt to the limits, ordered first by the limit that it exceeds. Motion errors
/// count as closest, because more frames reduce them.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Distance(u8, f64);

impl Distance {
    const FAR: Self = Self(u8::MAX, f64::INFINITY);

    fn of(miss: &ExceededLimit) -> Self {
        let kind = match miss.kind {
            LimitKind::Motion => 0,
            LimitKind::Normal => 1,
            LimitKind::Encoding => 2,
        };
        Self(kind, miss.ratio)
    }
}

/// Returns the encodings of a mode that a class of devices supports, usually smallest first; among
/// encodings of equal size the more precise first.
fn readable(class: DeviceClass, vertices: bool) -> Vec<Encoding> {
    let can = |e: &Encoding| e.is_vertex() == vertices && (class == DeviceClass::Compute || !e.needs_compute());
    let mut all: Vec<Encoding> = Encoding::ALL.into_iter().filter(can).collect();
    all.sort_by_key(|e| e.bytes());
    all
}

impl Candidate {
    /// Sets the reason, unless there already is one.
    fn refused_unless(mut self, why: &str) -> Self {
        self.refused.get_or_insert_with(|| why.to_owned());
        self
    }

    fn new(attempt: &Attempt, refused: Option<String>) -> Self {
        let plan = &attempt.plan;
        let samples = plan.frames() * u64::from(plan.texture.rows);
        Self {
            encoding: plan.encoding,
            gpu_bytes: attempt.gpu_bytes(),
            bytes_per_bone_sample: attempt.texels.bytes.len() as f64 / samples.max(1) as f64,
            errors: attempt.errors.clone(),
            refused,
        }
    }
}
