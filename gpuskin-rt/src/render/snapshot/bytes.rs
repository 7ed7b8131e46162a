//! Format of snapshots. All numbers are little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `gpuskinC` |
//! | 4 | version: 5 |
//! | 4 | zero |
//! | 8 | checksum of all bytes after it |
//! | 8 | time of the snapshot: [`Time::to_bits`] |
//! | | names of clips, masks, parts and variants: four lists |
//! | 4, 4, 4 | number of instances, number of layer sets, number of motions |
//! | 72 each | records of the instances, in drawing order |
//! | 20 each | appearances of the instances |
//! | 132 each | layer sets: index of the instance, words of the set |
//! | 88 each | motions: index of the instance, origin and rotation in `f64`, velocity and turn rate in `f32`, start time, 1 if the instance follows its root motion |
//!
//! A list of names has its length in 4 bytes, then for each name its length in 2 bytes and its UTF-8.

use std::collections::HashMap;

use glam::{DQuat, DVec3};

use crate::motion::{MotionState, Playing};
use crate::{Appearance, ClipInfo, InstanceRecord, LayerSet, Metadata, Motion, Time};

const MAGIC: [u8; 8] = *b"gpuskinC";
const VERSION: u32 = 5;
/// First byte that the checksum covers.
const CHECKED: usize = 24;
const SET_BYTES: usize = 4 * LayerSet::WORDS;
const MOTION_BYTES: usize = 84;
const CUT_OFF: &str = "the snapshot is cut off";

/// Names that instances refer to by index.
#[derive(Debug, PartialEq)]
pub(super) struct Names<'a> {
    clips: Vec<&'a str>,
    masks: Vec<&'a str>,
    parts: Vec<&'a str>,
    variants: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(meta: &'a Metadata) -> Self {
        Self {
            clips: meta.clips.iter().map(|clip| &*clip.name).collect(),
            masks: meta.masks.iter().map(|mask| &*mask.name).collect(),
            parts: meta.parts.iter().map(|part| &**part).collect(),
            variants: meta.variants().collect(),
        }
    }
}

/// State of a crowd, read from a snapshot.
#[derive(Debug)]
pub(super) struct SnapshotState<'a> {
    names: Names<'a>,
    time: Time,
    pub(super) records: Vec<InstanceRecord>,
    pub(super) appearances: Vec<Appearance>,
    /// Layer sets, each with the index of its instance.
    pub(super) layers: Vec<(u32, LayerSet)>,
    /// Motions, each with the index of its instance; where it starts is in the world.
    pub(super) motions: Vec<(u32, MotionState)>,
}

/// Writes a snapshot. `layers` and `motions`: each with the index of its instance.
pub(super) fn write(
    names: &Names<'_>,
    time: Time,
    records: impl ExactSizeIterator<Item = InstanceRecord>,
    appearances: impl ExactSizeIterator<Item = Appearance>,
    layers: impl Iterator<Item = (u32, LayerSet)>,
    motions: impl Iterator<Item = (u32, MotionState)>,
) -> Vec<u8> {
    let layers: Vec<_> = layers.collect();
    let motions: Vec<_> = motions.collect();
    let lists = [&names.clips, &names.masks, &names.parts, &names.variants];
    let of_names: usize = lists.iter().flat_map(|list| list.iter()).map(|name| name.len() + 2).sum();
    // Exact, because the pages of a larger copy can cost more time than all of the writing.
    let length = CHECKED
        + 36
        + of_names
        + records.len() * size_of::<InstanceRecord>()
        + appearances.len() * size_of::<Appearance>();
    let length = length + layers.len() * (4 + SET_BYTES) + motions.len() * (4 + MOTION_BYTES);
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; CHECKED - 12]);
    bytes.extend(time.to_bits().to_le_bytes());
    for list in lists {
        bytes.extend((list.len() as u32).to_le_bytes());
        for name in list {
            // Names are identifiers of at most a few hundred bytes.
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
    }
    bytes.extend((records.len() as u32).to_le_bytes());
    bytes.extend((layers.len() as u32).to_le_bytes());
    bytes.extend((motions.len() as u32).to_le_bytes());
    records.for_each(|record| bytes.extend_from_slice(bytemuck::bytes_of(&record)));
    appearances.for_each(|appearance| bytes.extend_from_slice(bytemuck::bytes_of(&appearance)));
    for (index, set) in layers {
        bytes.extend(index.to_le_bytes());
        bytes.extend(set.words().into_iter().flat_map(u32::to_le_bytes));
    }
    for (index, MotionState { origin, rotation, motion, start }) in motions {
        bytes.extend(index.to_le_bytes());
        let exact = origin.to_array().into_iter().chain(rotation.to_array());
        bytes.extend(exact.flat_map(f64::to_le_bytes));
        bytes.extend(motion.velocity.into_iter().chain([motion.turn_rate]).flat_map(f32::to_le_bytes));
        bytes.extend(start.to_bits().to_le_bytes());
        bytes.extend(u32::from(motion.follows_root).to_le_bytes());
    }
    let sum = checksum(&bytes[CHECKED..]);
    bytes[CHECKED - 8..CHECKED].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Returns a checksum that finds accidental damage: four FNV-1a hashes of 64-bit words side by side.
fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut sums = [0xcbf2_9ce4_8422_2325_u64; 4];
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum = (*sum ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(23);
        }
    }
    let all = sums.into_iter().chain(rest.iter().map(|byte| u64::from(*byte)));
    all.fold(bytes.len() as u64, |sum, word| (sum ^ word).wrapping_mul(PRIME).rotate_left(23))
}

/// Unread bytes of a snapshot.
struct Unread<'a>(&'a [u8]);

impl<'a> Unread<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(CUT_OFF)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| CUT_OFF.to_owned())
    }

    fn number(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn names(&mut self) -> Result<Vec<&'a str>, String> {
        let mut names = Vec::new();
        for _ in 0..self.number()? {
            let length = u16::from_le_bytes(self.array()?);
            let name = core::str::from_utf8(self.take(length.into())?).map_err(|_| "a name is not UTF-8")?;
            names.push(name);
        }
        Ok(names)
    }

    fn motion(&mut self) -> Result<MotionState, String> {
        let mut exact = || self.array().map(f64::from_le_bytes);
        let [x, y, z] = [exact()?, exact()?, exact()?];
        let rotation = DQuat::from_xyzw(exact()?, exact()?, exact()?, exact()?);
        let mut number = || self.array().map(f32::from_le_bytes);
        let velocity = [number()?, number()?, number()?];
        let turn_rate = number()?;
        let start = Time::from_bits(u64::from_le_bytes(self.array()?));
        let motion = Motion { velocity, turn_rate, follows_root: self.number()? != 0 };
        let state = MotionState { origin: DVec3::new(x, y, z), rotation, motion: motion.finite(), start };
        let sound = state.origin.is_finite() && (rotation.length_squared() - 1.0).abs() < 1e-6;
        if sound { Ok(state) } else { Err("a motion has numbers that are not finite".into()) }
    }

    /// Takes a number of elements; the bytes need no alignment.
    fn list<T: bytemuck::AnyBitPattern>(&mut self, count: u32) -> Result<Vec<T>, String> {
        let bytes = (count as usize).checked_mul(size_of::<T>()).ok_or(CUT_OFF)?;
        Ok(self.take(bytes)?.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }
}

impl<'a> SnapshotState<'a> {
    /// Reads and checks a snapshot. Returns the reason if it is damaged.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut unread = Unread(bytes);
        if unread.array()? != MAGIC {
            return Err("these are not the bytes of a snapshot".into());
        }
        let version = unread.number()?;
        if version != VERSION {
            return Err(format!("the snapshot has version {version}; this build reads version {VERSION}"));
        }
        unread.number()?;
        if u64::from_le_bytes(unread.array()?) != checksum(unread.0) {
            return Err("the checksum does not match: the snapshot is damaged or cut off".into());
        }
        let time = Time::from_bits(u64::from_le_bytes(unread.array()?));
        let [clips, masks, parts, variants] = [unread.names()?, unread.names()?, unread.names()?, unread.names()?];
        let names = Names { clips, masks, parts, variants };
        let (count, sets, moving) = (unread.number()?, unread.number()?, unread.number()?);
        let mut records: Vec<InstanceRecord> = unread.list(count)?;
        let appearances = unread.list(count)?;
        for record in &mut records {
            record.set_transform(record.transform().finite());
            *record = record.with_layer_set(0);
        }
        let mut layers: Vec<(u32, LayerSet)> = Vec::new();
        for _ in 0..sets {
            let index = unread.number()?;
            let words = unread.array::<SET_BYTES>()?;
            if index >= count || layers.last().is_some_and(|(last, _)| *last >= index) {
                return Err("the layers of an instance do not exist, or are there twice".into());
            }
            let words = words.as_chunks::<4>().0;
            layers.push((index, LayerSet::from_words(&core::array::from_fn(|i| u32::from_le_bytes(words[i])))));
        }
        let mut motions: Vec<(u32, MotionState)> = Vec::new();
        for _ in 0..moving {
            let index = unread.number()?;
            if index >= count || motions.last().is_some_and(|(last, _)| *last >= index) {
                return Err("the motion of an instance does not exist, or is there twice".into());
            }
            motions.push((index, unread.motion()?));
        }
        if !unread.0.is_empty() {
            return Err("the snapshot is longer than its instances".into());
        }
        Ok(Self { names, time, records, appearances, layers, motions })
    }

    /// Replaces indices of clips, masks, parts and variants by those of a bake with other names or another order.
    pub(super) fn rename(&mut self, names: &Names<'_>) -> Result<(), String> {
        let find = |old: &[&str], new: &[&str]| -> Vec<Option<u16>> {
            // With equal names, the first one.
            let places: HashMap<&str, u16> = new.iter().enumerate().rev().map(|(i, name)| (*name, i as u16)).collect();
            old.iter().map(|name| places.get(name).copied()).collect()
        };
        let clips = find(&self.names.clips, &names.clips);
        let masks = find(&self.names.masks, &names.masks);
        let parts = find(&self.names.parts, &names.parts);
        let clip = |index: u16| clips.get(usize::from(index)).copied().flatten();
        let mask = |index: u16| masks.get(usize::from(index)).copied().flatten();
        let missing = |what: &str, names: &[&str], index: u16| match names.get(usize::from(index)) {
            Some(name) => format!("the model has no {what} `{name}` any more, which an instance uses"),
            None => format!("an instance uses {what} {index}, which the snapshot does not name"),
        };
        for record in &mut self.records {
            record.map_clips(clip).map_err(|index| missing("clip", &self.names.clips, index))?;
        }
        for (_, set) in &mut self.layers {
            set.map_clips(clip).map_err(|index| missing("clip", &self.names.clips, index))?;
            set.map_masks(mask).map_err(|index| missing("mask", &self.names.masks, index))?;
        }
        if self.names.variants != names.variants {
            let variants = find(&self.names.variants, &names.variants);
            for appearance in &mut self.appearances {
                // An instance whose variant no longer exists has the model's own look.
                let moved = variants.get(appearance.variant as usize).copied().flatten();
                appearance.variant = moved.unwrap_or(0).into();
            }
        }
        if self.names.parts != names.parts {
            let all = (0..Appearance::MAX_PARTS as u8).fold(0, |bits, part| bits | Appearance::part_bit(part));
            for appearance in &mut self.appearances {
                let hidden = appearance.hidden;
                let moved = parts.iter().enumerate().filter_map(|(old, new)| {
                    let bit = Appearance::part_bit(u8::try_from(old).ok()?);
                    (hidden & bit != 0).then_some(Appearance::part_bit(u8::try_from((*new)?).ok()?))
                });
                appearance.hidden = moved.fold(hidden & !all, |bits, bit| bits | bit);
            }
        }
        Ok(())
    }

    /// Moves all times by the difference between the time of the snapshot and `time`. `clips`: those of the model.
    pub(super) fn move_to(&mut self, time: Time, clips: &[ClipInfo]) {
        for (index, state) in &mut self.motions {
            let record = self.records[*index as usize];
            *state = state.moved_in_time(self.time, time, &Playing { record, clips, terrain: None });
        }
        for record in &mut self.records {
            record.move_in_time(self.time, time);
        }
        for (_, set) in &mut self.layers {
            set.move_in_time(self.time, time);
        }
        self.time = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Playback, Transform, Transition};

    fn names() -> Names<'static> {
        Names {
            clips: vec!["idle", "run", "die"],
            masks: vec!["upper"],
            parts: vec!["sword", "shield"],
            variants: vec!["base", "veteran", "recruit"],
        }
    }

    fn playing(clip: u32, start: f64) -> InstanceRecord {
        let playback = Playback { clip, start: Time::from_secs(start).words(), ..InstanceRecord::default().playback() };
        InstanceRecord::playing(playback)
    }

    fn place(state: &MotionState, time: Time) -> [f32; 3] {
        state.transform(time, &Playing { record: InstanceRecord::default(), clips: &[], terrain: None }).translation
    }

    /// Returns a snapshot of three instances; the second one has layers.
    fn snapshot() -> (Vec<u8>, Vec<InstanceRecord>, LayerSet) {
        let mut records = vec![playing(0, 1.0), playing(1, 2.5), playing(2, 9.0)];
        records[1].play(&playing(2, 3.0).playback(), 0.5, Curve::EaseIn, Time::from_secs(3.0));
        records[2].set_paused(true, Time::from_secs(9.5));
        let mut set = LayerSet::default();
        set.play(1, &playing(1, 9.0).playback(), Some(0), &Transition::crossfade(0.7), 0.8, Time::from_secs(9.0));
        let hidden = Appearance { hidden: Appearance::part_bit(1) | Appearance::INVISIBLE_BIT, ..Default::default() };
        let appearances =
            [Appearance::default(), hidden, Appearance { custom: [7, 8], variant: 2, ..Default::default() }];
        let walk = MotionState::new(Transform::at([1.0, 2.0, 3.0]), Motion::forwards(2.0), Time::from_secs(9.5));
        let all = records.iter().copied();
        let (layers, motions) = ([(1, set)].into_iter(), [(2, walk)].into_iter());
        let bytes = write(&names(), Time::from_secs(10.0), all, appearances.into_iter(), layers, motions);
        assert_eq!(bytes.len(), bytes.capacity(), "the length is known before");
        (bytes, records, set)
    }

    #[test]
    fn snapshots_are_read_to_the_bit() {
        let (bytes, records, set) = snapshot();
        let mut state = SnapshotState::read(&bytes).unwrap();
        state.rename(&names()).unwrap();
        state.move_to(Time::from_secs(10.0), &[]);
        assert_eq!((&state.records, &state.layers), (&records, &vec![(1, set)]));
        assert_eq!((state.appearances[2].custom, state.appearances[2].variant), ([7, 8], 2));
        let (index, walk) = state.motions[0];
        assert_eq!((index, place(&walk, Time::from_secs(10.5))), (2, [1.0, 2.0, 5.0]));
    }

    #[test]
    fn later_and_earlier_times_continue_the_playback() {
        let (bytes, records, set) = snapshot();
        let then = Time::from_secs(10.25);
        for now in [Time::from_secs(1234.5), Time::from_secs(9.75), Time::ZERO] {
            let mut state = SnapshotState::read(&bytes).unwrap();
            state.move_to(now, &[]);
            let later = now + 0.25;
            for (old, new) in records.iter().zip(&state.records) {
                let phase = |record: &InstanceRecord, time| crate::playback::cycle_phase(&record.playback(), time).0;
                let apart = phase(old, then).abs_diff(phase(new, later));
                assert!(apart <= 1, "{now:?}: {apart}");
                assert!((old.weight(then) - new.weight(later)).abs() < 1e-4, "{now:?}");
            }
            assert_eq!(state.layers[0].1.is_over(later), set.is_over(then));
            assert_eq!(place(&state.motions[0].1, later), [1.0, 2.0, 4.5]);
        }
    }

    #[test]
    fn indices_follow_names() {
        let (bytes, ..) = snapshot();
        let mut state = SnapshotState::read(&bytes).unwrap();
        let other = Names {
            clips: vec!["run", "walk", "die", "idle"],
            masks: vec!["legs", "upper"],
            parts: vec!["shield"],
            variants: vec!["base", "recruit"],
        };
        state.rename(&other).unwrap();
        assert_eq!([0, 1, 2].map(|i| state.records[i].clip_index()), [3, 2, 2]);
        assert_eq!(state.appearances[1].hidden, Appearance::part_bit(0) | Appearance::INVISIBLE_BIT);
        assert_eq!([0, 2].map(|i| state.appearances[i].variant), [0, 1]);
        let words = state.layers[0].1.words();
        assert_eq!((words[16] & 0x3fff, words[16] >> 16 & 0x1ff), (0, 2), "clip `run`, and mask `upper` plus one");
        let mut state = SnapshotState::read(&bytes).unwrap();
        let error = state.rename(&Names { clips: vec!["idle", "run"], ..names() }).unwrap_err();
        assert!(error.contains("`die`"), "{error}");
    }

    #[test]
    fn damage_is_found() {
        let (bytes, ..) = snapshot();
        for length in 0..bytes.len() {
            assert!(SnapshotState::read(&bytes[..length]).is_err(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            // Only the four unused bytes of the header may differ.
            assert!(SnapshotState::read(&damaged).is_err() || (12..16).contains(&at), "byte {at}");
        }
        // Bytes with a correct checksum, but absurd numbers.
        for at in (CHECKED..bytes.len() - 4).step_by(2) {
            let mut hostile = bytes.clone();
            hostile[at..at + 4].copy_from_slice(&[0xff; 4]);
            let sum = checksum(&hostile[CHECKED..]);
            hostile[CHECKED - 8..CHECKED].copy_from_slice(&sum.to_le_bytes());
            if let Ok(mut state) = SnapshotState::read(&hostile)
                && state.rename(&names()).is_ok()
            {
                state.move_to(Time::from_secs(3.0), &[]);
                assert!(state.records.iter().all(|record| record.clip_index() < 3 && record.scale.is_finite()));
            }
        }
    }
}
