//! Priority queue of tickets by time.

use crate::Time;

/// A time at which a slot has to be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) time: Time,
    pub(super) slot: u32,
    /// Distinguishes tickets of the same slot.
    pub(super) number: u32,
}

/// Number of buckets per row.
const RING: usize = 1024;
/// Number of rows. A bucket is 2^5 times as long as one of the row before; the last row reaches
/// beyond [`Time::MAX`].
const ROWS: usize = 8;
const ROW_SHIFT: u32 = 5;
/// A bucket of the first row covers 2^23 units of [`Time`], 1/512 s.
const TICK_SHIFT: u32 = 23;

const NONE: u32 = u32::MAX;

/// A block of tickets of one bucket.
#[derive(Clone, Copy, Debug)]
struct Sheaf {
    tickets: [Ticket; 15],
    len: u32,
    /// Next block of the bucket, or of the free list.
    next: u32,
}

/// Tickets, sorted into buckets by time.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// First block of each bucket; empty until the first ticket is inserted.
    heads: Vec<u32>,
    /// One bit per bucket: whether it has tickets.
    taken: Vec<u64>,
    sheaves: Vec<Sheaf>,
    first_free: u32,
    /// Number of tickets.
    len: usize,
    /// Current time, in buckets of the first row since the epoch.
    tick: u64,
}

/// Returns the bucket that contains a tick in a row, counted since the epoch.
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

    /// Removes all tickets; keeps the current time.
    pub(super) fn clear(&mut self) {
        *self = Self { tick: self.tick, ..Self::new() };
    }

    /// Inserts a ticket. A ticket for the past goes into the current bucket.
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

    /// Sets the current time, and returns the tickets for times before `until`.
    pub(super) fn advance(&mut self, until: Time, due: &mut Vec<Ticket>) {
        let before = self.tick;
        self.tick = before.max(until.to_bits() >> TICK_SHIFT);
        if self.len == 0 {
            return;
        }
        // Empties the buckets that came within reach of the finer row. The coarsest row goes first,
        // because tickets that move down may move down further.
        for row in (1..ROWS).rev() {
            let end = |tick| (row_tick(tick, row - 1) + RING as u64) >> ROW_SHIFT;
            self.empty(row, end(before), end(self.tick), until, due);
        }
        self.empty(0, before, self.tick + 1, until, due);
    }

    /// Empties the buckets `from..to` of a row, counted since the epoch. Tickets that are not due
    /// are inserted again.
    fn empty(&mut self, row: usize, from: u64, to: u64, until: Time, due: &mut Vec<Ticket>) {
        let count = to.saturating_sub(from).min(RING as u64) as usize;
        let start = from as usize % RING;
        let mut passed = 0;
        while passed < count {
            let bucket = row * RING + (start + passed) % RING;
            let (word, bit) = (bucket / 64, bucket % 64);
            if self.taken[word] >> bit == 0 {
                // No set bit is left in this word.
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
                        if ticket.time < until { due.push(*ticket) } else { self.put(*ticket) }
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
