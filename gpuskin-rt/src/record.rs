//! Instance record: transform, current clip and fading clips of an instance. The GPU has where an
//! instance is and how it looks ([`PlaceRecord`], 32 bytes) and what it plays ([`PlaybackRecord`],
//! 48 bytes) in a buffer each, so that moving an instance does not write what it plays. CPU reference
//! of `shaders/instance.wgsl`.
//!
//! Words of a place record:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0-2, 3 | translation in metres, scale: `f32` |
//! | 4-5 | unit quaternion x, y, z, w: signed 16 bits each |
//! | 6-7 | tint and hidden parts: of the [`Appearance`](crate::Appearance) |
//!
//! Words of a playback record:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0-1 | start time: [`Time::words`] |
//! | 2 | playback rate: 26 bits, left shift 5 bits, sign 1 bit |
//! | 3 | phase in the cycle at the start time: 0.32 fixed point |
//! | 4 | clip 14 bits, once 1 bit, ping-pong 1 bit; number of the [`LayerSet`](crate::LayerSet): lower 16 bits |
//! | 5 | progress of the crossfade at the start time: 16 bits, 65535 is complete; progress per second: 11 bits, left shift 5 bits |
//! | 6 | first fading clip: clip 14 bits, once, ping-pong; rate 10 bits, left shift 5 bits, sign 1 bit |
//! | 7 | its phase at the start time: 16 bits; weight of the second fading clip in the mix of both: 16 bits |
//! | 8-9 | second fading clip, same layout; last half-word: curve of the crossfade 2 bits, whether the instance is paused 1 bit, number of the layer set: upper 4 bits, variant 8 bits: of the [`Appearance`](crate::Appearance) |
//! | 10-11 | custom words: of the [`Appearance`](crate::Appearance) |
//!
//! An interrupted crossfade continues from the current blend: its two clips become the fading clips
//! of the next crossfade, with their weights at that time. A record holds two fading clips; if
//! there would be a third, the one with the least weight is dropped.

use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use crate::bit_fields::{
    CLIP, FADE_CURVE, FADE_RATE, FADING_RATE, LAYER_SET_HIGH, LAYER_SET_LOW, MODEL_VARIANT, ONCE, PAUSED, PING_PONG,
    RATE,
};
use crate::playback::{Repeat, clamped_offset, cycle_phase, frame_pair, rate};
use crate::transform::{packed_rotation, unpacked_rotation};
use crate::{Clip, ClipRecord, Curve, FramePair, Metadata, Playback, Time, Transform, Transition};

/// State of an instance: its transform, and what it plays. 72 bytes of plain data.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct InstanceRecord {
    /// Position of the model's origin. World space, metres.
    pub translation: [f32; 3],
    /// Uniform scale, applied before the rotation.
    pub scale: f32,
    /// Unit quaternion `x, y, z, w`, from model space to world space.
    pub rotation: [f32; 4],
    start: [u32; 2],
    rate: u32,
    offset: u32,
    clip: u32,
    fade: [u16; 2],
    sources: [Source; 2],
}

/// Transform and appearance of an instance, as the shaders read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PlaceRecord {
    translation: [f32; 3],
    scale: f32,
    rotation: [i16; 4],
    tint: [u8; 4],
    hidden: u32,
}

#[cfg(any(feature = "wgpu", test))]
impl PlaceRecord {
    pub(crate) fn new(transform: Transform, appearance: &crate::Appearance) -> Self {
        let mut record = Self { tint: appearance.tint, hidden: appearance.hidden, ..Self::default() };
        record.set_transform(transform);
        record
    }

    /// Returns the transform; its rotation is within 0.004 degrees of the one that was set.
    pub(crate) fn transform(&self) -> Transform {
        Transform { translation: self.translation, scale: self.scale, rotation: unpacked_rotation(self.rotation) }
    }

    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    pub(crate) fn translation(&self) -> [f32; 3] {
        self.translation
    }

    pub(crate) fn set_transform(&mut self, Transform { translation, scale, rotation }: Transform) {
        (self.translation, self.scale) = (translation, scale);
        self.rotation = packed_rotation(rotation);
    }

    /// Sets the transform to [`Transform::finite`] of one. Returns whether that is the same.
    pub(crate) fn set_finite(&mut self, transform: &Transform) -> bool {
        // Two calls, so that no copy of the usual transform is made.
        let same = transform.is_finite();
        if same {
            self.set_transform(*transform);
        } else {
            self.set_transform(transform.replaced());
        }
        same
    }

    /// Sets the transforms of records to [`Transform::finite`] of each. Returns whether all are the same.
    pub(crate) fn set_all(records: &mut [Self], transforms: &[Transform]) -> bool {
        let set_each = |records: &mut [Self], transforms: &[Transform]| {
            records.iter_mut().zip(transforms).fold(true, |all, (record, transform)| all & record.set_finite(transform))
        };
        let (fours, rest) = records.as_chunks_mut::<4>();
        let (of_fours, of_rest) = transforms.as_chunks::<4>();
        let mut all = true;
        for (records, transforms) in fours.iter_mut().zip(of_fours) {
            if Transform::are_finite(transforms) {
                records.iter_mut().zip(transforms).for_each(|(record, transform)| record.set_transform(*transform));
            } else {
                all &= set_each(records, transforms);
            }
        }
        all & set_each(rest, of_rest)
    }

    /// Returns the appearance, with the words of what the instance plays.
    pub(crate) fn appearance(&self, playback: &PlaybackRecord) -> crate::Appearance {
        let (custom, variant) = played_appearance(playback);
        crate::Appearance { tint: self.tint, hidden: self.hidden, custom, variant }
    }

    pub(crate) fn set_appearance(&mut self, appearance: &crate::Appearance) {
        (self.tint, self.hidden) = (appearance.tint, appearance.hidden);
    }
}

/// Clips of an instance, as the shaders read them: an [`InstanceRecord`] without its transform, then
/// the custom words of its appearance.
pub(crate) type PlaybackRecord = [u32; 12];

/// Returns the parts of an appearance that a playback record has: the custom words, and the number of the variant.
#[cfg(any(feature = "wgpu", test))]
pub(crate) fn played_appearance(playback: &PlaybackRecord) -> ([u32; 2], u32) {
    ([playback[10], playback[11]], MODEL_VARIANT.of(playback[9] >> 16))
}

/// Returns the number of the layer set in a playback record; 0: none.
#[cfg(feature = "wgpu")]
pub(crate) fn layer_set(playback: &PlaybackRecord) -> u32 {
    layer_set_number(playback[4], playback[9] >> 16)
}

/// Greatest number of a layer set.
pub(crate) const MAX_LAYER_SET: u32 = (LAYER_SET_HIGH.most() << LAYER_SET_LOW.bits()) | LAYER_SET_LOW.most();

/// Returns the number of the layer set from word 4 of a playback record and its last half-word.
fn layer_set_number(clip: u32, last: u32) -> u32 {
    LAYER_SET_HIGH.of(last) << LAYER_SET_LOW.bits() | LAYER_SET_LOW.of(clip)
}

/// A clip that fades out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Source {
    clip: u16,
    rate: u16,
    offset: u16,
    /// In the first fading clip: weight of the second one in the mix of both. In the second:
    /// [`FADE_CURVE`], [`PAUSED`] and [`LAYER_SET_HIGH`].
    extra: u16,
}

/// Number of bits of the mantissas of rates, for [`pack_rate`].
const RATE_BITS: u32 = RATE.bits();
const FADING_RATE_BITS: u32 = FADING_RATE.bits();
const FADE_RATE_BITS: u32 = FADE_RATE.bits();
/// Progress of a completed crossfade.
const FADED: u16 = u16::MAX;
/// Fade words of a completed crossfade.
pub(crate) const NO_FADE: [u16; 2] = [FADED, 0];
/// A pose blend: two frames of the current clip, and of up to two fading clips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseBlend {
    /// Frames of the current clip.
    #[doc(hidden)]
    pub current: FramePair,
    /// Frames of the fading clips.
    #[doc(hidden)]
    pub sources: [FramePair; 2],
    /// Weight of `current` against the mix of the fading clips: 1 without a crossfade.
    #[doc(hidden)]
    pub weight: f32,
    /// Weight of the second fading clip in the mix of both.
    #[doc(hidden)]
    pub older: f32,
}

impl From<FramePair> for PoseBlend {
    /// Makes a blend without a crossfade.
    fn from(current: FramePair) -> Self {
        Self { current, sources: [current; 2], weight: 1.0, older: 0.0 }
    }
}

impl PoseBlend {
    /// Blends the values of all clips: first the fading clips with each other, then the result with
    /// the current clip. `of` returns the value of two frames; `mix` interpolates.
    #[doc(hidden)]
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
    /// An instance at the origin, in the first pose of the first clip.
    fn default() -> Self {
        Self { scale: 1.0, rotation: [0.0, 0.0, 0.0, 1.0], fade: [FADED, 0], ..Zeroable::zeroed() }
    }
}

impl InstanceRecord {
    /// Makes an instance at the origin with scale 1 and the given playback, without a crossfade.
    #[doc(hidden)]
    pub fn playing(playback: Playback) -> Self {
        Self {
            start: playback.start,
            rate: pack_rate::<RATE_BITS>(playback.rate_bits()),
            offset: playback.offset,
            clip: pack_clip(&playback),
            ..Self::default()
        }
    }

    /// Makes a record from a transform and what the instance plays, without the words of its appearance.
    pub(crate) fn new(Transform { translation, scale, rotation }: Transform, playback: PlaybackRecord) -> Self {
        let [start, start_fraction, rate, offset, clip, fade, a, b, c, d, ..] = playback;
        Self {
            translation,
            scale,
            rotation,
            start: [start, start_fraction],
            rate,
            offset,
            clip,
            fade: bytemuck::cast(fade),
            sources: bytemuck::cast([a, b, c, d & !(MODEL_VARIANT.mask() << 16)]),
        }
    }

    /// Returns what the instance plays, with the custom words and the variant of its appearance.
    pub(crate) fn played(self, (custom, variant): ([u32; 2], u32)) -> PlaybackRecord {
        let Self { start, rate, offset, clip, fade, sources, .. } = self;
        let [a, b, c, d]: [u32; 4] = bytemuck::cast(sources);
        let last = d & !(MODEL_VARIANT.mask() << 16) | MODEL_VARIANT.word(variant) << 16;
        [start[0], start[1], rate, offset, clip, bytemuck::cast(fade), a, b, c, last, custom[0], custom[1]]
    }

    /// Returns the transform.
    pub fn transform(&self) -> Transform {
        Transform { translation: self.translation, scale: self.scale, rotation: self.rotation }
    }

    /// Replaces the transform; its rotation is rounded to 16 bits per component, as the shaders read it.
    pub fn set_transform(&mut self, transform: Transform) {
        (self.translation, self.scale) = (transform.translation, transform.scale);
        self.rotation = unpacked_rotation(packed_rotation(transform.rotation));
    }

    /// Returns the rotation, a quaternion close to unit length.
    pub(crate) fn rotation(&self) -> Vec4 {
        Vec4::from(self.rotation)
    }

    /// Transforms a point from model space to world space.
    #[doc(hidden)]
    pub fn point(&self, p: Vec3) -> Vec3 {
        Vec3::from(self.translation) + rotate(self.rotation(), p * self.scale)
    }

    /// Rotates a direction from model space to world space; keeps its length.
    #[doc(hidden)]
    pub fn direction(&self, d: Vec3) -> Vec3 {
        rotate(self.rotation(), d)
    }

    /// Returns the playback of the current clip.
    pub fn playback(&self) -> Playback {
        let rate = if self.is_paused() { 0 } else { unpack_rate::<RATE_BITS>(self.rate) };
        unpack(self.start, rate, self.offset, self.clip)
    }

    /// Returns the time of the start or of the last change.
    pub(crate) fn started(&self) -> Time {
        Time::from_words(self.start)
    }

    /// Moves the start so that the record plays at `to` as it did at `from`: exactly, unless the start
    /// would be before [`Time::ZERO`]; then phases are rounded.
    #[cfg(feature = "wgpu")]
    pub(crate) fn move_in_time(&mut self, from: Time, to: Time) {
        let shift = to.to_bits().abs_diff(from.to_bits());
        if to < from && self.started().to_bits() < shift {
            self.rebase(from);
        }
        let start = self.started().to_bits();
        let start = if to >= from { start.saturating_add(shift) } else { start.saturating_sub(shift) };
        self.start = Time::from_bits(start).words();
    }

    /// Replaces the indices of clips. Returns the index of a clip that is played and has no other
    /// index.
    #[cfg(feature = "wgpu")]
    pub(crate) fn map_clips(&mut self, map: impl Fn(u16) -> Option<u16>) -> Result<(), u16> {
        let current = CLIP.of(self.clip) as u16;
        self.clip = CLIP.with(self.clip, map(current).ok_or(current)?.into());
        let fades = self.fade[0] != FADED;
        for source in &mut self.sources {
            let clip = CLIP.of(source.clip.into()) as u16;
            // After a fade, the fading clips are remains that nothing reads.
            let mapped = map(clip).or((!fades).then_some(0)).ok_or(clip)?;
            source.clip = CLIP.with(source.clip.into(), mapped.into()) as u16;
        }
        Ok(())
    }

    /// Returns the index of the current clip.
    pub fn clip_index(&self) -> usize {
        CLIP.of(self.clip) as usize
    }

    /// Returns the number of the instance's [`LayerSet`](crate::LayerSet) in its crowd, from 1 up;
    /// 0 is none.
    #[doc(hidden)]
    pub fn layer_set(&self) -> u32 {
        layer_set_number(self.clip, self.sources[1].extra.into())
    }

    /// Returns the record with another [`InstanceRecord::layer_set`], at most
    /// [`LayerSet::MOST`](crate::LayerSet::MOST).
    #[doc(hidden)]
    pub fn with_layer_set(mut self, number: u32) -> Self {
        self.clip = LAYER_SET_LOW.with(self.clip, number);
        let extra = &mut self.sources[1].extra;
        *extra = LAYER_SET_HIGH.with((*extra).into(), number >> LAYER_SET_LOW.bits()) as u16;
        self
    }

    /// Returns whether the instance is paused.
    #[doc(hidden)]
    pub fn is_paused(&self) -> bool {
        PAUSED.of(self.sources[1].extra.into()) != 0
    }

    /// Pauses or resumes the instance at `time`.
    pub fn set_paused(&mut self, paused: bool, time: Time) {
        self.rebase(time);
        let extra = &mut self.sources[1].extra;
        *extra = PAUSED.with((*extra).into(), paused.into()) as u16;
    }

    /// Returns the record with the same transform, without layers, frozen in one pose of the
    /// current clip. `offset`: 0.32 fixed point of the clip's length.
    pub(crate) fn frozen(&self, offset: u32) -> Self {
        let Self { translation, scale, rotation, start, .. } = *self;
        Self { translation, scale, rotation, start, offset, clip: CLIP.of(self.clip), ..Self::default() }
    }

    /// Returns the weight of the current clip against the fading clips: 1 without a crossfade.
    #[doc(hidden)]
    pub fn weight(&self, time: Time) -> f32 {
        self.curve().weight(self.progress(time))
    }

    pub(crate) fn curve(&self) -> Curve {
        Curve::from_bits(FADE_CURVE.of(self.sources[1].extra.into()) as u16)
    }

    fn progress(&self, time: Time) -> f32 {
        let elapsed = if self.is_paused() { 0.0 } else { elapsed(Time::from_words(self.start), time) };
        progress(self.fade, elapsed)
    }

    /// Returns the weight of the second fading clip in the mix of both.
    pub(crate) fn older(&self) -> f32 {
        f32::from(self.sources[0].extra) * (1.0 / 65_535.0)
    }

    /// Returns the progress of a crossfade at the start time, in 1/65535, and its progress per second, 32 fraction
    /// bits; `None` where none goes on, as in an instance that is paused.
    pub(crate) fn fade(&self) -> Option<(u16, u64)> {
        let [progress, rate] = self.fade;
        let fades = progress != FADED && !self.is_paused();
        fades.then(|| (progress, unpack_rate::<FADE_RATE_BITS>(rate.into()).unsigned_abs()))
    }

    /// Returns the playback of a fading clip.
    pub(crate) fn source(&self, i: usize) -> Playback {
        let Source { clip, rate, offset, .. } = self.sources[i];
        let rate = if self.is_paused() { 0 } else { unpack_rate::<FADING_RATE_BITS>(rate.into()) };
        unpack(self.start, rate, u32::from(offset) << 16, clip.into())
    }

    /// Returns the indices of the clips that are visible at `time`: the current clip, then the
    /// fading clips.
    #[doc(hidden)]
    pub fn clips(&self, time: Time) -> impl Iterator<Item = usize> {
        let fades = self.weight(time) < 1.0;
        let sources = [fades, fades && self.older() > 0.0];
        let sources = [0, 1].map(|i| sources[i].then(|| self.source(i).clip_index()));
        std::iter::once(self.clip_index()).chain(sources.into_iter().flatten())
    }

    /// Returns the pose blend at `time`. A clip without a record becomes the first one.
    ///
    /// # Panics
    /// If `clips` is empty.
    #[doc(hidden)]
    pub fn pose_blend(&self, clips: &[ClipRecord], time: Time) -> PoseBlend {
        let frames = |playback: Playback| frame_pair(&playback, clip_or_first(clips, playback.clip_index()), time);
        let mut shown = PoseBlend::from(frames(self.playback()));
        shown.weight = self.weight(time);
        if shown.weight < 1.0 {
            shown.older = self.older();
            shown.sources = [frames(self.source(0)), shown.current];
            if shown.older > 0.0 {
                shown.sources[1] = frames(self.source(1));
            }
        }
        shown
    }

    /// Moves the start time to `time` without changing the blend, so that playback can change from
    /// there. Does nothing before the start time.
    #[doc(hidden)]
    pub fn rebase(&mut self, time: Time) {
        if time <= Time::from_words(self.start) {
            return;
        }
        let at = |playback: Playback| match cycle_phase(&playback, time) {
            (_, true) => u32::MAX,
            (phase, false) => phase,
        };
        let progress = self.progress(time);
        let offsets = [0, 1].map(|i| round_offset(at(self.source(i))));
        self.offset = at(self.playback());
        for (source, offset) in self.sources.iter_mut().zip(offsets) {
            source.offset = offset;
        }
        self.fade = rebased(self.fade, progress);
        self.start = time.words();
    }

    /// Sets the playback rate from `time` on without a jump: cycles per second in 32.32 fixed point.
    #[doc(hidden)]
    pub fn set_rate(&mut self, rate: i64, time: Time) {
        self.rebase(time);
        self.rate = pack_rate::<RATE_BITS>(rate);
    }

    /// Sets the speed from `time` on without a jump, as a factor of the clip's normal speed. Has no effect on a clip without
    /// duration: one that plays once stays at its end.
    #[doc(hidden)]
    pub fn set_speed(&mut self, meta: &Metadata, speed: f32, time: Time) {
        let (duration, lengths) = (self.duration(meta), self.playback().repeat().lengths());
        if duration > 0.0 {
            self.set_rate(rate(f64::from(speed), duration * lengths), time);
        }
    }

    /// Jumps to a time in the clip at `time`, in seconds, clamped to the clip.
    #[doc(hidden)]
    pub fn seek_to(&mut self, meta: &Metadata, seconds: f64, time: Time) {
        let duration = self.duration(meta);
        self.seek(if duration > 0.0 { seconds / duration } else { 0.0 }, time);
    }

    /// Returns the duration of the current clip, in seconds.
    fn duration(&self, meta: &Metadata) -> f64 {
        meta.clips.get(self.clip_index()).map_or(0.0, |clip| clip.duration)
    }

    /// Jumps to a fraction of the clip's length at `time`, clamped to its ends.
    #[doc(hidden)]
    pub fn seek(&mut self, fraction: f64, time: Time) {
        self.rebase(time);
        self.offset = clamped_offset(fraction.clamp(0.0, 1.0) / self.playback().repeat().lengths());
    }

    /// Returns whether the current clip has finished: a clip that plays once holds its last pose;
    /// its first, when playing backwards.
    pub fn is_finished(&self, time: Time) -> bool {
        let playback = self.playback();
        let (phase, ended) = cycle_phase(&playback, time);
        playback.repeat() == Repeat::Once
            && match playback.rate_bits() {
                0 => false,
                1.. => ended || phase == u32::MAX,
                _ => phase == 0,
            }
    }

    /// Returns the seconds until a clip that plays once ends, as if the instance were not paused; `None`
    /// if it does not end.
    pub(crate) fn seconds_left(&self, time: Time) -> Option<f32> {
        let playback = self.playback();
        let rate = unpack_rate::<RATE_BITS>(self.rate);
        if playback.repeat() != Repeat::Once || rate == 0 {
            return None;
        }
        let (phase, ended) = cycle_phase(&playback, time);
        let left = match (ended, rate > 0) {
            (true, _) => 0,
            (_, true) => !phase,
            (_, false) => phase,
        };
        Some(left as f32 / rate.unsigned_abs() as f32)
    }

    /// Starts a clip at `time`, at once or as a crossfade from the current one, as [`Crowd::play`](crate::Crowd::play) does:
    /// for servers. The instance is resumed if it was paused. A clip that the model does not have is replaced by its first.
    pub fn play_clip<M>(&mut self, meta: &Metadata, clip: Clip<M>, transition: Transition, time: impl Into<Time>) {
        let time = time.into();
        let next = transition.start.playback(meta, clip.index(), time);
        self.play(&next, transition.fade, transition.curve, time);
    }

    /// Plays another clip from `time` on. `fade`: length of the crossfade in seconds. The instance
    /// is not paused afterwards.
    #[doc(hidden)]
    pub fn play(&mut self, next: &Playback, fade: f32, curve: Curve, time: Time) {
        self.rebase(time);
        let layer_set = self.layer_set();
        if fade > 0.0 {
            self.fade_away(time);
            self.fade = fade_over(fade);
            self.sources[1].extra = curve.to_bits();
        } else {
            self.fade = [FADED, 0];
            self.sources = Default::default();
        }
        (self.start, self.rate, self.offset) = (time.words(), pack_rate::<RATE_BITS>(next.rate_bits()), next.offset);
        self.clip = pack_clip(next);
        *self = self.with_layer_set(layer_set);
    }

    /// Turns the current blend into the fading clips: keeps the two clips with the greatest
    /// weights.
    fn fade_away(&mut self, time: Time) {
        let playback = self.playback();
        let current = Source {
            clip: pack_clip(&playback) as u16,
            rate: pack_rate::<FADING_RATE_BITS>(playback.rate_bits()) as u16,
            offset: round_offset(playback.offset),
            extra: 0,
        };
        let weight = self.weight(time);
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

/// Returns the seconds from one time to another; 0 if the other is earlier.
pub(crate) fn elapsed(start: Time, time: Time) -> f32 {
    let [seconds, fraction] = Time::from_bits(time.to_bits().saturating_sub(start.to_bits())).words();
    seconds as f32 + fraction as f32 * (1.0 / 4_294_967_296.0)
}

/// Returns the progress of a crossfade, 0..1, from its fade words: progress at the start, and
/// progress per second.
pub(crate) fn progress([at_start, rate]: [u16; 2], elapsed: f32) -> f32 {
    if at_start == FADED {
        return 1.0;
    }
    let rate = unpack_rate::<FADE_RATE_BITS>(rate.into()) as f32 * (1.0 / 4_294_967_296.0);
    (f32::from(at_start) * (1.0 / 65_535.0) + elapsed * rate).min(1.0)
}

/// Returns the fade words of a crossfade that continues from `progress`.
pub(crate) fn rebased([_, rate]: [u16; 2], progress: f32) -> [u16; 2] {
    if progress >= 1.0 {
        return NO_FADE;
    }
    // Not complete yet, however little is left.
    [((progress * 65_535.0).round() as u16).min(FADED - 1), rate]
}

/// Returns the fade words of a crossfade of some seconds; complete if `seconds` is not positive.
pub(crate) fn fade_over(seconds: f32) -> [u16; 2] {
    if seconds > 0.0 { [0, pack_rate::<FADE_RATE_BITS>(rate(1.0, seconds.into()).max(1)) as u16] } else { NO_FADE }
}

fn unpack(start: [u32; 2], rate: i64, offset: u32, clip: u32) -> Playback {
    let once = if ONCE.of(clip) != 0 { Playback::ONCE } else { 0 };
    let ping_pong = if PING_PONG.of(clip) != 0 { Playback::PING_PONG } else { 0 };
    Playback { start, rate: Time::from_bits(rate as u64).words(), offset, clip: CLIP.of(clip) | once | ping_pong }
}

fn pack_clip(playback: &Playback) -> u32 {
    let [once, ping_pong] = [Playback::ONCE, Playback::PING_PONG].map(|flag| u32::from(playback.clip & flag != 0));
    CLIP.word(playback.clip) | ONCE.word(once) | PING_PONG.word(ping_pong)
}

/// Rounds to 16 bits. The end of a clip stays its end instead of wrapping to its start.
fn round_offset(offset: u32) -> u16 {
    ((u64::from(offset) + 0x8000) >> 16).min(u16::MAX.into()) as u16
}

/// Packs a rate in 32.32 fixed point as `BITS` bits, a left shift of five bits, and a sign. A rate
/// out of range becomes the greatest one.
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

/// Rotates by a quaternion of any length except zero.
pub(crate) fn rotate(q: Vec4, v: Vec3) -> Vec3 {
    let u = q.truncate();
    let inner = u.cross(v) + v * q.w;
    v + u.cross(inner) * (2.0 / q.dot(q))
}

/// Returns the record of a clip; of the first one, if there is none of it.
///
/// # Panics
/// If `clips` is empty.
pub(crate) fn clip_or_first(clips: &[ClipRecord], index: usize) -> &ClipRecord {
    clips.get(index).unwrap_or(&clips[0])
}

#[cfg(test)]
mod tests;
