//! Search for the frame rates of clips.

use gpuskin_rt::internals::Encoding;

use super::{EncodingChoice, NOT_SMALLER};
use crate::bake::attempt::Attempt;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::frames::rate_ladder;
use crate::manifest::Fps;
use crate::measure;

/// Share of the tolerances between frames that the search aims for. The packing of vertices can change with
/// the rates of other clips, so some margin is needed.
const SEARCH_MARGIN: f64 = 0.98;

impl EncodingChoice<'_> {
    /// Returns the lowest possible rate of each clip: for searched rates, the lowest one that the
    /// search tries.
    pub(super) fn lowest_rates(&self) -> Vec<f64> {
        let outline = self.source.outline;
        let mut rates = outline.rates();
        for ((rate, clip), shape) in rates.iter_mut().zip(&outline.model.clips).zip(&outline.clips) {
            if shape.fps == Fps::Auto {
                *rate = rate_ladder(clip, true, outline.vertices.is_some())[0];
            }
        }
        rates
    }

    /// Returns the rate of each clip. A searched rate is the lowest one whose motion errors are
    /// within the limits, else the highest available one.
    ///
    /// All clips are searched at once: each round encodes and measures the model with the next rate
    /// of every clip. If the rates of the last round are the result, its attempt is returned too.
    /// Fails as soon as the encoding is known to take at least `most` bytes.
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
            if self.min_bytes(encoding, &rates) >= most {
                return Err(Diagnostic::error(DiagnosticCode::EncodingUnfit, NOT_SMALLER));
            }
            for search in &searches {
                rates[search.clip] = search.ladder[search.next];
            }
            let attempt = Attempt::new(self.source, encoding, &rates, &limits)?;
            let probed = attempt.probe(self.source);
            // An encoding error above its limit cannot be reduced by another rate.
            if !named && limits.exceeded(probed).is_some() {
                let source = outline.rates();
                let same = source == rates;
                return Ok((source, same.then_some(attempt)));
            }
            let clips: Vec<usize> = searches.iter().filter(|s| !s.is_over()).map(|s| s.clip).collect();
            let [limit, normal] = [limits.motion, limits.normal].map(|limit| limit * SEARCH_MARGIN);
            let query = measure::MotionQuery { clips: &clips, limit, normal };
            let within = attempt.motion_within(self.source, query);
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

/// Binary search for the rate of a clip.
struct RateSearch {
    clip: usize,
    /// Rates in ascending order; never empty.
    ladder: Vec<f64>,
    /// The result is in `low..=high`, as indices of `ladder`.
    low: usize,
    high: usize,
    /// Index of the next rate to try.
    next: usize,
}

impl RateSearch {
    fn new(clip: usize, ladder: Vec<f64>, fps: Fps) -> Self {
        let high = ladder.len() - 1;
        // The source's own rate is usually sufficient.
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
