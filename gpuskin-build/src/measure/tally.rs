//! What is found at the moments of a clip, and put together.

use glam::Vec3;
use gpuskin_rt::{Aabb, ErrorInfo};
use rayon::prelude::*;

use super::{ClipErrors, Instant};

/// Vertex evaluations in a unit of parallel work.
const WORK_UNIT: usize = 1 << 17;
/// The share of distances that may be greater than the percentile.
const TAIL: f64 = 0.0004;

/// A clip that is measured.
pub(crate) trait Measured: Sync {
    /// When.
    fn instants(&self) -> &[Instant];

    /// What is found at some of these.
    fn run(&self, instants: &[Instant]) -> Tally;

    /// Its tracks with STEP keys.
    fn step_tracks(&self) -> usize;
}

/// The errors of clips, looked at in parallel. `vertices`: evaluated at a moment.
pub(crate) fn measure_all(clips: &[impl Measured], vertices: usize) -> Vec<ClipErrors> {
    let chunk = (WORK_UNIT / vertices.max(1)).max(1);
    let units: Vec<(usize, &[Instant])> =
        clips.iter().enumerate().flat_map(|(i, clip)| clip.instants().chunks(chunk).map(move |c| (i, c))).collect();
    let results: Vec<(usize, Tally)> = units.into_par_iter().map(|(i, part)| (i, clips[i].run(part))).collect();
    let mut tallies: Vec<Tally> = clips.iter().map(|_| Tally::default()).collect();
    results.into_iter().for_each(|(i, tally)| tallies[i].merge(tally));
    clips.iter().zip(tallies).map(|(clip, tally)| tally.finish(clip.step_tracks())).collect()
}

/// Distances of one kind: their greatest, and how they are spread.
#[derive(Default)]
pub(crate) struct Spread {
    greatest: f32,
    at: Option<(f64, usize, u32)>,
    count: u64,
    /// By the upper half of the bits of the squared distance: 0.4 % of the distance a bin.
    bins: Vec<u32>,
    /// Greatest squared chord between normals.
    pub(crate) normal: f32,
}

impl Spread {
    pub(crate) fn add(&mut self, squared: f32, seconds: f64, vertex: usize, bone: u32) {
        // A pose that is no pose is infinitely wrong.
        let squared = if squared.is_nan() { f32::INFINITY } else { squared };
        if self.bins.is_empty() {
            self.bins = vec![0; 1 << 15];
        }
        self.count += 1;
        self.bins[(squared.to_bits() >> 16) as usize & 0x7fff] += 1;
        if squared > self.greatest || self.at.is_none() {
            self.greatest = squared;
            self.at = Some((seconds, vertex, bone));
        }
    }

    pub(crate) fn add_normal(&mut self, chord_squared: f32) {
        self.normal = self.normal.max(chord_squared);
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.normal = self.normal.max(other.normal);
        if other.greatest > self.greatest || self.at.is_none() {
            (self.greatest, self.at) = (other.greatest, other.at);
        }
        if self.bins.is_empty() {
            self.bins = other.bins;
        } else {
            self.bins.iter_mut().zip(other.bins).for_each(|(a, b)| *a = a.saturating_add(b));
        }
    }

    fn finish(&self) -> ErrorInfo {
        let (seconds, vertex, bone) = self.at.unwrap_or_default();
        let mut above = (self.count as f64 * TAIL) as i64;
        let bin = self.bins.iter().rposition(|&n| {
            above -= i64::from(n);
            above < 0
        });
        let edge = bin.map_or(0.0, |bin| f32::from_bits((bin as u32 + 1) << 16));
        let chord = f64::from(self.normal.sqrt());
        ErrorInfo {
            max: self.greatest.sqrt(),
            p9996: edge.min(self.greatest).sqrt(),
            normal_degrees: (2.0 * libm::asin((chord / 2.0).min(1.0))).to_degrees() as f32,
            time: seconds as f32,
            bone,
            vertex: vertex as u32,
        }
    }
}

/// What is found at some times of a clip.
pub(crate) struct Tally {
    pub(crate) encoding: Spread,
    pub(crate) motion: Spread,
    least: Vec3,
    greatest: Vec3,
}

impl Default for Tally {
    fn default() -> Self {
        let (least, greatest) = (Aabb::EMPTY.min.into(), Aabb::EMPTY.max.into());
        Self { encoding: Spread::default(), motion: Spread::default(), least, greatest }
    }
}

impl Tally {
    /// Widens the bounds.
    pub(crate) fn reach(&mut self, position: Vec3) {
        self.least = self.least.min(position);
        self.greatest = self.greatest.max(position);
    }

    fn merge(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.encoding.merge(other.encoding);
        self.motion.merge(other.motion);
    }

    fn finish(self, step_tracks: usize) -> ClipErrors {
        ClipErrors {
            encoding: self.encoding.finish(),
            motion: self.motion.finish(),
            bounds: Aabb { min: self.least.into(), max: self.greatest.into() },
            step_tracks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_leaves_out_the_tail() {
        let mut spread = Spread::default();
        for i in 0..10_000_u32 {
            spread.add((i as f32 * 1e-3).powi(2), f64::from(i), i as usize, 0);
        }
        let info = spread.finish();
        assert!((info.max - 9.999).abs() < 1e-3 && info.vertex == 9999);
        // 4 of 10,000 are above.
        assert!(info.p9996 >= 9.995 * 0.999 && info.p9996 <= 9.995 * 1.005, "{}", info.p9996);
        assert_eq!(Spread::default().finish(), ErrorInfo::default());
    }
}
