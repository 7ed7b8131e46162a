//! An instance as the GPU has it: where it stands, what it plays and what it fades from, 64 bytes. Twin of
//! `shaders/instance.wgsl`.
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0-2, 3 | translation in metres, scale: `f32` |
//! | 4-5 | unit quaternion x, y, z, w: signed 16 bits each |
//! | 6-7 | when it started: [`Time::words`] |
//! | 8 | rate: 26 bits, shifted left by 5 bits, negative 1 bit |
//! | 9 | where in its cycle it started: 0.32 fixed point |
//! | 10 | clip 10 bits, once 1 bit, ping-pong 1 bit; number of what lies over it, a [`LayerSet`](crate::LayerSet): 20 bits |
//! | 11 | how far its fade was when it started: 16 bits, 65535 is all the way; progress a second: 11 bits, shifted left by 5 bits |
//! | 12 | what it fades from: clip 10 bits, once, ping-pong; 4 bits zero; rate 10 bits, shifted left by 5 bits, negative 1 bit |
//! | 13 | where in its cycle that was: 16 bits; how much of the next it is mixed with: 16 bits |
//! | 14-15 | a second one, likewise; bits 16-18 of the last word: the fade's curve, and whether it stands still |
//!
//! A fade that is interrupted goes on from the mix that is shown: its two clips become what the next one fades from, with
//! the weights that they have at that moment. Where a third would be needed, the one that shows least goes.

use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use crate::playback::{Repeat, clamped_offset, cycle_phase, frame_pair, rate};
use crate::{ClipRecord, Curve, FramePair, Playback, Time};

/// An instance as the shaders read it: four attributes of four words, stepped per instance.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct InstanceRecord {
    /// Where the model's origin stands, metres.
    pub translation: [f32; 3],
    /// Uniform scale, applied first.
    pub scale: f32,
    /// Unit quaternion `x, y, z, w`, signed 16 bits each over 32767.
    pub rotation: [i16; 4],
    start: [u32; 2],
    rate: u32,
    offset: u32,
    clip: u32,
    fade: [u16; 2],
    sources: [Source; 2],
}

/// A clip that fades away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Source {
    clip: u16,
    rate: u16,
    offset: u16,
    /// Of the first: weight of the second in their mix. Of the second: [`CURVE`] and [`PAUSED`].
    extra: u16,
}

const CLIP: u32 = 0x3ff;
const ONCE: u32 = 1 << 10;
const PING_PONG: u32 = 1 << 11;
const CURVE: u16 = 3;
const PAUSED: u16 = 4;
/// Progress of a fade that is over.
const FADED: u16 = u16::MAX;
/// A fade that is over.
pub(crate) const NO_FADE: [u16; 2] = [FADED, 0];
/// First bit of the number of what lies over it, in the word of its clip.
const OVER: u32 = 12;

/// What an instance shows: two frames of the clip that it plays, and of those that it fades from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Of the clip that it plays.
    pub current: FramePair,
    /// Of the clips that it fades from.
    pub sources: [FramePair; 2],
    /// Weight of `current` over the mix of the sources: 1 where nothing fades.
    pub weight: f32,
    /// Weight of the second source in that mix.
    pub older: f32,
}

impl From<FramePair> for Shown {
    /// Nothing fades.
    fn from(current: FramePair) -> Self {
        Self { current, sources: [current; 2], weight: 1.0, older: 0.0 }
    }
}

impl Shown {
    /// What is shown, mixed from what each of the clips shows: the sources with each other, then with the current clip.
    pub fn mix<T>(&self, of: impl Fn(FramePair) -> T, mix: impl Fn(T, T, f32) -> T) -> T {
        let current = of(self.current);
        if self.weight >= 1.0 {
            return current;
        }
        let mut source = of(self.sources[0]);
        if self.older > 0.0 {
            source = mix(source, of(self.sources[1]), self.older);
        }
        mix(source, current, self.weight)
    }
}

impl Default for InstanceRecord {
    /// At the origin, in the first pose of the first clip.
    fn default() -> Self {
        let rotation = [0, 0, 0, i16::MAX];
        Self { scale: 1.0, rotation, fade: [FADED, 0], ..Zeroable::zeroed() }
    }
}

impl InstanceRecord {
    /// At the origin, life-size, playing so; nothing fades.
    pub fn playing(playback: Playback) -> Self {
        Self {
            start: playback.start,
            rate: pack_rate::<26>(playback.rate_bits()),
            offset: playback.offset,
            clip: pack_clip(&playback),
            ..Self::default()
        }
    }

    /// The quaternion, as far from unit length as its 16 bits left it.
    pub fn rotation(&self) -> Vec4 {
        Vec4::from(self.rotation.map(|c| f32::from(c) / 32_767.0))
    }

    /// From the model's space to the world.
    pub fn point(&self, p: Vec3) -> Vec3 {
        Vec3::from(self.translation) + rotate(self.rotation(), p * self.scale)
    }

    /// A direction from the model's space to the world's; keeps its length.
    pub fn direction(&self, d: Vec3) -> Vec3 {
        rotate(self.rotation(), d)
    }

    /// What it plays.
    pub fn playback(&self) -> Playback {
        let rate = if self.is_paused() { 0 } else { unpack_rate::<26>(self.rate) };
        unpack(self.start, rate, self.offset, self.clip)
    }

    /// When it started, or was changed last.
    pub(crate) fn started(&self) -> Time {
        Time::from_words(self.start)
    }

    /// Index of the clip that it plays.
    pub fn clip_index(&self) -> usize {
        (self.clip & CLIP) as usize
    }

    /// Number of the [`LayerSet`](crate::LayerSet) that lies over what it plays, in its crowd, from 1 on; 0 is none.
    pub fn layer_set(&self) -> u32 {
        self.clip >> OVER
    }

    /// The same with another [`InstanceRecord::layer_set`], at most [`LayerSet::MOST`](crate::LayerSet::MOST).
    pub fn with_layer_set(mut self, number: u32) -> Self {
        self.clip = self.clip & ((1 << OVER) - 1) | number << OVER;
        self
    }

    /// Whether it stands still until it is told to go on.
    pub fn is_paused(&self) -> bool {
        self.sources[1].extra & PAUSED != 0
    }

    /// Stands still from `now` on, or goes on.
    pub fn set_paused(&mut self, paused: bool, now: Time) {
        self.rebase(now);
        let extra = &mut self.sources[1].extra;
        *extra = if paused { *extra | PAUSED } else { *extra & !PAUSED };
    }

    /// At the same place, without layers, standing still in a pose of the clip that it plays; `offset`: 0.32 fixed point of the
    /// clip's length.
    pub(crate) fn standing_still(&self, offset: u32) -> Self {
        let Self { translation, scale, rotation, start, .. } = *self;
        Self { translation, scale, rotation, start, offset, clip: self.clip & CLIP, ..Self::default() }
    }

    /// Weight of what it plays over what it fades from: 1 where nothing fades.
    pub fn weight(&self, now: Time) -> f32 {
        self.curve().weight(self.progress(now))
    }

    fn curve(&self) -> Curve {
        Curve::from_bits(self.sources[1].extra & CURVE)
    }

    fn progress(&self, now: Time) -> f32 {
        let elapsed = if self.is_paused() { 0.0 } else { elapsed(Time::from_words(self.start), now) };
        progress(self.fade, elapsed)
    }

    /// Weight of the second source in the mix of both.
    fn older(&self) -> f32 {
        f32::from(self.sources[0].extra) * (1.0 / 65_535.0)
    }

    fn source(&self, i: usize) -> Playback {
        let Source { clip, rate, offset, .. } = self.sources[i];
        let rate = if self.is_paused() { 0 } else { unpack_rate::<10>(rate.into()) };
        unpack(self.start, rate, u32::from(offset) << 16, clip.into())
    }

    /// Indices of the clips that it shows at `now`: what it plays, then what it fades from.
    pub fn clips(&self, now: Time) -> impl Iterator<Item = usize> {
        let fades = self.weight(now) < 1.0;
        let sources = [fades, fades && self.older() > 0.0];
        let sources = [0, 1].map(|i| sources[i].then(|| self.source(i).clip_index()));
        std::iter::once(self.clip_index()).chain(sources.into_iter().flatten())
    }

    /// The frames that it shows at `now`.
    ///
    /// # Panics
    /// If there is no record of a clip that it plays.
    pub fn shown(&self, clips: &[ClipRecord], now: Time) -> Shown {
        let frames = |playback: Playback| frame_pair(&playback, &clips[playback.clip_index()], now);
        let mut shown = Shown::from(frames(self.playback()));
        shown.weight = self.weight(now);
        if shown.weight < 1.0 {
            shown.older = self.older();
            shown.sources = [frames(self.source(0)), shown.current];
            if shown.older > 0.0 {
                shown.sources[1] = frames(self.source(1));
            }
        }
        shown
    }

    /// Starts anew at `now` with what it shows then, so that what it plays can change from there. Before its start it
    /// stays as it is.
    pub fn rebase(&mut self, now: Time) {
        if now <= Time::from_words(self.start) {
            return;
        }
        let at = |playback: Playback| match cycle_phase(&playback, now) {
            (_, true) => u32::MAX,
            (phase, false) => phase,
        };
        let progress = self.progress(now);
        let offsets = [0, 1].map(|i| round_offset(at(self.source(i))));
        self.offset = at(self.playback());
        for (source, offset) in self.sources.iter_mut().zip(offsets) {
            source.offset = offset;
        }
        self.fade = rebased(self.fade, progress);
        self.start = now.words();
    }

    /// Changes the pace from `now` on, without a jump: cycles a second in 32.32 fixed point.
    pub fn set_rate(&mut self, rate: i64, now: Time) {
        self.rebase(now);
        self.rate = pack_rate::<26>(rate);
    }

    /// Goes to a fraction of the clip's length at `now`, held at its ends.
    pub fn seek(&mut self, fraction: f64, now: Time) {
        self.rebase(now);
        self.offset = clamped_offset(fraction.clamp(0.0, 1.0) / self.playback().repeat().lengths());
    }

    /// Whether what it plays has come to an end: the last pose of a clip that does not start over, or the first when it
    /// runs backwards.
    pub fn is_finished(&self, now: Time) -> bool {
        let playback = self.playback();
        let (phase, ended) = cycle_phase(&playback, now);
        playback.repeat() == Repeat::Once
            && match playback.rate_bits() {
                0 => false,
                1.. => ended || phase == u32::MAX,
                _ => phase == 0,
            }
    }

    /// Plays something else from `now` on; `fade`: seconds until nothing is left of what it played. It is not paused.
    pub fn play(&mut self, next: &Playback, fade: f32, curve: Curve, now: Time) {
        self.rebase(now);
        if fade > 0.0 {
            self.fade_away(now);
            self.fade = fade_over(fade);
            self.sources[1].extra = curve.to_bits();
        } else {
            self.fade = [FADED, 0];
            self.sources = Default::default();
        }
        (self.start, self.rate, self.offset) = (now.words(), pack_rate::<26>(next.rate_bits()), next.offset);
        self.clip = self.clip & !(CLIP | ONCE | PING_PONG) | pack_clip(next);
    }

    /// What is shown becomes what is faded from: the two clips with the greatest weights.
    fn fade_away(&mut self, now: Time) {
        let playback = self.playback();
        let current = Source {
            clip: pack_clip(&playback) as u16,
            rate: pack_rate::<10>(playback.rate_bits()) as u16,
            offset: round_offset(playback.offset),
            extra: 0,
        };
        let weight = self.weight(now);
        if weight >= 1.0 {
            self.sources = [current, Source::default()];
            return;
        }
        let [a, b] = self.sources;
        let older = self.older();
        let mut parts = [(weight, current), ((1.0 - weight) * (1.0 - older), a), ((1.0 - weight) * older, b)];
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [(greatest, mut first), (second_greatest, second), _] = parts;
        first.extra = (second_greatest / (greatest + second_greatest) * 65_535.0).round() as u16;
        self.sources = [first, second];
    }
}

/// Seconds from one moment to another, 0 where the other is earlier.
pub(crate) fn elapsed(start: Time, now: Time) -> f32 {
    let [seconds, fraction] = Time::from_bits(now.to_bits().saturating_sub(start.to_bits())).words();
    seconds as f32 + fraction as f32 * (1.0 / 4_294_967_296.0)
}

/// How far a fade is, 0..1: how much of it was done at the start, and its progress a second.
pub(crate) fn progress([at_start, rate]: [u16; 2], elapsed: f32) -> f32 {
    if at_start == FADED {
        return 1.0;
    }
    let rate = unpack_rate::<11>(rate.into()) as f32 * (1.0 / 4_294_967_296.0);
    (f32::from(at_start) * (1.0 / 65_535.0) + elapsed * rate).min(1.0)
}

/// A fade that goes on from where it is.
pub(crate) fn rebased([_, rate]: [u16; 2], progress: f32) -> [u16; 2] {
    if progress >= 1.0 {
        return NO_FADE;
    }
    // Not yet over, however little is left.
    [((progress * 65_535.0).round() as u16).min(FADED - 1), rate]
}

/// A fade over so many seconds, none where that is not above zero.
pub(crate) fn fade_over(seconds: f32) -> [u16; 2] {
    if seconds > 0.0 { [0, pack_rate::<11>(rate(1.0, seconds.into()).max(1)) as u16] } else { NO_FADE }
}

fn unpack(start: [u32; 2], rate: i64, offset: u32, clip: u32) -> Playback {
    let once = if clip & ONCE != 0 { Playback::ONCE } else { 0 };
    let ping_pong = if clip & PING_PONG != 0 { Playback::PING_PONG } else { 0 };
    Playback { start, rate: Time::from_bits(rate as u64).words(), offset, clip: clip & CLIP | once | ping_pong }
}

fn pack_clip(playback: &Playback) -> u32 {
    let once = if playback.clip & Playback::ONCE != 0 { ONCE } else { 0 };
    let ping_pong = if playback.clip & Playback::PING_PONG != 0 { PING_PONG } else { 0 };
    playback.clip & CLIP | once | ping_pong
}

/// To 16 bits; the end of a clip stays its end, and does not become its start.
fn round_offset(offset: u32) -> u16 {
    ((u64::from(offset) + 0x8000) >> 16).min(u16::MAX.into()) as u16
}

/// A rate in 32.32 fixed point as so many bits, shifted left by five bits, and a sign. What is too fast for that runs as
/// fast as it can.
pub(crate) fn pack_rate<const BITS: u32>(rate: i64) -> u32 {
    let rounded = |shift: u32| (u128::from(rate.unsigned_abs()) + (1_u128 << shift >> 1)) >> shift;
    let least = (64 - rate.unsigned_abs().leading_zeros()).saturating_sub(BITS);
    let shift = if rounded(least) >> BITS == 0 { least } else { least + 1 };
    let (mantissa, shift) = if shift < 32 { (rounded(shift) as u32, shift) } else { ((1 << BITS) - 1, 31) };
    mantissa | shift << BITS | u32::from(rate < 0) << (BITS + 5)
}

fn unpack_rate<const BITS: u32>(packed: u32) -> i64 {
    let rate = i64::from(packed & ((1 << BITS) - 1)) << (packed >> BITS & 31);
    if packed >> (BITS + 5) & 1 != 0 { -rate } else { rate }
}

/// Rotation by a quaternion of any length but zero.
pub(crate) fn rotate(q: Vec4, v: Vec3) -> Vec3 {
    let u = q.truncate();
    let inner = u.cross(v) + v * q.w;
    v + u.cross(inner) * (2.0 / q.dot(q))
}

#[cfg(test)]
mod tests;
