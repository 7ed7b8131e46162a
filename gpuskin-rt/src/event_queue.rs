//! Event queue: reports the events of many playbacks in order of time. A command costs work when it
//! is given; a [`EventQueue::drain`] costs work per event that it returns.
//!
//! Every playback waits in a bucket for its next event. The buckets form a calendar: a row of 1024
//! buckets of 2 ms, a row of 1024 buckets 32 times as long, and so on to [`Time::MAX`]. Each row is
//! a ring that starts at the current time. A playback waits in the finest row that reaches far
//! enough, and moves down a row when its bucket comes within reach of the finer one. Buckets move
//! one at a time, so no single drain has to move many.

mod calendar;

use calendar::{Calendar, Ticket};

use crate::events::Events;
use crate::timeline::PlaybackTimeline;
use crate::{ClipInfo, Playback, Time};

/// A fired event: an event that a playback reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiredEvent<K> {
    /// The caller's name of the instance.
    pub instance: K,
    /// Time at which the event fired.
    pub time: Time,
    /// Kind of event.
    pub kind: FiredEventKind,
}

/// Kind of a fired event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiredEventKind {
    /// An event of the clip: an index into [`Metadata::events`](crate::Metadata::events).
    Event(u16),
    /// The end of a clip that plays once. The instance holds its last pose from now on.
    Finished,
    /// The end of a clip that plays once on the layer of this number. The layer holds its last pose until
    /// it is stopped. Only crowds fire it: an [`EventQueue`] knows no layers.
    LayerFinished(u8),
}

/// Collects the fired events of the instances of a model.
///
/// An instance has a slot, a small number that no other instance has at the same time, and a name
/// that the caller chooses and that each fired event carries. Replacing a playback fires the events
/// that the old one reached before; from then on the new one fires. A playback that starts at its
/// end, for example after its rate was changed there, does not fire [`FiredEventKind::Finished`].
///
/// ```
/// # fn frame(clips: &[gpuskin_rt::ClipInfo], walk: gpuskin_rt::Playback, time: gpuskin_rt::Time) {
/// use gpuskin_rt::EventQueue;
/// let mut queue = EventQueue::new();
/// queue.play(clips, 0, "guard", walk, time);
/// for fired in queue.drain(clips, time + 0.5) {
///     println!("{}: {:?} at {:.3} s", fired.instance, fired.kind, fired.time.as_secs());
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct EventQueue<K> {
    /// Playbacks, indexed by slot.
    entries: Vec<QueueSlot<K>>,
    calendar: Calendar,
    /// Number of tickets of playbacks that were replaced. Each is dropped when its time comes.
    stale: usize,
    fired: Vec<FiredEvent<K>>,
    /// Scratch list of [`Self::drain`], kept to reuse its memory.
    due: Vec<Ticket>,
    full: bool,
}

/// Playback in a slot.
#[derive(Clone, Copy, Debug)]
struct QueueSlot<K> {
    playing: Option<(K, Playback)>,
    /// Number of this playback's ticket, or of the next one.
    number: u32,
    /// Time of the playback's ticket, if it has one.
    next_event: Option<Time>,
}

/// Greatest number of fired events per [`EventQueue::drain`]: as many as a crowd of a hundred
/// thousand fires in a few seconds.
#[doc(hidden)]
pub const MAX_FIRED_EVENTS: usize = 1 << 20;
/// Number of stale tickets that is tolerated, if there are at least as many valid ones.
const MAX_STALE: usize = 4096;
/// Number of entries fetched together: each is a random memory access.
const BATCH: usize = 32;

impl<K: Copy> Default for EventQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy> EventQueue<K> {
    /// Makes an empty queue.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            calendar: Calendar::new(),
            stale: 0,
            fired: Vec::new(),
            due: Vec::new(),
            full: false,
        }
    }

    /// Sets the playback of the instance in a slot, from `time` on. `clips`: those of the model.
    pub fn play(&mut self, clips: &[ClipInfo], slot: u32, instance: K, playback: Playback, time: Time) {
        self.stop(clips, slot, time);
        let index = slot as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, QueueSlot { playing: None, number: 0, next_event: None });
        }
        let entry = &mut self.entries[index];
        entry.playing = Some((instance, playback));
        entry.next_event = next_event_time(clips, &playback, time);
        if let Some(time) = entry.next_event {
            self.calendar.put(Ticket { time, slot, number: entry.number });
        }
    }

    /// Removes the instance in a slot.
    pub fn stop(&mut self, clips: &[ClipInfo], slot: u32, time: Time) {
        let Some(entry) = self.entries.get_mut(slot as usize) else { return };
        let playing = entry.playing.take();
        let Some(next_event) = entry.next_event.take() else { return };
        entry.number = entry.number.wrapping_add(1);
        self.stale += 1;
        if let Some(playing) = playing.filter(|_| next_event < time) {
            self.collect(clips, &playing, next_event, time);
        }
        if self.stale > MAX_STALE && self.stale > self.calendar.len() / 2 {
            let entries = &self.entries;
            self.calendar.retain(|ticket| entries[ticket.slot as usize].is_of(ticket));
            self.stale = 0;
        }
    }

    /// Removes all instances and all fired events that were not drained.
    #[doc(hidden)]
    pub fn clear(&mut self) {
        self.entries.clear();
        self.calendar.clear();
        self.stale = 0;
        self.fired.clear();
    }

    /// Returns the events of all instances that fired before `time` and were not returned yet, in
    /// order of time. Each is returned once, even if `time` decreases.
    ///
    /// Returns at most [`MAX_FIRED_EVENTS`]. A jump of the time can fire more; the rest is dropped,
    /// and [`EventQueue::overflowed`] returns true.
    pub fn drain(&mut self, clips: &[ClipInfo], time: Time) -> std::vec::Drain<'_, FiredEvent<K>> {
        self.full = false;
        let mut due = std::mem::take(&mut self.due);
        self.calendar.advance(time, &mut due);
        let mut batch = Vec::with_capacity(BATCH);
        for tickets in due.chunks(BATCH) {
            batch.clear();
            batch.extend(tickets.iter().map(|ticket| self.entries[ticket.slot as usize]));
            for (ticket, entry) in tickets.iter().zip(&batch) {
                let Some(playing) = entry.playing.filter(|_| entry.is_of(ticket)) else {
                    self.stale -= 1;
                    continue;
                };
                let next = self.collect(clips, &playing, ticket.time, time);
                self.entries[ticket.slot as usize].next_event = next;
                if let Some(time) = next {
                    self.calendar.put(Ticket { time, ..*ticket });
                }
            }
        }
        due.clear();
        // Frees the memory that a jump of the time needed.
        due.shrink_to(MAX_STALE);
        self.due = due;
        self.fired.sort_by_key(|fired| fired.time);
        self.fired.drain(..)
    }

    /// Returns whether the last drain dropped events.
    #[doc(hidden)]
    pub fn overflowed(&self) -> bool {
        self.full
    }

    /// Records the events of a playback within `from..until`, and returns the time of its next event.
    fn collect(&mut self, clips: &[ClipInfo], playing: &(K, Playback), from: Time, until: Time) -> Option<Time> {
        let (instance, playback) = playing;
        for (kind, time) in fired_events(clips, playback, from) {
            if time >= until {
                return Some(time);
            }
            if self.fired.len() >= MAX_FIRED_EVENTS {
                self.full = true;
                return next_event_time(clips, playback, until);
            }
            self.fired.push(FiredEvent { instance: *instance, time, kind });
        }
        None
    }
}

impl<K> QueueSlot<K> {
    /// Returns whether a ticket belongs to the current playback.
    fn is_of(&self, ticket: &Ticket) -> bool {
        self.next_event.is_some() && self.number == ticket.number
    }
}

/// Returns the time of the first event of a playback from a time on.
fn next_event_time(clips: &[ClipInfo], playback: &Playback, from: Time) -> Option<Time> {
    fired_events(clips, playback, from).next().map(|(_, time)| time)
}

/// Returns all events of a playback from a time on; its end comes last.
fn fired_events(clips: &[ClipInfo], playback: &Playback, from: Time) -> impl Iterator<Item = (FiredEventKind, Time)> {
    let timeline = PlaybackTimeline::of(playback);
    let events = clips.get(playback.clip_index()).map_or(&[][..], |clip| &clip.events);
    let events = Events::of_timeline(events, timeline, from, Time::MAX)
        .map(|(event, time)| (FiredEventKind::Event(event), time));
    // A playback that starts at its end does not finish.
    let end = timeline.finish().filter(|end| *end >= from && timeline.end() != Some(0));
    let end = end.map(|end| (FiredEventKind::Finished, end));
    events.chain(end)
}
