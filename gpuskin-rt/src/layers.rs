//! Layers: two layers of clips, then live bones from the game, blended over the clip of an
//! instance. CPU reference of `shaders/local_layers.wgsl`; requires
//! [`Encoding::LocalPacked`](crate::Encoding::LocalPacked).
//!
//! A pose is evaluated per node in the space of the node's parent, in this order:
//!
//! | step | blend |
//! |---|---|
//! | clip | the current clip, crossfaded with the fading clips |
//! | layer 0, layer 1 | each crossfaded on its own, then blended over the result so far with the layer's weight, for nodes in its mask |
//! | local live bones | blended over that with their weight |
//!
//! Then the hierarchy is composed. Live bones given as matrices are blended last, over the bones'
//! model-space transforms.
//!
//! With `u` the pose so far, `p` the pose of the layer's clip, `r` the first frame of its reference
//! clip, `w` the weight:
//!
//! | | ordinary clip | additive clip |
//! |---|---|---|
//! | rotation | `slerp(u, p, w)` | `u * slerp(1, r^-1 * p, w)` |
//! | translation | `u + w (p - u)` | `u + w (p - r)` |
//! | scale, per axis | `u + w (p - u)` | `u (1 + w (p / r - 1))`; `u` where `r` is 0 |
//!
//! Rotations take the shorter arc at constant angular speed. The right column equals the left one
//! with `u * r^-1 * p`, `u + p - r` and `u p / r` in place of `p`. It is computed that way, so
//! clips of both kinds can crossfade.
//!
//! For live matrices, the rotation is that of the first column, and of the second column
//! orthogonalised against the first. Rotations take the shorter arc; translations and the rest of
//! the 3x3 are interpolated component-wise.
//!
//! A layer that plays once and removes itself has its weight multiplied by `c(min(l / f, 1))`: `c` is
//! the curve, `l` the seconds until the clip ends, `f` the length of the fade-out. It is stored as 1
//! plus `f` in units of 1/64 s, at most 511; 0 for a layer that stays.
//!
//! Words of a layer set, 128 bytes:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0-3 | layer 0: start time, rate, phase at the start time: words 0 to 3 of a playback record, see `record` |
//! | 4 | clip as in word 4 there, 16 bits; mask index plus 1, 9 bits, 0 is all nodes; curve of the weight, 2 bits |
//! | 5 | crossfade of the clip: word 5 there |
//! | 6 | weight: start and target value, 16 bits each |
//! | 7 | progress from start to target, and progress per second, encoded like a crossfade |
//! | 8-11 | fading clips: words 6 to 9 there; fade-out at the end of the clip, bits 19-27 of the last word |
//! | 12-23 | layer 1 |
//! | 24-25 | live bones: start time of their weight |
//! | 26-27 | their weight, like words 6 and 7 |
//! | 28 | kind: 0 none, 1 local, 2 matrices, 2 bits; curve of the weight, 2 bits |
//! | 29 | number of their pose in the crowd |
//! | 30-31 | zero |

#[cfg(feature = "wgpu")]
use crate::Transform;
#[cfg(feature = "wgpu")]
use crate::bit_fields::{CLIP, ONCE, PING_PONG};
use crate::bit_fields::{FADE_OUT, LIVE_CURVE, LIVE_KIND, MASK, WEIGHT_CURVE};
use crate::local::LocalTransform;
use crate::record::{MAX_LAYER_SET, NO_FADE, elapsed, fade_over, progress, rebased};
use crate::{ClipRecord, Curve, InstanceRecord, Playback, PoseBlend, Time, Transition};

/// Live bones: a pose of the whole model that the game computed.
#[derive(Clone, Copy, Debug)]
pub enum LiveBones<'a> {
    /// Bone-to-model transform per bone, in the order of
    /// [`Metadata::bones`](crate::Metadata::bones): rows of a 3x4 matrix, metres, like
    /// [`BoneInfo::bind`](crate::BoneInfo::bind) for the bind pose. Suits ragdolls, whose bodies
    /// have no hierarchy.
    Model(&'a [[[f32; 4]; 3]]),
    /// Node-to-parent transform per node, in the order of
    /// [`LocalTracks`](crate::tools::LocalTracks). The GPU composes the hierarchy.
    Local(&'a [LocalTransform]),
}

#[cfg(feature = "wgpu")]
impl LiveBones<'_> {
    /// Returns the number of bones or nodes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Model(bones) => bones.len(),
            Self::Local(nodes) => nodes.len(),
        }
    }

    /// Returns a range of the bones or nodes.
    pub(crate) fn part(&self, range: core::ops::Range<usize>) -> Self {
        match self {
            Self::Model(bones) => Self::Model(&bones[range]),
            Self::Local(nodes) => Self::Local(&nodes[range]),
        }
    }
}

/// Layers and live bones of one instance. A crowd stores a set for each instance that has any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSet {
    layers: [Layer; LayerSet::LAYERS],
    live: Live,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Layer {
    /// Current clip and fading clips of the layer; the transform is unused.
    playing: InstanceRecord,
    /// Mask index plus 1; 0 for all nodes.
    mask: u16,
    weight: Weight,
    fade_out: FadeOut,
}

/// Fade-out at the end of the clip of a layer: 0 for none, else 1 plus its length in units of
/// 1/64 s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FadeOut(u16);

impl FadeOut {
    const PER_SECOND: f32 = 64.0;

    /// Makes a fade-out of some seconds, rounded; at most 8 s.
    fn over(seconds: f32) -> Self {
        let most = (FADE_OUT.most() - 1) as f32;
        Self(1 + (seconds * Self::PER_SECOND).round().clamp(0.0, most) as u16)
    }

    /// Returns the factor of the layer's weight. `left`: seconds until the clip ends; `None` if it does
    /// not end.
    fn weight(self, left: Option<f32>, curve: Curve) -> f32 {
        match (self.0.checked_sub(1), left) {
            (None, _) | (_, None) => 1.0,
            (_, Some(left)) if left <= 0.0 => 0.0,
            (Some(units), Some(left)) => curve.weight((left * Self::PER_SECOND / f32::from(units)).min(1.0)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Live {
    kind: u32,
    pose: u32,
    start: Time,
    weight: Weight,
}

/// A weight that moves from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    /// Start value and target value, 65535 for 1.
    ends: [u16; 2],
    fade: [u16; 2],
    curve: Curve,
}

impl Weight {
    const NONE: Self = Self { ends: [0; 2], fade: NO_FADE, curve: Curve::Linear };

    fn at(&self, elapsed: f32) -> f32 {
        let p = self.curve.weight(progress(self.fade, elapsed));
        let [from, to] = self.ends.map(|end| f32::from(end) * (1.0 / 65_535.0));
        from * (1.0 - p) + to * p
    }

    /// Moves the start of the fade by `elapsed` seconds without changing the weight.
    fn rebase(&mut self, elapsed: f32) {
        self.fade = rebased(self.fade, progress(self.fade, elapsed));
    }

    /// Starts a fade from the current weight to another, 0..1.
    fn go(&mut self, weight: f32, seconds: f32, curve: Curve, elapsed: f32) {
        let current = self.at(elapsed);
        self.ends = [current, weight].map(|w| (w.clamp(0.0, 1.0) * 65_535.0).round() as u16);
        self.fade = fade_over(seconds);
        self.curve = curve;
    }

    /// Returns whether the weight is zero and stays so.
    fn is_over(&self, elapsed: f32) -> bool {
        self.ends[1] == 0 && (self.ends[0] == 0 || progress(self.fade, elapsed) >= 1.0)
    }

    fn words(&self) -> [u32; 2] {
        [self.ends, self.fade].map(|[low, high]| u32::from(low) | u32::from(high) << 16)
    }
}

impl Layer {
    fn elapsed(&self, time: Time) -> f32 {
        if self.playing.is_paused() { 0.0 } else { elapsed(self.playing.started(), time) }
    }

    /// Moves the start time to `time`.
    fn rebase(&mut self, time: Time) {
        self.weight.rebase(self.elapsed(time));
        self.playing.rebase(time);
    }

    fn is_over(&self, time: Time) -> bool {
        let faded_out = self.fade_out != FadeOut::default() && self.playing.seconds_left(time) == Some(0.0);
        faded_out || self.weight.is_over(self.elapsed(time))
    }

    /// Returns the weight over the pose below.
    fn weight_at(&self, time: Time) -> f32 {
        let fade_out = self.fade_out.weight(self.playing.seconds_left(time), self.weight.curve);
        self.weight.at(self.elapsed(time)) * fade_out
    }

    fn words(&self) -> [u32; 12] {
        let w = self.playing.played(([0; 2], 0));
        // In place of the number of the layer set, which is 0.
        let [mask, curve, fade_out] = [self.mask, self.weight.curve.to_bits(), self.fade_out.0].map(u32::from);
        let clip = w[4] | MASK.word(mask) | WEIGHT_CURVE.word(curve);
        let last = w[9] | FADE_OUT.word(fade_out) << 16;
        let [ends, fade] = self.weight.words();
        [w[0], w[1], w[2], w[3], clip, w[5], ends, fade, w[6], w[7], w[8], last]
    }
}

#[cfg(feature = "wgpu")]
impl Layer {
    /// Unpacks a layer that [`Self::words`] packed.
    fn from_words(words: &[u32; 12]) -> Self {
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        let [start, start_fraction, rate, offset, clip, fade, _, _, rest @ ..] = *words;
        let [a, b, c, last] = rest;
        let clip = clip & (CLIP.mask() | ONCE.mask() | PING_PONG.mask());
        let d = last & !(FADE_OUT.mask() << 16);
        let playing = [start, start_fraction, rate, offset, clip, fade, a, b, c, d, 0, 0];
        let curve = Curve::from_bits(WEIGHT_CURVE.of(words[4]) as u16);
        let weight = Weight { ends: halves(words[6]), fade: halves(words[7]), curve };
        let fade_out = FadeOut(FADE_OUT.of(last >> 16) as u16);
        Self {
            playing: InstanceRecord::new(Transform::default(), playing),
            mask: MASK.of(words[4]) as u16,
            weight,
            fade_out,
        }
    }
}

impl Default for LayerSet {
    /// A set without layers and live bones.
    fn default() -> Self {
        let fade_out = FadeOut::default();
        let layer = Layer { playing: InstanceRecord::default(), mask: 0, weight: Weight::NONE, fade_out };
        let live = Live { kind: 0, pose: 0, start: Time::ZERO, weight: Weight::NONE };
        Self { layers: [layer; Self::LAYERS], live }
    }
}

impl LayerSet {
    /// Number of layers per instance, above the current clip.
    #[doc(hidden)]
    pub const LAYERS: usize = 2;
    /// Greatest [`InstanceRecord::layer_set`].
    #[doc(hidden)]
    pub const MAX_NUMBER: u32 = MAX_LAYER_SET;
    /// Number of words per set that the shaders read.
    #[doc(hidden)]
    pub const WORDS: usize = 32;
    const LOCAL: u32 = 1;
    const MODEL: u32 = 2;

    /// Plays a clip on a layer from `time` on; the layer's weight moves to `weight` over the fade of
    /// the transition. A layer that is already visible also crossfades from its current clip; its
    /// mask changes immediately. `mask`: an index, `None` for all nodes.
    ///
    /// # Panics
    /// If the layer does not exist.
    #[doc(hidden)]
    pub fn play(
        &mut self,
        layer: usize,
        next: &Playback,
        mask: Option<u8>,
        transition: &Transition,
        weight: f32,
        time: Time,
    ) {
        let layer = &mut self.layers[layer];
        layer.rebase(time);
        let fade = if layer.is_over(time) { 0.0 } else { transition.fade };
        layer.playing.play(next, fade, transition.curve, time);
        layer.mask = mask.map_or(0, |mask| u16::from(mask) + 1);
        layer.weight.go(weight, transition.fade, transition.curve, 0.0);
        layer.fade_out = FadeOut::default();
    }

    /// Plays a clip once on a layer, which then removes itself: [`Self::play`], then [`Self::fade_out_at_end`] with the fade of
    /// the transition. `next` must play once.
    ///
    /// # Panics
    /// If the layer does not exist.
    #[doc(hidden)]
    pub fn play_once(
        &mut self,
        layer: usize,
        next: &Playback,
        mask: Option<u8>,
        transition: &Transition,
        weight: f32,
        time: Time,
    ) {
        self.play(layer, next, mask, transition, weight, time);
        self.fade_out_at_end(layer, transition.fade);
    }

    /// Makes a layer fade out over the last `seconds` of its clip, if the clip plays once.
    ///
    /// # Panics
    /// If the layer does not exist.
    #[doc(hidden)]
    pub fn fade_out_at_end(&mut self, layer: usize, seconds: f32) {
        self.layers[layer].fade_out = FadeOut::over(seconds);
    }

    /// Moves the weight of a layer to another value over some seconds.
    ///
    /// # Panics
    /// If the layer does not exist.
    #[doc(hidden)]
    pub fn set_weight(&mut self, layer: usize, weight: f32, seconds: f32, time: Time) {
        let layer = &mut self.layers[layer];
        layer.rebase(time);
        let elapsed = layer.elapsed(time);
        layer.weight.go(weight, seconds, Curve::Smooth, elapsed);
    }

    /// Pauses or resumes the layers at `time`. Live bones do not change: the game animates them.
    #[doc(hidden)]
    pub fn set_paused(&mut self, paused: bool, time: Time) {
        for layer in self.layers.iter_mut().filter(|layer| layer.playing.is_paused() != paused) {
            layer.rebase(time);
            layer.playing.set_paused(paused, time);
        }
    }

    /// Blends live bones in: their weight moves to 1. `pose`: number of the live pose in its crowd.
    #[doc(hidden)]
    pub fn set_live_bones(&mut self, bones: &LiveBones<'_>, pose: u32, seconds: f32, time: Time) {
        self.live.kind = Self::kind(bones);
        self.live.pose = pose;
        self.fade_live(1.0, seconds, time);
    }

    /// Blends live bones out. Their last pose stays visible until the fade ends.
    #[doc(hidden)]
    pub fn release_live_bones(&mut self, seconds: f32, time: Time) {
        self.fade_live(0.0, seconds, time);
    }

    fn fade_live(&mut self, weight: f32, seconds: f32, time: Time) {
        let elapsed = elapsed(self.live.start, time);
        self.live.weight.go(weight, seconds, Curve::Smooth, elapsed);
        self.live.start = time;
    }

    /// Returns the playback of a layer whose weight is or becomes greater than zero: the one that fires events.
    #[doc(hidden)]
    pub fn visible_playback(&self, layer: usize) -> Option<Playback> {
        let layer = &self.layers[layer];
        (layer.weight.ends[1] > 0).then(|| layer.playing.playback())
    }

    /// Returns whether live bones are visible now or later.
    #[doc(hidden)]
    pub fn has_live_bones(&self, time: Time) -> bool {
        self.live.kind != 0 && !self.live.weight.is_over(elapsed(self.live.start, time))
    }

    /// Returns the number of the live pose in the crowd, if there is one.
    #[doc(hidden)]
    pub fn live_pose_number(&self) -> Option<u32> {
        (self.live.kind != 0).then_some(self.live.pose)
    }

    /// Removes the live bones and returns the number of their pose.
    #[cfg(feature = "wgpu")]
    pub(crate) fn take_live(&mut self) -> Option<u32> {
        let pose = self.live_pose_number();
        self.live = Self::default().live;
        pose
    }

    #[cfg(feature = "wgpu")]
    pub(crate) fn renumber_live(&mut self, pose: u32) {
        self.live.pose = pose;
    }

    #[cfg(feature = "wgpu")]
    pub(crate) fn is_live_kind(&self, bones: &LiveBones<'_>) -> bool {
        self.live.kind == Self::kind(bones)
    }

    fn kind(bones: &LiveBones<'_>) -> u32 {
        match bones {
            LiveBones::Local(_) => Self::LOCAL,
            LiveBones::Model(_) => Self::MODEL,
        }
    }

    /// Returns whether no layer and no live bones are visible, now or later, unless a command
    /// changes that.
    #[doc(hidden)]
    pub fn is_over(&self, time: Time) -> bool {
        self.layers.iter().all(|layer| layer.is_over(time)) && !self.has_live_bones(time)
    }

    /// Packs the set for the shaders.
    #[doc(hidden)]
    pub fn words(&self) -> [u32; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        for (layer, words) in self.layers.iter().zip(words.as_chunks_mut::<12>().0) {
            words.copy_from_slice(&layer.words());
        }
        let Live { kind, pose, start, weight } = &self.live;
        words[24..26].copy_from_slice(&start.words());
        words[26..28].copy_from_slice(&weight.words());
        words[28] = LIVE_KIND.word(*kind) | LIVE_CURVE.word(weight.curve.to_bits().into());
        words[29] = *pose;
        words
    }

    /// Unpacks a set that [`Self::words`] packed. Live bones are left out.
    #[cfg(feature = "wgpu")]
    pub(crate) fn from_words(words: &[u32; Self::WORDS]) -> Self {
        let mut set = Self::default();
        for (layer, words) in set.layers.iter_mut().zip(words.as_chunks::<12>().0) {
            *layer = Layer::from_words(words);
        }
        set
    }

    /// Returns the set with layers only.
    #[cfg(feature = "wgpu")]
    pub(crate) fn without_live_bones(mut self) -> Self {
        self.live = Self::default().live;
        self
    }

    /// Moves all layers in time, as [`InstanceRecord::move_in_time`] does.
    #[cfg(feature = "wgpu")]
    pub(crate) fn move_in_time(&mut self, from: Time, to: Time) {
        for layer in &mut self.layers {
            let behind = to < from && layer.playing.started().to_bits() < from.to_bits() - to.to_bits();
            if behind {
                layer.rebase(from);
            }
            layer.playing.move_in_time(from, to);
        }
    }

    /// Replaces the indices of clips. Returns the index of a clip of a layer in use that has no other
    /// index.
    #[cfg(feature = "wgpu")]
    pub(crate) fn map_clips(&mut self, map: impl Fn(u16) -> Option<u16>) -> Result<(), u16> {
        for layer in &mut self.layers {
            let used = layer.weight.ends != [0; 2];
            layer.playing.map_clips(|clip| map(clip).or((!used).then_some(0)))?;
        }
        Ok(())
    }

    /// Replaces the indices of masks. Returns the index of a mask that has no other index.
    #[cfg(feature = "wgpu")]
    pub(crate) fn map_masks(&mut self, map: impl Fn(u16) -> Option<u16>) -> Result<(), u16> {
        for layer in self.layers.iter_mut().filter(|layer| layer.mask > 0) {
            let mask = layer.mask - 1;
            layer.mask = map(mask).ok_or(mask)? + 1;
        }
        Ok(())
    }

    /// Returns the layer blend at `time`. `live`: the pose that [`LayerSet::live_pose_number`] refers to.
    ///
    /// # Panics
    /// If there is no record of a clip that it plays.
    #[doc(hidden)]
    pub fn sample<'a>(&self, clips: &[ClipRecord], live: Option<LiveBones<'a>>, time: Time) -> LayerBlend<'a> {
        let layers = self.layers.each_ref().map(|layer| LayerSample {
            shown: layer.playing.pose_blend(clips, time),
            mask: layer.mask.checked_sub(1).map(usize::from),
            weight: layer.weight_at(time),
        });
        let weight = self.live.weight.at(elapsed(self.live.start, time));
        LayerBlend { layers, live: live.map(|bones| (bones, weight)) }
    }
}

/// A layer blend: samples of the layers of an instance at one time.
#[derive(Clone, Copy, Debug)]
pub struct LayerBlend<'a> {
    /// Layers, lowest first.
    pub layers: [LayerSample; LayerSet::LAYERS],
    /// Live bones and their weight.
    pub live: Option<(LiveBones<'a>, f32)>,
}

/// A sample of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSample {
    /// Pose blend of the layer.
    pub shown: PoseBlend,
    /// Index of the mask; `None` for all nodes.
    pub mask: Option<usize>,
    /// Weight of the layer over the pose below it.
    pub weight: f32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Repeat;
    use crate::playback::rate;

    /// Playback of a clip of 2 s that plays once.
    fn once(speed: f64, offset: u32) -> Playback {
        let rate = Time::from_bits(rate(speed, 2.0) as u64).words();
        Playback { start: [10, 0], rate, offset, clip: Repeat::Once.flag() }
    }

    fn weight(set: &LayerSet, seconds: f64) -> f32 {
        set.layers[0].weight_at(Time::from_secs(seconds))
    }

    fn played(next: &Playback, fade: f32) -> LayerSet {
        let mut set = LayerSet::default();
        let transition = Transition::crossfade(fade).curve(Curve::Linear);
        set.play(0, next, None, &transition, 0.5, Time::from_secs(10.0));
        set.fade_out_at_end(0, fade);
        set
    }

    #[test]
    fn a_layer_that_plays_once_fades_out_before_its_clip_ends() {
        let set = played(&once(1.0, 0), 0.5);
        for (seconds, expected) in [(10.0, 0.0), (10.25, 0.25), (11.0, 0.5), (11.5, 0.5), (11.75, 0.25), (12.0, 0.0)] {
            assert!((weight(&set, seconds) - expected).abs() < 1e-4, "{seconds}: {}", weight(&set, seconds));
        }
        assert!(!set.is_over(Time::from_secs(11.99)) && set.is_over(Time::from_secs(12.0)));
        assert!(set.is_over(Time::from_secs(1e6)));
        // Without a fade it ends at once, with the clip.
        let cut = played(&once(1.0, 0), 0.0);
        assert!([10.0, 11.999].iter().all(|&seconds| (weight(&cut, seconds) - 0.5).abs() < 1e-4));
        assert_eq!(weight(&cut, 12.0), 0.0);
        // Twice as fast and backwards, the fade-out takes as long.
        let back = played(&once(-2.0, u32::MAX), 0.5);
        assert!((weight(&back, 10.75) - 0.25).abs() < 1e-4 && back.is_over(Time::from_secs(11.0)));
        // A layer played anew stays.
        let mut again = set;
        again.play(0, &once(1.0, 0), None, &Transition::crossfade(0.5), 1.0, Time::from_secs(10.0));
        assert_eq!(weight(&again, 1e6), 1.0);
        // A frozen clip does not end.
        assert!(!played(&once(0.0, 0), 0.5).is_over(Time::from_secs(1e6)));
    }

    #[test]
    fn a_pause_holds_the_fade_out() {
        let mut set = played(&once(1.0, 0), 0.5);
        set.set_paused(true, Time::from_secs(11.75));
        for seconds in [11.75, 12.5, 1e6] {
            assert!((weight(&set, seconds) - 0.25).abs() < 1e-4, "{seconds}: {}", weight(&set, seconds));
            assert!(!set.is_over(Time::from_secs(seconds)));
        }
        set.set_paused(false, Time::from_secs(20.0));
        assert!((weight(&set, 20.125) - 0.125).abs() < 1e-4 && set.is_over(Time::from_secs(20.26)));
    }

    #[test]
    fn fade_outs_are_stored_in_nine_bits() {
        let set = played(&once(1.0, 0), 0.5);
        #[cfg(feature = "wgpu")]
        assert_eq!(LayerSet::from_words(&set.words()), set);
        assert_eq!(set.words()[11] >> 19, 33);
        assert_eq!([0.0, -1.0, f32::NAN, 1.0, 1e9].map(|s| FadeOut::over(s).0), [1, 1, 1, 65, 511]);
    }
}
