//! What lies over the clip that an instance plays: two layers of clips, then bones that the game computed. Twin of
//! `shaders/local_layers.wgsl`; needs [`Encoding::LocalPacked`](crate::Encoding::LocalPacked).
//!
//! A pose is made in this order, node by node and in the space of each node's parent:
//!
//! | | |
//! |---|---|
//! | the clip | mixed with what it fades from |
//! | layer 0, layer 1 | each mixed in its own fade, then laid over what is under it with its weight, where its mask has the node |
//! | live bones, local | laid over that with their weight |
//!
//! Then the hierarchy is composed, and at last live bones that are matrices are laid over the bones' transforms to the
//! model.
//!
//! With `u` what is under it, `p` the pose of a layer's clip, `r` the first frame of its reference, `w` the weight:
//!
//! | | a clip | a clip that adds |
//! |---|---|---|
//! | rotation | `slerp(u, p, w)` | `u * slerp(1, r^-1 * p, w)` |
//! | translation | `u + w (p - u)` | `u + w (p - r)` |
//! | scale, per axis | `u + w (p - u)` | `u (1 + w (p / r - 1))`; as under it where `r` is 0 |
//!
//! Rotations take the shorter arc at even speed. The right column is the left one with `u * r^-1 * p`, `u + p - r` and
//! `u p / r` for `p`: so is it computed, and so clips of both kinds fade into each other.
//!
//! Matrices of live bones: their rotations (of the first column, and of the second as far as it is across the first) take
//! the shorter arc, translations and what the rotations leave of the 3x3 are mixed component-wise.
//!
//! Words of a set, 128 bytes:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0-3 | layer 0: when it started, rate, where in its cycle: words 6 to 9 of an [`InstanceRecord`] |
//! | 4 | its clip as in word 10 there, 12 bits; 1 + its mask, 9 bits, 0 is all nodes; curve of its weight, 2 bits |
//! | 5 | its clip's fade: word 11 there |
//! | 6 | its weight: where it comes from and where it goes, 16 bits each |
//! | 7 | how far it is on that way, and progress a second, as a clip's fade |
//! | 8-11 | what its clip fades from: words 12 to 15 there |
//! | 12-23 | layer 1 |
//! | 24-25 | live bones: when their weight started |
//! | 26-27 | their weight, as words 6 and 7 |
//! | 28 | 0: none, 1: local, 2: matrices, 2 bits; curve of the weight, 2 bits |
//! | 29 | number of their pose in the crowd |
//! | 30-31 | zero |

use crate::local::LocalTransform;
use crate::record::{NO_FADE, elapsed, fade_over, progress, rebased};
use crate::{ClipRecord, Curve, InstanceRecord, Playback, Shown, Time, Transition};

/// Bones that the game computed: a pose of the model as a whole.
#[derive(Clone, Copy, Debug)]
pub enum LiveBones<'a> {
    /// Each bone's own transform to the model, in the order of [`Metadata::bones`](crate::Metadata::bones): rows of a 3x4
    /// matrix, metres, as [`BoneInfo::bind`](crate::BoneInfo::bind) is for the bind pose. For ragdolls, whose bodies know
    /// no hierarchy.
    Model(&'a [[[f32; 4]; 3]]),
    /// Each node's transform to its parent, in the order of [`LocalTracks`](crate::local::LocalTracks). The hierarchy is
    /// composed on the GPU.
    Local(&'a [LocalTransform]),
}

#[cfg(feature = "wgpu")]
impl LiveBones<'_> {
    /// Bones or nodes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Model(bones) => bones.len(),
            Self::Local(nodes) => nodes.len(),
        }
    }

    /// Some of them.
    pub(crate) fn part(&self, range: core::ops::Range<usize>) -> Self {
        match self {
            Self::Model(bones) => Self::Model(&bones[range]),
            Self::Local(nodes) => Self::Local(&nodes[range]),
        }
    }
}

/// What lies over the clip of one instance. A crowd holds one for each instance that has something over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSet {
    layers: [Layer; LayerSet::LAYERS],
    live: Live,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Layer {
    /// What it plays and fades from; where it stands means nothing.
    playing: InstanceRecord,
    /// One more than its mask, 0 for all nodes.
    mask: u16,
    weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Live {
    kind: u32,
    pose: u32,
    start: Time,
    weight: Weight,
}

/// A weight on its way from one to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    /// Where it comes from and where it goes, over 65535.
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

    /// Counts from so many seconds later on.
    fn rebase(&mut self, elapsed: f32) {
        self.fade = rebased(self.fade, progress(self.fade, elapsed));
    }

    /// Goes from where it is to another weight, 0..1.
    fn go(&mut self, weight: f32, seconds: f32, curve: Curve, elapsed: f32) {
        let now = self.at(elapsed);
        self.ends = [now, weight].map(|w| (w.clamp(0.0, 1.0) * 65_535.0).round() as u16);
        self.fade = fade_over(seconds);
        self.curve = curve;
    }

    /// Whether nothing shows from now on.
    fn is_over(&self, elapsed: f32) -> bool {
        self.ends[1] == 0 && (self.ends[0] == 0 || progress(self.fade, elapsed) >= 1.0)
    }

    fn words(&self) -> [u32; 2] {
        [self.ends, self.fade].map(|[low, high]| u32::from(low) | u32::from(high) << 16)
    }
}

impl Layer {
    fn elapsed(&self, now: Time) -> f32 {
        if self.playing.is_paused() { 0.0 } else { elapsed(self.playing.started(), now) }
    }

    /// Counts from `now` on.
    fn rebase(&mut self, now: Time) {
        self.weight.rebase(self.elapsed(now));
        self.playing.rebase(now);
    }

    fn is_over(&self, now: Time) -> bool {
        self.weight.is_over(self.elapsed(now))
    }

    fn words(&self) -> [u32; 12] {
        let w: [u32; 16] = bytemuck::cast(self.playing);
        let clip = w[10] & 0xfff | u32::from(self.mask) << 12 | u32::from(self.weight.curve.to_bits()) << 21;
        let [ends, fade] = self.weight.words();
        [w[6], w[7], w[8], w[9], clip, w[11], ends, fade, w[12], w[13], w[14], w[15]]
    }
}

impl Default for LayerSet {
    /// Nothing.
    fn default() -> Self {
        let layer = Layer { playing: InstanceRecord::default(), mask: 0, weight: Weight::NONE };
        let live = Live { kind: 0, pose: 0, start: Time::ZERO, weight: Weight::NONE };
        Self { layers: [layer; Self::LAYERS], live }
    }
}

impl LayerSet {
    /// Layers of an instance, above the clip that it plays.
    pub const LAYERS: usize = 2;
    /// The greatest [`InstanceRecord::layer_set`].
    pub const MOST: u32 = (1 << 20) - 1;
    /// Words that the shaders read of a set.
    pub const WORDS: usize = 32;
    const LOCAL: u32 = 1;
    const MODEL: u32 = 2;

    /// Plays a clip on a layer from `now` on, its weight going to `weight` over the transition's fade. A layer that shows
    /// already fades from what it plays to the clip; its mask changes at once. `mask`: an index, `None` for all nodes.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn play(
        &mut self,
        layer: usize,
        next: &Playback,
        mask: Option<u8>,
        transition: &Transition,
        weight: f32,
        now: Time,
    ) {
        let layer = &mut self.layers[layer];
        layer.rebase(now);
        let fade = if layer.is_over(now) { 0.0 } else { transition.fade };
        layer.playing.play(next, fade, transition.curve, now);
        layer.mask = mask.map_or(0, |mask| u16::from(mask) + 1);
        layer.weight.go(weight, transition.fade, transition.curve, 0.0);
    }

    /// Another weight, over so many seconds.
    ///
    /// # Panics
    /// If there is no such layer.
    pub fn set_weight(&mut self, layer: usize, weight: f32, seconds: f32, now: Time) {
        let layer = &mut self.layers[layer];
        layer.rebase(now);
        let elapsed = layer.elapsed(now);
        layer.weight.go(weight, seconds, Curve::Smooth, elapsed);
    }

    /// Stands still from `now` on, or goes on; live bones are the game's own.
    pub fn set_paused(&mut self, paused: bool, now: Time) {
        for layer in &mut self.layers {
            layer.rebase(now);
            layer.playing.set_paused(paused, now);
        }
    }

    /// Shows bones of the game's own, `pose` of its crowd, their weight going to 1.
    pub fn set_live(&mut self, bones: &LiveBones<'_>, pose: u32, seconds: f32, now: Time) {
        self.live.kind = Self::kind(bones);
        self.live.pose = pose;
        self.fade_live(1.0, seconds, now);
    }

    /// Goes back to what is under the live bones; until that is reached their last pose shows.
    pub fn release_live(&mut self, seconds: f32, now: Time) {
        self.fade_live(0.0, seconds, now);
    }

    fn fade_live(&mut self, weight: f32, seconds: f32, now: Time) {
        let elapsed = elapsed(self.live.start, now);
        self.live.weight.go(weight, seconds, Curve::Smooth, elapsed);
        self.live.start = now;
    }

    /// Whether live bones show, or will.
    pub fn has_live(&self, now: Time) -> bool {
        self.live.kind != 0 && !self.live.weight.is_over(elapsed(self.live.start, now))
    }

    /// Number of the pose in the crowd that live bones have, if there are some.
    pub fn live_pose(&self) -> Option<u32> {
        (self.live.kind != 0).then_some(self.live.pose)
    }

    /// The same, which is its own no more.
    #[cfg(feature = "wgpu")]
    pub(crate) fn take_live(&mut self) -> Option<u32> {
        let pose = self.live_pose();
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

    /// Whether nothing of it shows, now and as long as nobody changes it.
    pub fn is_over(&self, now: Time) -> bool {
        self.layers.iter().all(|layer| layer.is_over(now)) && !self.has_live(now)
    }

    /// As the shaders read it.
    pub fn words(&self) -> [u32; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        for (layer, words) in self.layers.iter().zip(words.chunks_exact_mut(12)) {
            words.copy_from_slice(&layer.words());
        }
        let Live { kind, pose, start, weight } = &self.live;
        words[24..26].copy_from_slice(&start.words());
        words[26..28].copy_from_slice(&weight.words());
        words[28] = kind | u32::from(weight.curve.to_bits()) << 2;
        words[29] = *pose;
        words
    }

    /// What it shows at `now`; `live`: the pose that its number stands for.
    ///
    /// # Panics
    /// If there is no record of a clip that it plays.
    pub fn shown<'a>(&self, clips: &[ClipRecord], live: Option<LiveBones<'a>>, now: Time) -> Over<'a> {
        let layers = self.layers.each_ref().map(|layer| ShownLayer {
            shown: layer.playing.shown(clips, now),
            mask: layer.mask.checked_sub(1).map(usize::from),
            weight: layer.weight.at(layer.elapsed(now)),
        });
        let weight = self.live.weight.at(elapsed(self.live.start, now));
        Over { layers, live: live.map(|bones| (bones, weight)) }
    }
}

/// What lies over a clip at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Over<'a> {
    /// From the lowest up.
    pub layers: [ShownLayer; LayerSet::LAYERS],
    /// With their weight.
    pub live: Option<(LiveBones<'a>, f32)>,
}

/// A layer at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownLayer {
    /// Its frames.
    pub shown: Shown,
    /// Index of its mask; `None` for all nodes.
    pub mask: Option<usize>,
    /// Over what is under it.
    pub weight: f32,
}
