//! Who waits for when.

use crate::Time;

/// Somebody waits for a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) time: Time,
    pub(super) slot: u32,
    /// Tells tickets of a slot apart.
    pub(super) number: u32,
}

/// Buckets of a row.
const RING: usize = 1024;
/// Rows. A bucket of each is 2^5 times as long as one of the row before; the last row goes beyond the clock.
const ROWS: usize = 8;
const ROW_SHIFT: u32 = 5;
/// A bucket of the first row is 2^23 units of the clock, 1/512 s.
const TICK_SHIFT: u32 = 23;

const NONE: u32 = u32::MAX;

/// Tickets of a bucket that lie together.
#[derive(Clone, Copy, Debug)]
struct Sheaf {
    tickets: [Ticket; 15],
    len: u32,
    /// The next one of the bucket, or of those that are free.
    next: u32,
}

/// Tickets by time.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// The first sheaf of each bucket; empty as long as there was no ticket.
    heads: Vec<u32>,
    /// A bit a bucket that has tickets.
    taken: Vec<u64>,
    sheaves: Vec<Sheaf>,
    first_free: u32,
    /// Number of tickets.
    len: usize,
    /// The present: buckets of the first row since the epoch.
    tick: u64,
}

/// The bucket of a row in which a tick is, counted since the epoch.
const fn row_tick(tick: u64, row: usize) -> u64 {
    tick >> (ROW_SHIFT * row as u32)
}

impl Calendar {
    pub(super) const fn new() -> Self {
        Self { heads: Vec::new(), taken: Vec::new(), sheaves: Vec::new(), first_free: NONE, len: 0, tick: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all tickets, not the present.
    pub(super) fn clear(&mut self) {
        *self = Self { tick: self.tick, ..Self::new() };
    }

    /// Takes a ticket for its time. What is past is in the present's bucket.
    pub(super) fn put(&mut self, ticket: Ticket) {
        if self.heads.is_empty() {
            self.heads.resize(ROWS * RING, NONE);
            self.taken.resize(ROWS * RING / 64, 0);
        }
        let tick = (ticket.time.to_bits() >> TICK_SHIFT).max(self.tick);
        let reaches = |row: &usize| row_tick(tick, *row) - row_tick(self.tick, *row) < RING as u64;
        let row = (0..ROWS - 1).find(reaches).unwrap_or(ROWS - 1);
        let bucket = row * RING + row_tick(tick, row) as usize % RING;
        let head = self.heads[bucket];
        let room = self.sheaves.get_mut(head as usize).filter(|sheaf| (sheaf.len as usize) < sheaf.tickets.len());
        if let Some(sheaf) = room {
            sheaf.tickets[sheaf.len as usize] = ticket;
            sheaf.len += 1;
        } else {
            let sheaf = Sheaf { tickets: [ticket; 15], len: 1, next: head };
            self.heads[bucket] = self.keep(sheaf);
            self.taken[bucket / 64] |= 1 << (bucket % 64);
        }
        self.len += 1;
    }

    fn keep(&mut self, sheaf: Sheaf) -> u32 {
        let at = self.first_free;
        if at == NONE {
            self.sheaves.push(sheaf);
            return self.sheaves.len() as u32 - 1;
        }
        self.first_free = std::mem::replace(&mut self.sheaves[at as usize], sheaf).next;
        at
    }

    /// Moves the present on, and gives back the tickets for times before `now`.
    pub(super) fn advance(&mut self, now: Time, due: &mut Vec<Ticket>) {
        let before = self.tick;
        self.tick = before.max(now.to_bits() >> TICK_SHIFT);
        if self.len == 0 {
            return;
        }
        // The buckets that have come within the reach of the row before; the coarsest row first, because what comes down
        // may come down further.
        for row in (1..ROWS).rev() {
            let end = |tick| (row_tick(tick, row - 1) + RING as u64) >> ROW_SHIFT;
            self.empty(row, end(before), end(self.tick), now, due);
        }
        self.empty(0, before, self.tick + 1, now, due);
    }

    /// Empties the buckets `from..to` of a row, counted since the epoch. Tickets for later are put where they belong now.
    fn empty(&mut self, row: usize, from: u64, to: u64, now: Time, due: &mut Vec<Ticket>) {
        let count = to.saturating_sub(from).min(RING as u64) as usize;
        let start = from as usize % RING;
        let mut passed = 0;
        while passed < count {
            let bucket = row * RING + (start + passed) % RING;
            let (word, bit) = (bucket / 64, bucket % 64);
            if self.taken[word] >> bit == 0 {
                // The rest of the word at once.
                passed += 64 - bit;
                continue;
            }
            if self.taken[word] >> bit & 1 != 0 {
                self.taken[word] &= !(1 << bit);
                let mut at = std::mem::replace(&mut self.heads[bucket], NONE);
                while at != NONE {
                    let sheaf = self.sheaves[at as usize];
                    self.sheaves[at as usize].next = std::mem::replace(&mut self.first_free, at);
                    self.len -= sheaf.len as usize;
                    for ticket in &sheaf.tickets[..sheaf.len as usize] {
                        if ticket.time < now { due.push(*ticket) } else { self.put(*ticket) }
                    }
                    at = sheaf.next;
                }
            }
            passed += 1;
        }
    }

    /// Drops the tickets that are not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Ticket) -> bool) {
        let mut kept = Vec::new();
        for head in &self.heads {
            let mut at = *head;
            while let Some(sheaf) = self.sheaves.get(at as usize) {
                kept.extend(sheaf.tickets[..sheaf.len as usize].iter().filter(|ticket| wanted(ticket)));
                at = sheaf.next;
            }
        }
        self.clear();
        kept.into_iter().for_each(|ticket| self.put(ticket));
    }
}
