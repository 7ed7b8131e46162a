//! The frame rates of clips, where they are searched.

use gpuskin_rt::Encoding;

use super::{EncodingChoice, NOT_SMALLER};
use crate::bake::attempt::Attempt;
use crate::diagnostic::{DiagnosticCode, Diagnostic};
use crate::frames::rate_ladder;
use crate::manifest::Fps;
use crate::measure;

/// The share of the motion tolerance that a search for frame rates goes for: how vertices are packed may change with the rates of
/// other clips.
const SEARCH_MARGIN: f64 = 0.98;

impl EncodingChoice<'_> {
    /// The rate of each clip, where it is searched the lowest that is tried.
    pub(super) fn least_rates(&self) -> Vec<f64> {
        let outline = self.source.outline;
        let mut rates = outline.rates();
        for ((rate, clip), shape) in rates.iter_mut().zip(&outline.model.clips).zip(&outline.clips) {
            if shape.fps == Fps::Auto {
                *rate = rate_ladder(clip, true, outline.vertices.is_some())[0];
            }
        }
        rates
    }

    /// The rate of each clip; where it is searched, the lowest at which the motion error is allowed, or the highest that there
    /// is. All clips search at once: each round encodes and measures the model with the rates that are next; where those of
    /// the last are the answer, its attempt comes too. An error where it turns out to take as many bytes as `most`.
    pub(super) fn rates(&self, encoding: Encoding, most: u64) -> Result<(Vec<f64>, Option<Attempt>), Diagnostic> {
        let outline = self.source.outline;
        let mut rates = outline.rates();
        let limits = self.limits();
        let named = self.options.encoding.is_some() || self.entry.encoding.is_some();
        let clips = outline.model.clips.iter().zip(&outline.clips).enumerate();
        let mut searches: Vec<RateSearch> = clips
            .filter(|(_, (_, shape))| shape.fps == Fps::Auto || (shape.fps == Fps::Enough && !named))
            .map(|(index, (clip, shape))| {
                RateSearch::new(index, rate_ladder(clip, shape.fps == Fps::Auto, outline.vertices.is_some()), shape.fps)
            })
            .collect();
        let mut last: Option<(Vec<f64>, Attempt)> = None;
        while searches.iter().any(|search| !search.is_over()) {
            for search in &searches {
                rates[search.clip] = search.ladder[search.low];
            }
            if self.least_bytes(encoding, &rates) >= most {
                return Err(Diagnostic::error(DiagnosticCode::EncodingUnfit, NOT_SMALLER));
            }
            for search in &searches {
                rates[search.clip] = search.ladder[search.next];
            }
            let attempt = Attempt::new(self.source, encoding, &rates, Some(&limits))?;
            let probed = attempt.probe(self.source);
            // What is beyond the limits whatever the rate needs no search.
            if !named && limits.miss(probed).is_some() {
                let source = outline.rates();
                let same = source == rates;
                return Ok((source, same.then_some(attempt)));
            }
            let clips: Vec<usize> = searches.iter().filter(|s| !s.is_over()).map(|s| s.clip).collect();
            let limit = limits.motion * SEARCH_MARGIN;
            let within = attempt.motion_within(self.source, measure::MotionQuery { clips: &clips, limit });
            for (search, within) in searches.iter_mut().filter(|search| !search.is_over()).zip(within) {
                search.step(within);
            }
            last = Some((rates.clone(), attempt));
        }
        for search in &searches {
            rates[search.clip] = search.ladder[search.high];
        }
        let made = last.filter(|(made, _)| *made == rates).map(|(_, attempt)| attempt);
        Ok((rates, made))
    }
}

/// The search of a clip for its rate.
struct RateSearch {
    clip: usize,
    /// Lowest first; never empty.
    ladder: Vec<f64>,
    /// The answer is one of these, the upper one included.
    low: usize,
    high: usize,
    /// To be tried.
    next: usize,
}

impl RateSearch {
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
