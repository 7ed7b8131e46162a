//! Which encoding a class of devices gets: the smallest that meets the tolerances.

use gpuskin_rt::Encoding;

use super::BakeOptions;
use super::attempt::{Attempt, Limits, Miss, MissKind, Source};
use super::plan::Plan;
use crate::encode::Misfit;
use crate::finding::{Code, Finding};
use crate::frames::rate_ladder;
use crate::manifest::{At, DeviceClass, Fps, ModelEntry, Tolerance, Tolerances};
use crate::measure::{self, Times};
use crate::units::{digits, length, tolerance};

/// The share of the motion tolerance that a search for frame rates goes for: it does not look at every vertex.
const SEARCH_MARGIN: f64 = 0.98;

/// An encoding that was looked at, for `bake --explain`.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The encoding.
    pub encoding: Encoding,
    /// Bytes of animation and vertices on the GPU.
    pub gpu_bytes: u64,
    /// Bytes of the animation, over bones or vertices and frames stored.
    pub bytes_a_bone_sample: f64,
    /// Errors of each clip; none where it was out before they were measured.
    pub errors: Vec<crate::measure::ClipErrors>,
    /// Why it was not chosen; `None`: it was.
    pub refused: Option<String>,
}

/// How a model wants to be encoded.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) entry: &'a ModelEntry,
    pub(super) source: Source<'a>,
    pub(super) options: &'a BakeOptions<'a>,
}

impl Choice<'_> {
    /// The tolerances, those that are not set as they are by default.
    fn limits(&self) -> Limits {
        limits(&self.entry.tolerances, self.source.outline.diagonal)
    }

    /// The tolerances that somebody set; others are infinite.
    fn set_limits(&self) -> Limits {
        let (limits, set) = (self.limits(), &self.entry.tolerances);
        let or_none = |limit: f64, set: bool| if set { limit } else { f64::INFINITY };
        Limits {
            encoding: or_none(limits.encoding, set.encoding.is_some()),
            motion: or_none(limits.motion, set.motion.is_some()),
            normal: or_none(limits.normal, set.normal.is_some()),
        }
    }

    /// The model in the encoding that the manifest names, or in the smallest that meets the tolerances on such devices;
    /// and what else was looked at.
    pub(super) fn make(&self, class: DeviceClass) -> Result<(Attempt, Vec<Candidate>), Finding> {
        let named = self.options.encoding.or(self.entry.encoding.as_ref().map(|at| at.value));
        match named {
            Some(encoding) => {
                let attempt = self.named(encoding)?;
                let mut candidates = Vec::new();
                if self.options.explain {
                    let others = readable(class, encoding.is_vertex()).into_iter().filter(|e| *e != encoding);
                    candidates = others.map(|e| self.candidate(e, "another is named").1).collect();
                    candidates.insert(0, Candidate::new(&attempt, None));
                }
                Ok((attempt, candidates))
            }
            None => self.smallest_of_modes(class),
        }
    }

    /// In an encoding that was named, whatever it loses, unless somebody set a tolerance.
    fn named(&self, encoding: Encoding) -> Result<Attempt, Finding> {
        let rates = self.rates(encoding)?;
        let set = self.set_limits();
        let any = set.encoding.is_finite() || set.normal.is_finite();
        let mut attempt = Attempt::new(self.source, encoding, &rates, any.then_some(&set))?;
        attempt.measure(self.source, if self.options.skip_errors { Times::Some(1) } else { Times::All });
        match set.miss(&attempt.errors) {
            Some(miss) => Err(self.missed(&attempt, &miss)),
            None => Ok(attempt),
        }
    }

    /// The smallest of the modes that the manifest allows. Morph targets are nothing that bones show: where both modes are
    /// allowed, they decide.
    fn smallest_of_modes(&self, class: DeviceClass) -> Result<(Attempt, Vec<Candidate>), Finding> {
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
            Ok((attempt, _)) if !self.options.explain && self.least_of_vertices() > attempt.gpu_bytes() => bones,
            _ => match (bones, smallest(true)) {
                (Ok(mut a), Ok(mut b)) => {
                    if b.0.gpu_bytes() < a.0.gpu_bytes() {
                        std::mem::swap(&mut a, &mut b);
                    }
                    let greater = |mut c: Candidate| {
                        c.refused.get_or_insert("greater than the chosen one".to_owned());
                        c
                    };
                    a.1.extend(b.1.into_iter().map(greater));
                    Ok(a)
                }
                (bones, Err(_)) => bones,
                (Err(_), vertices) => vertices,
            },
        }
    }

    /// Bytes that baked vertices take at the least; 0 where their frames are searched.
    fn least_of_vertices(&self) -> u64 {
        let outline = self.source.outline;
        let searched = outline.clips.iter().any(|clip| clip.fps == Fps::Auto);
        let plan = Plan::new(outline, Encoding::VatPacked, &outline.rates());
        plan.map_or(0, |plan| if searched { 0 } else { plan.texture_bytes() })
    }

    fn smallest(&self, encodings: Vec<Encoding>) -> Result<(Attempt, Vec<Candidate>), Finding> {
        let mut chosen: Option<Attempt> = None;
        // The attempt that comes nearest to what is allowed.
        let mut nearest: Option<(Distance, Finding)> = None;
        let mut candidates = Vec::new();
        for encoding in encodings {
            let why_not = match &chosen {
                Some(_) if !self.options.explain => break,
                Some(_) => "greater than the chosen one",
                None => "",
            };
            let (attempt, mut candidate) = self.candidate(encoding, why_not);
            if chosen.is_none() {
                match attempt {
                    Ok(attempt) => {
                        candidate.refused = None;
                        chosen = Some(attempt);
                    }
                    Err((distance, finding)) => {
                        if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                            nearest = Some((distance, finding));
                        }
                    }
                }
            }
            candidates.push(candidate);
        }
        match (chosen, nearest) {
            (Some(attempt), _) => Ok((attempt, candidates)),
            (None, Some((_, finding))) => Err(finding),
            (None, None) => Err(Finding::error(Code::EncodingUnfit, "no encoding is there for such devices")),
        }
    }

    /// Tries an encoding against the limits. An attempt that is out comes as a finding, and by how much it is out.
    fn candidate(&self, encoding: Encoding, why_not: &str) -> (Result<Attempt, (Distance, Finding)>, Candidate) {
        let limits = self.limits();
        let made = self.rates(encoding).and_then(|rates| Attempt::new(self.source, encoding, &rates, Some(&limits)));
        let mut attempt = match made {
            Ok(attempt) => attempt,
            Err(finding) => {
                let refused = Some(finding.message().to_owned());
                let none = Candidate { encoding, gpu_bytes: 0, bytes_a_bone_sample: 0.0, errors: Vec::new(), refused };
                return (Err((Distance::FAR, finding)), none);
            }
        };
        if let Some((clip, misfit)) = attempt.misfits.first() {
            let finding = self.misfit(&attempt, *clip, *misfit);
            let candidate = Candidate::new(&attempt, Some(finding.message().to_owned()));
            return (Err((Distance::FAR, finding)), candidate);
        }
        let early = limits.miss(&attempt.probe(self.source));
        if early.is_none() || self.options.explain {
            attempt.measure(self.source, Times::All);
        }
        match early.or_else(|| limits.miss(&attempt.errors)) {
            Some(miss) => {
                let candidate = Candidate::new(&attempt, Some(self.off(&attempt, &miss)));
                (Err((Distance::of(&miss), self.missed(&attempt, &miss))), candidate)
            }
            None => {
                let candidate = Candidate::new(&attempt, Some(why_not.to_owned()));
                (Ok(attempt), candidate)
            }
        }
    }

    /// The rate of each clip; where it is searched, the lowest at which the motion error is allowed, or the highest that there
    /// is. All clips search at once: each round encodes and measures the model with the rates that are next.
    fn rates(&self, encoding: Encoding) -> Result<Vec<f64>, Finding> {
        let outline = self.source.outline;
        let mut rates = outline.rates();
        let limits = self.limits();
        let named = self.options.encoding.is_some() || self.entry.encoding.is_some();
        let clips = outline.model.clips.iter().zip(&outline.clips).enumerate();
        let mut searches: Vec<Search> = clips
            .filter(|(_, (_, shape))| shape.fps == Fps::Auto || (shape.fps == Fps::Enough && !named))
            .map(|(index, (clip, shape))| {
                Search::new(index, rate_ladder(clip, shape.fps == Fps::Auto, outline.vertices.is_some()), shape.fps)
            })
            .collect();
        while searches.iter().any(|search| !search.is_over()) {
            for search in &searches {
                rates[search.clip] = search.ladder[search.next];
            }
            let attempt = Attempt::new(self.source, encoding, &rates, Some(&limits))?;
            let probed = attempt.probe(self.source);
            // What is beyond the limits whatever the rate needs no search.
            if !named && limits.miss(&probed).is_some() {
                return Ok(outline.rates());
            }
            let slack = probed.iter().fold(0.0, |worst: f64, e| worst.max(e.encoding.max.into()));
            let clips: Vec<usize> = searches.iter().filter(|s| !s.is_over()).map(|s| s.clip).collect();
            let limit = limits.motion * SEARCH_MARGIN;
            let within = attempt.motion_within(self.source, measure::Search { clips: &clips, limit, slack });
            for (search, within) in searches.iter_mut().filter(|search| !search.is_over()).zip(within) {
                search.step(within);
            }
        }
        for search in &searches {
            rates[search.clip] = search.ladder[search.high];
        }
        Ok(rates)
    }

    /// `clip `run`, at 0.5 s, bone `Hand`: trs-packed is 0.2 mm off, and 0.1 mm are allowed`.
    fn off(&self, attempt: &Attempt, miss: &Miss) -> String {
        let limits = self.limits();
        let model = &attempt.plan.model;
        let bone = model.bones.get(miss.error.bone as usize).map_or("", |bone| &bone.name);
        let (is, allowed) = match miss.kind {
            MissKind::Encoding => {
                (format!("{} off", length(miss.error.max)), length(limits.encoding as f32) + " are allowed")
            }
            MissKind::Motion => (
                format!("{} off between frames", length(miss.error.max)),
                length(limits.motion as f32) + " are allowed",
            ),
            MissKind::Normal => (
                format!("{} degrees off in its normals", digits(miss.error.normal_degrees.into())),
                format!("{} are allowed", digits(limits.normal)),
            ),
        };
        let place = match miss.kind {
            MissKind::Normal => format!("clip `{}`", model.clips[miss.clip].name),
            _ => format!("clip `{}`, at {:.3} s, bone `{bone}`", model.clips[miss.clip].name, miss.error.time),
        };
        format!("{place}: {} is {is}, and {allowed}", attempt.plan.encoding.name())
    }

    /// An error that says what would do.
    fn missed(&self, attempt: &Attempt, miss: &Miss) -> Finding {
        let none = if self.entry.encoding.is_none() && self.options.encoding.is_none() && miss.kind != MissKind::Motion
        {
            "no encoding meets the tolerance; the nearest: "
        } else {
            ""
        };
        if !miss.error.max.is_finite() {
            let model = &attempt.plan.model;
            let bone = model.bones.get(miss.error.bone as usize).map_or("", |bone| &bone.name);
            let (clip, name) = (&model.clips[miss.clip].name, attempt.plan.encoding.name());
            let place = format!("clip `{clip}`, at {:.3} s, bone `{bone}`", miss.error.time);
            return Finding::error(Code::EncodingRange, format!("{place}: the pose is out of the range of {name}"))
                .clip(clip)
                .bone(bone)
                .help("set `scale` so that the model is in metres, or look for keys that are far off");
        }
        let dropped = &self.source.geometry(attempt.plan.encoding).dropped;
        let help = match miss.kind {
            MissKind::Encoding if dropped.vertices > 0 => format!(
                "{} vertices have more influences than are kept, and lose up to {:.1} % of their weight: limit them in the \
                 modelling tool, or set `tolerance = \"{}\"`",
                dropped.vertices,
                dropped.weight * 100.0,
                tolerance(miss.error.max)
            ),
            MissKind::Encoding => {
                format!("set `tolerance = \"{}\"`, or name a more precise `encoding`", tolerance(miss.error.max))
            }
            MissKind::Normal => {
                format!("set `normal_tolerance = \"{} deg\"`", digits(f64::from(miss.error.normal_degrees) * 1.01))
            }
            MissKind::Motion => {
                // Chords miss an arc by the square of their length.
                let rate = attempt.plan.grids[miss.clip].rate() * miss.ratio.sqrt();
                format!(
                    "set `fps = \"auto\"` or about `fps = {:.0}` for this clip, or `motion_tolerance = \"{}\"`",
                    rate.ceil(),
                    tolerance(miss.error.max)
                )
            }
        };
        let model = &attempt.plan.model;
        let finding = Finding::error(Code::EncodingTolerance, none.to_owned() + &self.off(attempt, miss));
        let finding = finding.clip(&model.clips[miss.clip].name).help(help);
        match model.bones.get(miss.error.bone as usize) {
            Some(bone) if miss.kind != MissKind::Normal => finding.bone(&bone.name),
            _ => finding,
        }
    }

    /// What an encoding cannot hold: a warning where it is shown nevertheless, an error where it is not.
    pub(super) fn misfit(&self, attempt: &Attempt, clip: usize, misfit: Misfit) -> Finding {
        let (model, encoding) = (&attempt.plan.model, attempt.plan.encoding);
        let (clip, name) = (&model.clips[clip].name, encoding.name());
        match misfit {
            Misfit::Uneven { bone } => {
                let bone = &model.bones[bone].name;
                let message = format!("clip `{clip}` scales bone `{bone}` unevenly, which {name} cannot hold");
                Finding::warning(Code::EncodingUneven, message).clip(clip).bone(bone)
            }
            Misfit::OutOfRange { bone } => {
                let bone = &model.bones[bone].name;
                let message = format!("clip `{clip}` takes bone `{bone}` out of the range of {name}");
                Finding::error(Code::EncodingRange, message).clip(clip).bone(bone).help(match encoding {
                    Encoding::Fixed16 => {
                        "it reaches 127: set `scale` so that the model is in metres, or use `encoding = \"trs-packed\"`"
                    }
                    Encoding::VatF16 => {
                        "halves reach 65,504: set `scale` so that the model is in metres, or use `encoding = \"vat-packed\"`"
                    }
                    _ if encoding.is_vertex() => "set `scale` so that the model is in metres",
                    _ => {
                        "halves reach 65,504: set `scale` so that the model is in metres, or use `encoding = \"matrix-f32\"`"
                    }
                })
            }
        }
    }
}

/// The search of a clip for its rate.
struct Search {
    clip: usize,
    /// Lowest first; never empty.
    ladder: Vec<f64>,
    /// The answer is one of these, the upper one included.
    low: usize,
    high: usize,
    /// To be tried.
    next: usize,
}

impl Search {
    fn new(clip: usize, ladder: Vec<f64>, fps: Fps) -> Self {
        let high = ladder.len() - 1;
        // The source's own rate is mostly enough.
        let next = if fps == Fps::Auto { high / 2 } else { 0 };
        Self { clip, ladder, low: 0, high, next }
    }

    fn is_over(&self) -> bool {
        self.low == self.high
    }

    fn step(&mut self, enough: bool) {
        if enough {
            self.high = self.next;
        } else {
            self.low = self.next + 1;
        }
        self.next = (self.low + self.high) / 2;
    }
}

/// Tolerances in the units of errors, those that are not set as they are by default.
pub(super) fn limits(tolerances: &Tolerances, diagonal: f64) -> Limits {
    let metres =
        |set: &Option<At<Tolerance>>, default: Tolerance| set.as_ref().map_or(default, |at| at.value).metres(diagonal);
    Limits {
        encoding: metres(&tolerances.encoding, Tolerances::ENCODING),
        motion: metres(&tolerances.motion, Tolerances::MOTION),
        normal: tolerances.normal.as_ref().map_or(Tolerances::NORMAL, |at| at.value),
    }
}

/// How far an attempt is from what is allowed: first by what it misses. One that is off between frames only is nearest, because
/// more frames mend it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Distance(u8, f64);

impl Distance {
    const FAR: Self = Self(u8::MAX, f64::INFINITY);

    fn of(miss: &Miss) -> Self {
        let kind = match miss.kind {
            MissKind::Motion => 0,
            MissKind::Normal => 1,
            MissKind::Encoding => 2,
        };
        Self(kind, miss.ratio)
    }
}

/// What such devices can play of bones or of vertices, the smallest first, of equals the more precise.
fn readable(class: DeviceClass, vertices: bool) -> Vec<Encoding> {
    let can = |e: &Encoding| e.is_vertex() == vertices && (class == DeviceClass::Compute || !e.needs_compute());
    let mut all: Vec<Encoding> = Encoding::ALL.into_iter().filter(can).collect();
    all.sort_by_key(|e| e.bytes());
    all
}

impl Candidate {
    fn new(attempt: &Attempt, refused: Option<String>) -> Self {
        let plan = &attempt.plan;
        let frames: u64 = plan.grids.iter().map(|g| u64::from(g.stored)).sum();
        let samples = frames * u64::from(plan.texture.rows);
        Self {
            encoding: plan.encoding,
            gpu_bytes: attempt.gpu_bytes(),
            bytes_a_bone_sample: attempt.texels.bytes.len() as f64 / samples.max(1) as f64,
            errors: attempt.errors.clone(),
            refused,
        }
    }
}
