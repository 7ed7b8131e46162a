//! Events of a playback and their exact times, in integer arithmetic.
//!
//! An event fires at the first time at which the playback reaches its phase, from either direction.
//! An interval `from..to` includes `from` and excludes `to`: consecutive intervals contain every
//! event exactly once, and an interval that begins at the start of a playback contains the events
//! at that start.
//!
//! A playback fires the events at its start phase when it starts. It fires none before its start,
//! none after the end of a clip that plays once, and none if it starts at that end or its rate is
//! 0. In ping-pong, an event at either end of the clip fires once per turn.

use crate::playback::Repeat;
use crate::timeline::{CYCLE, PlaybackTimeline};
use crate::{ClipEvent, ClipInfo, Playback, Time};

impl ClipInfo {
    /// Returns the events that a playback of this clip fires within `from..to`, in order: index
    /// into [`Metadata::events`](crate::Metadata::events), and time. The iterator is lazy, so an
    /// interval may have any length.
    ///
    /// ```
    /// # fn footsteps(clip: &gpuskin_rt::ClipInfo, playback: &gpuskin_rt::Playback, last: gpuskin_rt::Time, now: gpuskin_rt::Time) {
    /// for (event, time) in clip.events_between(playback, last, now) {
    ///     println!("{event} at {:.3} s", time.as_secs());
    /// }
    /// # }
    /// ```
    pub fn events_between(&self, playback: &Playback, from: impl Into<Time>, to: impl Into<Time>) -> Events<'_> {
        Events::new(&self.events, playback, from.into(), to.into())
    }
}

/// Iterator over the events of a playback within an interval: [`ClipInfo::events_between`].
#[derive(Clone, Debug)]
pub struct Events<'a> {
    cycle_events: CycleEvents<'a>,
    timeline: PlaybackTimeline,
    /// Phase in the cycle at which the playback starts.
    origin: u64,
    /// Number of whole cycles before the next event, and its index within the cycle.
    cycle: u128,
    mark: usize,
    /// Last distance that the interval contains; `None` when the iterator is exhausted.
    last: Option<u128>,
}

impl<'a> Events<'a> {
    /// Makes the iterator. `events`: those of the clip, by ascending phase.
    pub(crate) fn new(events: &'a [ClipEvent], playback: &Playback, from: Time, to: Time) -> Self {
        Self::of_timeline(events, PlaybackTimeline::of(playback), from, to)
    }

    pub(crate) fn of_timeline(events: &'a [ClipEvent], timeline: PlaybackTimeline, from: Time, to: Time) -> Self {
        let cycle_events = CycleEvents::new(events, &timeline);
        let origin = if timeline.backwards { CYCLE - timeline.offset } else { timeline.offset };
        let none = Self { cycle_events, timeline, origin, cycle: 0, mark: 0, last: None };
        let end = timeline.end().map(u128::from);
        if cycle_events.len() == 0 || timeline.is_stopped() || end == Some(0) {
            return none;
        }
        let Some((first, last)) = timeline.progress_within(from, to) else { return none };
        let position = first + u128::from(origin);
        let (cycle, within) = (position / u128::from(CYCLE), (position % u128::from(CYCLE)) as u64);
        let last = Some(end.map_or(last, |end| last.min(end)));
        Self { cycle, mark: cycle_events.first_from(within), last, ..none }
    }
}

impl Iterator for Events<'_> {
    /// Index into [`Metadata::events`](crate::Metadata::events), and time.
    type Item = (u16, Time);

    fn next(&mut self) -> Option<Self::Item> {
        let last = self.last?;
        if self.mark == self.cycle_events.len() {
            (self.cycle, self.mark) = (self.cycle + 1, 0);
        }
        let (position, event) = self.cycle_events.get(self.mark);
        let progress = self.cycle * u128::from(CYCLE) + u128::from(position) - u128::from(self.origin);
        let time = if progress > last { None } else { self.timeline.time_at(progress) };
        if time.is_none() {
            self.last = None;
        }
        self.mark += 1;
        Some((event, time?))
    }
}

/// Events of one cycle in the order in which a playback reaches them, each with its distance from
/// the start of the cycle.
#[derive(Clone, Copy, Debug)]
struct CycleEvents<'a> {
    events: &'a [ClipEvent],
    /// Number of events at the clip's start and at its end.
    at_start: usize,
    at_end: usize,
    kind: Direction,
}

#[derive(Clone, Copy, Debug)]
enum Direction {
    Forwards,
    Backwards,
    /// Ping-pong: the order does not depend on the direction.
    PingPong,
}

impl<'a> CycleEvents<'a> {
    fn new(events: &'a [ClipEvent], timeline: &PlaybackTimeline) -> Self {
        let kind = match (timeline.repeat, timeline.backwards) {
            (Repeat::PingPong, _) => Direction::PingPong,
            (_, false) => Direction::Forwards,
            (_, true) => Direction::Backwards,
        };
        let at_start = events.partition_point(|e| e.phase == 0);
        let at_end = events.len() - events.partition_point(|e| e.phase < u32::MAX);
        Self { events, at_start, at_end, kind }
    }

    fn len(&self) -> usize {
        match self.kind {
            Direction::Forwards | Direction::Backwards => self.events.len(),
            Direction::PingPong => 2 * self.events.len() - self.at_start - self.at_end,
        }
    }

    /// Returns distance and event. Distances are below [`CYCLE`] and ascend with `mark`.
    fn get(&self, mark: usize) -> (u64, u16) {
        let count = self.events.len();
        let at = |i: usize| (u64::from(self.events[i].phase), self.events[i].event);
        match self.kind {
            Direction::Forwards => at(mark),
            // The end of a cycle is the start of the next.
            Direction::Backwards if mark < self.at_start => at(mark),
            Direction::Backwards => {
                let (phase, event) = at(count - 1 - (mark - self.at_start));
                (CYCLE - phase, event)
            }
            Direction::PingPong if mark < count => {
                let (phase, event) = at(mark);
                (phase.div_ceil(2), event)
            }
            Direction::PingPong => {
                let (phase, event) = at(count - 1 - self.at_end - (mark - count));
                (CYCLE - phase.div_ceil(2), event)
            }
        }
    }

    /// Returns the first index whose distance from the start of the cycle is at least `position`.
    fn first_from(&self, position: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.get(middle).0 < position { low = middle + 1 } else { high = middle }
        }
        low
    }
}
