//! Pseudo-random numbers for tests.
#![allow(dead_code, reason = "each test program uses a part of this module")]

use glam::Vec3;

/// Pseudo-random numbers, identical on every machine (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / 16_777_216.0
    }

    pub fn within(&mut self, least: f32, most: f32) -> f32 {
        least + (most - least) * self.unit()
    }

    pub fn below(&mut self, n: u32) -> u32 {
        (self.bits() % u64::from(n)) as u32
    }

    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u32) as usize]
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0))
    }

    pub fn direction(&mut self) -> Vec3 {
        (self.vector() + Vec3::splat(1e-3)).normalize()
    }
}
