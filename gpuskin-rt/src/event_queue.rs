//! The events of many playbacks as they come: what was commanded costs work when it is commanded, and a look at the clock
//! costs as much as it finds.
//!
//! Every playback waits in a bucket for its next event. Buckets are a calendar: 1024 of 2 ms, 1024 of 32 times as long,
//! and so on to the end of the clock, each row a ring that begins at the present. A playback waits in the finest row that
//! reaches as far, and comes down a row when its bucket is within the reach of the finer one, bucket by bucket: no moment
//! has more of this to do than others.

mod calendar;

use calendar::{Calendar, Ticket};

use crate::course::Course;
use crate::events::Events;
use crate::{ClipInfo, Playback, Time};

/// What an [`EventQueue`] tells of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice<K> {
    /// Whose it is.
    pub instance: K,
    /// When it came to it.
    pub time: Time,
    /// What it came to.
    pub kind: NoticeKind,
}

/// What a playback has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// An event of its clip: an index into [`Metadata::events`](crate::Metadata::events).
    Event(u16),
    /// The end of its clip, which it holds from now on.
    Finished,
}

/// Tells what the instances of a model come to.
///
/// An instance has a slot, a small number that only one instance has at a time, and a name of the caller's own that stands
/// in what is told of it. Playbacks that are replaced tell what they came to before; from then on the new one does. One that
/// starts at its end, as one does whose pace is changed after its end, tells no end.
///
/// ```
/// # fn frame(clips: &[gpuskin_rt::ClipInfo], walk: gpuskin_rt::Playback, now: gpuskin_rt::Time) {
/// use gpuskin_rt::EventQueue;
/// let mut queue = EventQueue::new();
/// queue.play(clips, 0, "guard", walk, now);
/// for notice in queue.drain(clips, now + 0.5) {
///     println!("{}: {:?} at {:.3} s", notice.instance, notice.kind, notice.time.as_secs());
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct EventQueue<K> {
    /// By slot.
    entries: Vec<Entry<K>>,
    calendar: Calendar,
    /// Tickets of playbacks that were replaced: nobody looks for them before their time comes.
    stale: usize,
    found: Vec<Notice<K>>,
    /// Of a drain; kept for the next one.
    due: Vec<Ticket>,
    full: bool,
}

/// What is in a slot.
#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    playing: Option<(K, Playback)>,
    /// Of the ticket of this playback, or of the next.
    number: u32,
    /// It has a ticket for this time.
    waits: Option<Time>,
}

/// Most notices of one [`EventQueue::drain`]: what a crowd of a hundred thousand has in some seconds.
pub const MOST_NOTICES: usize = 1 << 20;
/// Stale tickets that there may be beside as many good ones.
const MOST_STALE: usize = 4096;
/// Entries that are fetched at once, each from elsewhere in memory.
const BATCH: usize = 32;

impl<K: Copy> Default for EventQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy> EventQueue<K> {
    /// One that waits for nothing.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            calendar: Calendar::new(),
            stale: 0,
            found: Vec::new(),
            due: Vec::new(),
            full: false,
        }
    }

    /// From `now` on, the instance in a slot has what this playback comes to. `clips`: those of the model.
    pub fn play(&mut self, clips: &[ClipInfo], slot: u32, instance: K, playback: Playback, now: Time) {
        self.stop(clips, slot, now);
        let index = slot as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry { playing: None, number: 0, waits: None });
        }
        let entry = &mut self.entries[index];
        entry.playing = Some((instance, playback));
        entry.waits = first(clips, &playback, now);
        if let Some(time) = entry.waits {
            self.calendar.put(Ticket { time, slot, number: entry.number });
        }
    }

    /// The instance in a slot is gone, or nobody asks about it any more.
    pub fn stop(&mut self, clips: &[ClipInfo], slot: u32, now: Time) {
        let Some(entry) = self.entries.get_mut(slot as usize) else { return };
        let playing = entry.playing.take();
        let Some(time) = entry.waits.take() else { return };
        entry.number = entry.number.wrapping_add(1);
        self.stale += 1;
        if let Some(playing) = playing.filter(|_| time < now) {
            self.tell(clips, &playing, time, now);
        }
        if self.stale > MOST_STALE && self.stale > self.calendar.len() / 2 {
            let entries = &self.entries;
            self.calendar.retain(|ticket| entries[ticket.slot as usize].is_of(ticket));
            self.stale = 0;
        }
    }

    /// All instances are gone, and what they came to is forgotten.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.calendar.clear();
        self.stale = 0;
        self.found.clear();
    }

    /// What all instances have come to before `now` and was not told yet, in the order of time. Each is told once, also
    /// where `now` is earlier than it was.
    ///
    /// A drain has at most [`MOST_NOTICES`]: what is beyond it in a leap of the clock is left out, which
    /// [`EventQueue::overflowed`] then says.
    pub fn drain(&mut self, clips: &[ClipInfo], now: Time) -> std::vec::Drain<'_, Notice<K>> {
        self.full = false;
        let mut due = std::mem::take(&mut self.due);
        self.calendar.advance(now, &mut due);
        let mut batch = Vec::with_capacity(BATCH);
        for tickets in due.chunks(BATCH) {
            batch.clear();
            batch.extend(tickets.iter().map(|ticket| self.entries[ticket.slot as usize]));
            for (ticket, entry) in tickets.iter().zip(&batch) {
                let Some(playing) = entry.playing.filter(|_| entry.is_of(ticket)) else {
                    self.stale -= 1;
                    continue;
                };
                let next = self.tell(clips, &playing, ticket.time, now);
                self.entries[ticket.slot as usize].waits = next;
                if let Some(time) = next {
                    self.calendar.put(Ticket { time, ..*ticket });
                }
            }
        }
        due.clear();
        // What a leap of the clock needed is not kept.
        due.shrink_to(MOST_STALE);
        self.due = due;
        self.found.sort_by_key(|notice| notice.time);
        self.found.drain(..)
    }

    /// Whether the last drain left something out.
    pub fn overflowed(&self) -> bool {
        self.full
    }

    /// Notes what a playback comes to within `from..now`, and says when it comes to something next.
    fn tell(&mut self, clips: &[ClipInfo], playing: &(K, Playback), from: Time, now: Time) -> Option<Time> {
        let (instance, playback) = playing;
        for (kind, time) in what_comes(clips, playback, from) {
            if time >= now {
                return Some(time);
            }
            if self.found.len() >= MOST_NOTICES {
                self.full = true;
                return first(clips, playback, now);
            }
            self.found.push(Notice { instance: *instance, time, kind });
        }
        None
    }
}

impl<K> Entry<K> {
    /// Whether a ticket is that of the playback.
    fn is_of(&self, ticket: &Ticket) -> bool {
        self.waits.is_some() && self.number == ticket.number
    }
}

/// When a playback first comes to something, from a moment on.
fn first(clips: &[ClipInfo], playback: &Playback, from: Time) -> Option<Time> {
    what_comes(clips, playback, from).next().map(|(_, time)| time)
}

/// All that a playback comes to, from a moment on; its end last.
fn what_comes(clips: &[ClipInfo], playback: &Playback, from: Time) -> impl Iterator<Item = (NoticeKind, Time)> {
    let course = Course::of(playback);
    let events = clips.get(playback.clip_index()).map_or(&[][..], |clip| &clip.events);
    let events =
        Events::of_course(events, course, from, Time::MAX).map(|(event, time)| (NoticeKind::Event(event), time));
    // What starts at its end does not come to it.
    let end = course.finish().filter(|end| *end >= from && course.end() != Some(0));
    let end = end.map(|end| (NoticeKind::Finished, end));
    events.chain(end)
}
