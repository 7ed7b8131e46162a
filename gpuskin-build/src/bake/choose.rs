//! Chooses the encoding for a class of devices: `local-packed` if it meets the tolerances, because it
//! has the most features, else the smallest that does.

mod rates;
mod refusal;

use gpuskin_rt::internals::{Encoding, Packing};

use super::BakeOptions;
use super::attempt::{Attempt, AttemptSource, ErrorLimits, ExceededLimit, LimitKind};
use super::plan::BakePlan;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::{At, DeviceClass, ModelEntry, Tolerance, Tolerances};
use crate::measure::MeasuredTimes;

/// Reason why an encoding that meets the tolerances is not chosen.
const NOT_SMALLER: &str = "not smaller than the chosen encoding";
/// Reason why a smaller encoding than `local-packed` is not chosen.
const FEWER_FEATURES: &str = "without layers, live bones, levels of detail and culling";
/// Greatest factor by which `local-packed` may exceed a tolerance that the manifest does not set,
/// before an encoding with fewer features is taken: 1 mm on a model of 2 m.
const YIELD: f64 = 10.0;

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

/// Encoding of a model for a class of devices.
pub(super) struct Choice {
    pub(super) attempt: Attempt,
    /// Encodings that were evaluated.
    pub(super) candidates: Vec<Candidate>,
    /// Warnings about a tolerance that is exceeded and about features that are lost.
    pub(super) warnings: Vec<Diagnostic>,
}

/// An encoding that does not meet the tolerances.
struct Refusal {
    distance: Distance,
    cause: RefusalCause,
}

enum RefusalCause {
    /// The encoding cannot store the model.
    Unfit(Diagnostic),
    /// An error exceeds a limit.
    Missed(Box<Attempt>, ExceededLimit),
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

    /// Whether the manifest sets the tolerance of a kind of error.
    fn is_set(&self, kind: LimitKind) -> bool {
        let set = &self.entry.tolerances;
        match kind {
            LimitKind::Encoding => set.encoding.is_some(),
            LimitKind::Motion => set.motion.is_some(),
            LimitKind::Normal | LimitKind::NormalMotion => set.normal.is_some(),
        }
    }

    /// Encodes the model in the named encoding, or in one that meets the tolerances on this class of
    /// devices: `local-packed` if possible, because it has the most features, else the smallest.
    pub(super) fn make(&self, class: DeviceClass) -> Result<Choice, Diagnostic> {
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
                // Tools that ask for an encoding, and bakes without errors, get no warnings about them.
                let judged = self.options.encoding.is_none() && !self.options.skip_errors;
                let warnings = self.above_default(&attempt).filter(|_| judged).into_iter().collect();
                Ok(Choice { attempt, candidates, warnings })
            }
            None => self.best_of_modes(class),
        }
    }

    /// Encodes the model in a named encoding. Fails only if an error exceeds a tolerance that the
    /// manifest sets.
    fn named(&self, encoding: Encoding) -> Result<Attempt, Diagnostic> {
        let (rates, _) = self.rates(encoding, u64::MAX)?;
        let limits = self.limits();
        let mut attempt = Attempt::new(self.source, encoding, &rates, &limits)?;
        if self.options.skip_errors {
            attempt.measure(self.source, MeasuredTimes::Some(1));
        } else {
            attempt = attempt.measure_and_refine(self.source, &limits)?;
        }
        // Tools that ask for an encoding want to see it, whatever its errors.
        match self.set_limits().exceeded(&attempt.errors).filter(|_| self.options.encoding.is_none()) {
            Some(miss) => Err(self.rejection(&attempt, &miss)),
            None => Ok(attempt),
        }
    }

    /// Returns the best encoding of the modes that the manifest allows. Without morph targets, bones cannot replace
    /// vertices that have some.
    fn best_of_modes(&self, class: DeviceClass) -> Result<Choice, Diagnostic> {
        let best = |vertices| self.best(readable(class, vertices));
        let model = &self.source.outline.model;
        let lost = || !self.entry.morphs && model.primitives.iter().any(|p| !p.targets.is_empty());
        if self.entry.needs_locals() && class == DeviceClass::Compute {
            return self.best(vec![Encoding::LocalPacked]);
        }
        if !self.entry.wants_vertices() {
            return best(false);
        }
        if !self.entry.wants_bones() || lost() {
            return best(true);
        }
        let bones = best(false);
        match &bones {
            Ok(choice) if !self.options.explain && self.min_vertex_bytes() >= choice.attempt.gpu_bytes() => bones,
            _ => match (bones, best(true)) {
                (Ok(mut a), Ok(mut b)) => {
                    if b.attempt.gpu_bytes() < a.attempt.gpu_bytes() {
                        std::mem::swap(&mut a, &mut b);
                    }
                    a.candidates.extend(b.candidates.into_iter().map(|c| c.refused_unless(NOT_SMALLER)));
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
        let vertices = geometry.vertices.len() * geometry.format(packing).stride();
        BakePlan::new(self.source.outline, encoding, rates).map_or(0, |plan| plan.texture_bytes() + vertices as u64)
    }

    /// Returns `local-packed` if it is among the encodings and meets the tolerances, else the encoding
    /// with the smallest measured size. Skips encodings whose lower bound is above the size of one that
    /// meets the tolerances.
    ///
    /// A tolerance that the manifest does not set gives way, with a warning, if no encoding meets it,
    /// or if `local-packed` misses it by a factor of at most [`YIELD`]. Errors between frames give way
    /// at any factor, because other encodings do not reduce them.
    fn best(&self, encodings: Vec<Encoding>) -> Result<Choice, Diagnostic> {
        let mut chosen: Option<Attempt> = None;
        // A default tolerance that gave way.
        let mut above_default = None;
        // The attempt that is closest to the limits; of nearly equal ones the first, which has the most features or is smallest.
        let mut nearest: Option<Refusal> = None;
        // Why the encoding with the most features is not used.
        let mut fewer_features = None;
        let mut candidates = Vec::new();
        for encoding in encodings {
            let most = chosen.as_ref().filter(|_| !self.options.explain).map_or(u64::MAX, Attempt::gpu_bytes);
            let decided = chosen.as_ref().is_some_and(|chosen| chosen.plan.encoding == Encoding::LocalPacked);
            let skipped = decided || self.min_bytes(encoding, &self.lowest_rates()) >= most;
            if skipped && !self.options.explain {
                continue;
            }
            let (made, candidate) = self.candidate(encoding, most);
            candidates.push(candidate);
            match made {
                Ok(attempt) => {
                    if !decided && chosen.as_ref().is_none_or(|chosen| attempt.gpu_bytes() < chosen.gpu_bytes()) {
                        chosen = Some(attempt);
                    }
                }
                Err(refusal) if encoding == Encoding::LocalPacked && self.yields(&refusal, YIELD) => {
                    match self.give_way(refusal) {
                        Ok((attempt, diagnostic)) => (chosen, above_default) = (Some(attempt), diagnostic),
                        // It also exceeds a tolerance that is set, which another encoding may meet.
                        Err(refusal) => {
                            fewer_features = Some(self.reason(&refusal));
                            nearest = Some(refusal);
                        }
                    }
                }
                Err(refusal) => {
                    if encoding == Encoding::LocalPacked {
                        fewer_features = Some(self.reason(&refusal));
                    }
                    if nearest.as_ref().is_none_or(|nearest| refusal.distance.is_well_below(nearest.distance)) {
                        nearest = Some(refusal);
                    }
                }
            }
        }
        let attempt = match (chosen, nearest) {
            (Some(attempt), _) => attempt,
            (None, Some(refusal)) if self.yields(&refusal, f64::MAX) => {
                let (attempt, diagnostic) =
                    self.give_way(refusal).map_err(|refusal| self.refusal_diagnostic(refusal))?;
                above_default = diagnostic;
                attempt
            }
            (None, Some(refusal)) => return Err(self.refusal_diagnostic(refusal)),
            (None, None) => {
                let message = "no encoding is available for this class of devices";
                return Err(Diagnostic::error(DiagnosticCode::EncodingUnfit, message));
            }
        };
        let fewer_features = fewer_features.filter(|_| attempt.plan.encoding != Encoding::LocalPacked);
        let fewer_features = fewer_features.map(|reason| self.fewer_features(&attempt, &reason));
        let warnings = above_default.into_iter().chain(fewer_features).collect();
        let (encoding, bytes) = (attempt.plan.encoding, attempt.gpu_bytes());
        let other = |candidate: Candidate| {
            if candidate.encoding == encoding {
                return Candidate::new(&attempt, None);
            }
            let smaller = candidate.gpu_bytes < bytes && encoding == Encoding::LocalPacked;
            candidate.refused_unless(if smaller { FEWER_FEATURES } else { NOT_SMALLER })
        };
        let candidates = candidates.into_iter().map(other).collect();
        Ok(Choice { attempt, candidates, warnings })
    }

    /// Whether the exceeded tolerance is a default, and exceeded by at most a factor of `most`.
    fn yields(&self, refusal: &Refusal, most: f64) -> bool {
        let RefusalCause::Missed(_, miss) = &refusal.cause else { return false };
        !self.is_set(miss.kind) && (miss.ratio <= most || (miss.kind.is_between() && miss.ratio.is_finite()))
    }

    /// Returns the cause of a refusal as text.
    fn reason(&self, refusal: &Refusal) -> String {
        match &refusal.cause {
            RefusalCause::Unfit(diagnostic) => diagnostic.message().to_owned(),
            RefusalCause::Missed(attempt, miss) => self.error_text(attempt, miss),
        }
    }

    fn refusal_diagnostic(&self, refusal: Refusal) -> Diagnostic {
        match refusal.cause {
            RefusalCause::Unfit(diagnostic) => diagnostic,
            RefusalCause::Missed(mut attempt, miss) => {
                // The suggested tolerance must hold at all frames, not only at those that were probed.
                attempt.measure(self.source, MeasuredTimes::All);
                let miss = self.limits().exceeded(&attempt.errors).unwrap_or(miss);
                self.rejection(&attempt, &miss)
            }
        }
    }

    /// Returns an attempt that exceeds default tolerances, refined and fully measured, and a warning about that; or
    /// a refusal if it exceeds a tolerance that is set.
    fn give_way(&self, refusal: Refusal) -> Result<(Attempt, Option<Diagnostic>), Refusal> {
        let unfit = |diagnostic| Refusal { distance: Distance::FAR, cause: RefusalCause::Unfit(diagnostic) };
        let (mut attempt, miss) = match refusal.cause {
            RefusalCause::Missed(attempt, miss) => (*attempt, miss),
            RefusalCause::Unfit(diagnostic) => return Err(unfit(diagnostic)),
        };
        if miss.kind.is_between() {
            // Frames that do not bring the error below the limit are wasted.
            let rates = self.source.outline.rates();
            attempt = Attempt::new(self.source, attempt.plan.encoding, &rates, &self.limits()).map_err(unfit)?;
        }
        // The error at frames may meet its limit, although another error does not.
        attempt = attempt.measure_and_refine(self.source, &self.limits()).map_err(unfit)?;
        if let Some(miss) = self.set_limits().exceeded(&attempt.errors) {
            let cause = RefusalCause::Missed(Box::new(attempt), miss);
            return Err(Refusal { distance: Distance::of(&miss), cause });
        }
        let warning = self.above_default(&attempt);
        Ok((attempt, warning))
    }

    /// Evaluates an encoding against the limits. Stops as soon as it is known to take at least
    /// `most` bytes.
    fn candidate(&self, encoding: Encoding, most: u64) -> (Result<Attempt, Refusal>, Candidate) {
        let limits = self.limits();
        let made = self.rates(encoding, most).and_then(|(rates, made)| match made {
            Some(attempt) => Ok(attempt),
            None => Attempt::new(self.source, encoding, &rates, &limits),
        });
        let refused = |diagnostic: Diagnostic| {
            let refused = Some(diagnostic.message().to_owned());
            let none = Candidate { encoding, gpu_bytes: 0, bytes_per_bone_sample: 0.0, errors: Vec::new(), refused };
            (Err(Refusal { distance: Distance::FAR, cause: RefusalCause::Unfit(diagnostic) }), none)
        };
        let mut attempt = match made {
            Ok(attempt) => attempt,
            Err(diagnostic) => return refused(diagnostic),
        };
        if let Some((clip, misfit)) = attempt.misfits.first() {
            let diagnostic = self.misfit_diagnostic(&attempt, *clip, *misfit);
            let candidate = Candidate::new(&attempt, Some(diagnostic.message().to_owned()));
            return (Err(Refusal { distance: Distance::FAR, cause: RefusalCause::Unfit(diagnostic) }), candidate);
        }
        let early = limits.exceeded(attempt.probe(self.source));
        if early.is_none() {
            attempt = match attempt.measure_and_refine(self.source, &limits) {
                Ok(attempt) => attempt,
                Err(diagnostic) => return refused(diagnostic),
            };
        } else if self.options.explain {
            attempt.measure(self.source, MeasuredTimes::All);
        }
        match early.or_else(|| limits.exceeded(&attempt.errors)) {
            Some(miss) => {
                let candidate = Candidate::new(&attempt, Some(self.error_text(&attempt, &miss)));
                let cause = RefusalCause::Missed(Box::new(attempt), miss);
                (Err(Refusal { distance: Distance::of(&miss), cause }), candidate)
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

/// Distance of an attempt to the limits, ordered first by the limit that it exceeds. Errors between frames
/// count as closest, because more frames reduce them.
#[derive(Clone, Copy)]
struct Distance(u8, f64);

impl Distance {
    const FAR: Self = Self(u8::MAX, f64::INFINITY);
    /// Ratio of errors up to which they count as equal.
    const EQUAL: f64 = 1.1;

    fn of(miss: &ExceededLimit) -> Self {
        let kind = match miss.kind {
            LimitKind::NormalMotion => 0,
            LimitKind::Motion => 1,
            LimitKind::Normal => 2,
            LimitKind::Encoding => 3,
        };
        Self(kind, miss.ratio)
    }

    /// Whether the distance is less than another, by more than makes up for lost features or bytes.
    fn is_well_below(self, other: Self) -> bool {
        self.0 < other.0 || (self.0 == other.0 && self.1 * Self::EQUAL < other.1)
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
