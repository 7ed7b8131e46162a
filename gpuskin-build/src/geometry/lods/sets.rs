//! Disjoint sets of numbers from 0 on, which are joined (R. E. Tarjan 1975, "Efficiency of a Good But Not Linear Set Union
//! Algorithm", with halved paths).

/// Sets of the numbers below their count.
#[derive(Default)]
pub(super) struct DisjointSets {
    /// Another number of the set of each, or itself if it stands for the set.
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Makes sets of one number each.
    pub(super) fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    /// Adds the next number, in a set of its own, and returns it.
    pub(super) fn add(&mut self) -> u32 {
        let next = self.parents.len() as u32;
        self.parents.push(next);
        next
    }

    /// Joins the sets of two numbers.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.least(a), self.least(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Returns the least number of the set of a number.
    pub(super) fn least(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize] as usize;
            self.parents[number as usize] = self.parents[parent];
            number = self.parents[number as usize];
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_numbers_share_the_least() {
        let mut sets = DisjointSets::new(6);
        for (a, b) in [(5, 3), (1, 4), (3, 4), (4, 5)] {
            sets.join(a, b);
        }
        assert_eq!(sets.add(), 6);
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|number| sets.least(number)), [0, 1, 2, 1, 1, 1, 6]);
    }
}
