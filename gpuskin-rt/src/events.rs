//! When a playback comes to the events of its clip: in integers, exact after any time.
//!
//! An event is at the first moment of the clock at which the playback has come to its phase, from either side. An interval
//! `from..to` has its first moment and not its last: intervals that follow each other have every event once, and one that
//! begins where a playback starts has what is at its very start.
//!
//! A playback starts with the events at the phase where it starts. It has none before, none after the end of a clip that is
//! played once, and none where it starts at that end or stands still. An event at either end of a clip that is played to and
//! fro is there once a turn.

use crate::course::{Course, WHOLE};
use crate::playback::Repeat;
use crate::{ClipEvent, ClipInfo, Playback, Time};

impl ClipInfo {
    /// The events that a playback of this clip has within `from..to`, in their order: indices into
    /// [`Metadata::events`](crate::Metadata::events), and when. They are found one by one, so that any time may be asked for.
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

/// The events of a playback within some time, in their order: [`ClipInfo::events_between`].
#[derive(Clone, Debug)]
pub struct Events<'a> {
    strip: Strip<'a>,
    course: Course,
    /// Where on the strip the playback starts.
    origin: u64,
    /// Cycles, and marks of the strip, before the next event.
    cycle: u128,
    mark: usize,
    /// The last way with events.
    last: Option<u128>,
}

impl<'a> Events<'a> {
    /// `events`: those of the clip, by ascending phase.
    pub(crate) fn new(events: &'a [ClipEvent], playback: &Playback, from: Time, to: Time) -> Self {
        Self::of_course(events, Course::of(playback), from, to)
    }

    pub(crate) fn of_course(events: &'a [ClipEvent], course: Course, from: Time, to: Time) -> Self {
        let strip = Strip::new(events, &course);
        let origin = if course.backwards { WHOLE - course.offset } else { course.offset };
        let none = Self { strip, course, origin, cycle: 0, mark: 0, last: None };
        let end = course.end().map(u128::from);
        if strip.len() == 0 || course.stands() || end == Some(0) {
            return none;
        }
        let Some((first, last)) = course.reached(from, to) else { return none };
        let place = first + u128::from(origin);
        let (cycle, within) = (place / u128::from(WHOLE), (place % u128::from(WHOLE)) as u64);
        let last = Some(end.map_or(last, |end| last.min(end)));
        Self { cycle, mark: strip.first_from(within), last, ..none }
    }
}

impl Iterator for Events<'_> {
    /// Index into [`Metadata::events`](crate::Metadata::events), and when.
    type Item = (u16, Time);

    fn next(&mut self) -> Option<Self::Item> {
        let last = self.last?;
        if self.mark == self.strip.len() {
            (self.cycle, self.mark) = (self.cycle + 1, 0);
        }
        let (place, event) = self.strip.get(self.mark);
        let way = self.cycle * u128::from(WHOLE) + u128::from(place) - u128::from(self.origin);
        let time = if way > last { None } else { self.course.moment(way) };
        if time.is_none() {
            self.last = None;
        }
        self.mark += 1;
        Some((event, time?))
    }
}

/// The events of a cycle in the order in which a playback comes to them, each with its distance from the cycle's start.
#[derive(Clone, Copy, Debug)]
struct Strip<'a> {
    events: &'a [ClipEvent],
    /// Events at the clip's start and at its end.
    at_start: usize,
    at_end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Forwards,
    Backwards,
    /// The same in both directions.
    ToAndFro,
}

impl<'a> Strip<'a> {
    fn new(events: &'a [ClipEvent], course: &Course) -> Self {
        let kind = match (course.repeat, course.backwards) {
            (Repeat::PingPong, _) => Kind::ToAndFro,
            (_, false) => Kind::Forwards,
            (_, true) => Kind::Backwards,
        };
        let at_start = events.partition_point(|e| e.phase == 0);
        let at_end = events.len() - events.partition_point(|e| e.phase < u32::MAX);
        Self { events, at_start, at_end, kind }
    }

    fn len(&self) -> usize {
        match self.kind {
            Kind::Forwards | Kind::Backwards => self.events.len(),
            Kind::ToAndFro => 2 * self.events.len() - self.at_start - self.at_end,
        }
    }

    /// Ascending with `mark`, below [`WHOLE`].
    fn get(&self, mark: usize) -> (u64, u16) {
        let count = self.events.len();
        let at = |i: usize| (u64::from(self.events[i].phase), self.events[i].event);
        match self.kind {
            Kind::Forwards => at(mark),
            // The end of a cycle is the start of the next.
            Kind::Backwards if mark < self.at_start => at(mark),
            Kind::Backwards => {
                let (phase, event) = at(count - 1 - (mark - self.at_start));
                (WHOLE - phase, event)
            }
            Kind::ToAndFro if mark < count => {
                let (phase, event) = at(mark);
                (phase.div_ceil(2), event)
            }
            Kind::ToAndFro => {
                let (phase, event) = at(count - 1 - self.at_end - (mark - count));
                (WHOLE - phase.div_ceil(2), event)
            }
        }
    }

    /// The first mark at least so far from the cycle's start.
    fn first_from(&self, place: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.get(middle).0 < place { low = middle + 1 } else { high = middle }
        }
        low
    }
}
