//! Fields: many instances of a model, such as grass, corn, reeds or a shoal of fish. A formula
//! derives each instance from its number and position; no per-instance data is stored. CPU
//! reference of `shaders/field.wgsl`. Does not need wgpu.
//!
//! Each instance stands in one cell of a grid. The hash of the cell's number in the world is the
//! source of all its random values, so adjacent fields with the same seed and spacing continue each
//! other if their corners lie whole cells apart. Noise is smooth and repeats after 256 times its
//! size. Playback uses the integer arithmetic of [`crate::playback`]: a field moves as smoothly
//! after a week as at the start.
//!
//! ```
//! # use gpuskin_rt::{Clip, Dynamic};
//! # use gpuskin_rt::{FieldDescriptor, Wind};
//! # const GRASS_SWAY: Clip<Dynamic> = Clip::new(0);
//! # const GRASS_GUST: Clip<Dynamic> = Clip::new(1);
//! let meadow = FieldDescriptor {
//!     origin: [-50.0, 0.0, -50.0],
//!     size: [200, 200],
//!     spacing: [0.5, 0.5],
//!     clips: vec![GRASS_SWAY],
//!     wind: Some(Wind { size: 12.0, velocity: [4.0, 1.5], gust: Some(GRASS_GUST), ..Wind::default() }),
//!     ..FieldDescriptor::default()
//! };
//! ```

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use crate::appearance::packed_tint;
use crate::bit_fields::{FADING_RATE, RATE};
use crate::playback::rate;
use crate::record::pack_rate;
use crate::transform::{finite_position, finite_scale};
use crate::{Aabb, Appearance, Clip, InstanceRecord, Metadata, Time, Transform};

/// Greatest number of clips that the instances of a field choose from.
#[doc(hidden)]
pub const MAX_FIELD_CLIPS: usize = 8;
/// Period of the noise, cells.
const CELLS: f64 = 256.0;
/// The number 1 in 0.32 fixed point.
const ROUND: f64 = 4_294_967_296.0;

/// Layout, appearance and animation of a field.
#[derive(Debug)]
pub struct FieldDescriptor<M> {
    /// Corner of least x and z. World space, metres. All instances stand at its height y.
    pub origin: [f32; 3],
    /// Number of instances along x and along z.
    pub size: [u32; 2],
    /// Size of a cell along x and z, metres.
    pub spacing: [f32; 2],
    /// Random offset from the centre of the cell: 0 for regular rows, 1 for anywhere in the cell.
    pub jitter: f32,
    /// Least and greatest scale.
    pub scale: [f32; 2],
    /// Greatest random rotation about the y axis to either side, radians; pi for any direction.
    pub turn: f32,
    /// End colours of the random tint, which is multiplied with the base colour: linear RGBA, 0..1.
    pub tints: [[f32; 4]; 2],
    /// Whether each instance has a random variant of the model; otherwise all have the model's own look.
    pub random_variants: bool,
    /// Seed of all random values.
    pub seed: u32,
    /// Clips that the instances loop, at most [`MAX_FIELD_CLIPS`]; the model's first clip if the
    /// list is empty.
    pub clips: Vec<Clip<M>>,
    /// Size in metres of patches that play the same clip, chosen by noise; 0: each instance chooses
    /// at random.
    pub patches: f32,
    /// Least and greatest speed, as factors of the clip's normal speed, at least 0.
    pub speed: [f32; 2],
    /// Random phase offset, as a fraction of a cycle: 0 for all in step, 1 for any phase.
    pub scatter: f32,
    /// Wind: noise that travels over the field.
    pub wind: Option<Wind<M>>,
}

/// Wind: noise that travels over a field.
#[derive(Debug)]
pub struct Wind<M> {
    /// Approximate distance between gusts, metres.
    pub size: f32,
    /// Velocity along x and z, metres per second.
    pub velocity: [f32; 2],
    /// Phase lead of an instance in a gust, cycles.
    pub sway: f32,
    /// Clip that is blended in with a gust.
    pub gust: Option<Clip<M>>,
    /// Weight of that clip in the strongest gust, 0..1.
    pub strength: f32,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Clone for FieldDescriptor<M> {
    fn clone(&self) -> Self {
        Self { clips: self.clips.clone(), ..*self }
    }
}
impl<M> Clone for Wind<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Wind<M> {}

impl<M> Default for FieldDescriptor<M> {
    fn default() -> Self {
        Self {
            origin: [0.0; 3],
            size: [64, 64],
            spacing: [1.0; 2],
            jitter: 0.9,
            scale: [0.8, 1.2],
            turn: core::f32::consts::PI,
            tints: [[1.0; 4]; 2],
            random_variants: false,
            seed: 0,
            clips: Vec::new(),
            patches: 0.0,
            speed: [0.9, 1.1],
            scatter: 1.0,
            wind: None,
        }
    }
}

impl<M> Default for Wind<M> {
    fn default() -> Self {
        Self { size: 10.0, velocity: [3.0, 0.0], sway: 0.5, gust: None, strength: 1.0 }
    }
}

/// Uniform of a field. CPU layout of `GpuskinField` in `shaders/field.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FieldUniform {
    /// Corner of least x and z: [`FieldDescriptor::origin`].
    pub origin: [f32; 3],
    /// Number of instances along x.
    pub columns: u32,
    /// Size of a cell: [`FieldDescriptor::spacing`].
    pub spacing: [f32; 2],
    /// Number of the first cell along x and z in the world.
    pub first_cell: [u32; 2],
    /// Least scale, and greatest scale minus least scale.
    pub scale: [f32; 2],
    /// Random offset: [`FieldDescriptor::jitter`].
    pub jitter: f32,
    /// Seed: [`FieldDescriptor::seed`].
    pub seed: u32,
    /// Greatest rotation: y of a quaternion whose |y| + |w| is 32767.
    pub turn: u32,
    /// Number of clips to choose from, at least 1.
    pub clip_count: u32,
    /// Least speed divided by greatest speed, 0.32 fixed point.
    pub slowest: u32,
    /// Random phase offset: [`FieldDescriptor::scatter`] in 0.32 fixed point.
    pub scatter: u32,
    /// End colours of the tint: [`FieldDescriptor::tints`], 8 bits each.
    pub tints: [[u8; 4]; 2],
    /// Scale from metres to periods of 256 noise cells, for the choice of clips; 0 for a random
    /// choice.
    pub patches: f32,
    /// Scale from metres to periods of 256 noise cells, for wind; 0 for no wind.
    pub waves: f32,
    /// Phase lead in a gust: [`Wind::sway`].
    pub sway: f32,
    /// Weight of the gust's clip: [`Wind::strength`]; 0 without such a clip.
    pub gusts: f32,
    /// Word 12 of an instance record in which the gust's clip is the fading clip.
    pub gust: u32,
    /// Number of variants to choose from at random; 0 for the model's own look.
    pub variants: u32,
    /// Travel of the wind per second along x, then z, in periods of 256 cells, 32.32 fixed point:
    /// two's complement, upper word first.
    pub travel: [u32; 4],
    /// Words 8 and 10 of an instance record that plays the clip at the greatest speed.
    pub clips: [[u32; 4]; MAX_FIELD_CLIPS],
}

/// Clamps to 0 from below; 0 if the value is not finite.
fn positive(value: f32) -> f32 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// Converts 0..1 to 0.32 fixed point.
fn share(value: f64) -> u32 {
    (value * ROUND) as u32
}

impl FieldUniform {
    /// Packs a field of a model. Numbers that are not finite or out of range are replaced by the
    /// nearest valid ones; clips that the model does not have become its first clip.
    pub fn new<M>(descriptor: &FieldDescriptor<M>, meta: &Metadata) -> Self {
        let FieldDescriptor { jitter, turn, seed, .. } = *descriptor;
        let origin = finite_position(descriptor.origin);
        let spacing = descriptor.spacing.map(positive);
        let cell = |origin: f32, spacing: f32| {
            let cells = (f64::from(origin) / f64::from(spacing)).round();
            if cells.is_finite() { cells as i64 as u32 } else { 0 }
        };
        let [a, b] = descriptor.scale.map(finite_scale);
        let [slow, fast] = descriptor.speed.map(|speed| f64::from(positive(speed)));
        let (slow, fast) = (slow.min(fast), slow.max(fast));
        // |y| / |w| is the tangent of half the angle.
        let half = f64::from(if turn.is_finite() { turn.abs() } else { 0.0 } * 0.5);
        let turned = if half < core::f64::consts::FRAC_PI_2 { half.tan() / (1.0 + half.tan()) } else { 1.0 };
        let word = |clip: u16| if usize::from(clip) < meta.clips.len() { u32::from(clip) } else { 0 };
        let length = |clip: u32| meta.clips.get(clip as usize).map_or(0.0, |clip| clip.duration);
        let all =
            descriptor.clips.iter().map(|clip| word(clip.index())).chain(descriptor.clips.is_empty().then_some(0));
        let mut clips = [[0; 4]; MAX_FIELD_CLIPS];
        let mut clip_count = 0;
        for (at, clip) in clips.iter_mut().zip(all) {
            *at = [pack_rate::<{ RATE.bits() }>(rate(fast, length(clip))), clip, 0, 0];
            clip_count += 1;
        }
        let of_a_metre =
            |size: f32| if size > 0.0 && size.is_finite() { (1.0 / (CELLS * f64::from(size))) as f32 } else { 0.0 };
        let mut uniform = Self {
            origin,
            columns: descriptor.size[0].max(1),
            spacing,
            first_cell: [cell(origin[0], spacing[0]), cell(origin[2], spacing[1])],
            scale: [a.min(b), (b - a).abs()],
            jitter: positive(jitter).min(1.0),
            seed,
            turn: (turned * 32_767.0).round() as u32,
            clip_count,
            slowest: if fast > 0.0 { share(slow / fast) } else { 0 },
            scatter: share(positive(descriptor.scatter).into()),
            tints: descriptor.tints.map(packed_tint),
            patches: of_a_metre(descriptor.patches),
            variants: if descriptor.random_variants { meta.variants.len() as u32 } else { 0 },
            clips,
            ..Self::zeroed()
        };
        if let Some(wind) = &descriptor.wind {
            uniform.waves = of_a_metre(wind.size);
            uniform.sway = if wind.sway.is_finite() { wind.sway } else { 0.0 };
            if let Some(gust) = wind.gust {
                let clip = word(gust.index());
                uniform.gusts = positive(wind.strength).min(1.0);
                uniform.gust =
                    clip | pack_rate::<{ FADING_RATE.bits() }>(rate(0.5 * (slow + fast), length(clip))) << 16;
            }
            let travel = wind.velocity.map(|v| rate(f64::from(v) / (CELLS * f64::from(wind.size)), 1.0));
            let [x, z] = travel.map(|bits| Time::from_bits(bits as u64).words());
            uniform.travel = [x[0], x[1], z[0], z[1]];
        }
        uniform
    }

    /// Returns the instance record with the given number at a time. CPU reference of
    /// `gpuskin_field_instance`.
    pub fn instance(&self, number: u32, time: impl Into<Time>) -> InstanceRecord {
        let (time, hash) = (time.into(), self.hash(number));
        let cell = Vec2::new((number % self.columns) as f32, (number / self.columns) as f32);
        let lots = Vec2::new(unit(lot(hash, 1)), unit(lot(hash, 2)));
        let [x, y, z] = self.origin;
        let place = Vec2::new(x, z) + (cell + 0.5 + self.jitter * (lots - 0.5)) * Vec2::from(self.spacing);
        let scale = self.scale[0] + self.scale[1] * unit(lot(hash, 3));
        let turn = of(lot(hash, 4), 2 * self.turn + 1) as i32 - self.turn as i32;

        let mut choice = of(lot(hash, 5), self.clip_count);
        if self.patches > 0.0 {
            let noise = noise(noise_place(place, self.patches), self.seed);
            choice = ((noise * self.clip_count as f32) as u32).min(self.clip_count - 1);
        }
        let [rate, clip, ..] = self.clips[choice as usize];
        let share = self.slowest + of(lot(hash, 6), u32::MAX - self.slowest);
        let pace = of(rate & 0x3ff_ffff, share) | rate & 0xfc00_0000;

        let mut offset = of(lot(hash, 7), self.scatter);
        let mut fade = u16::MAX;
        if self.waves > 0.0 {
            let [at_x, at_z] = noise_place(place, self.waves);
            let [a, b, c, d] = self.travel;
            let gone = [at_x.wrapping_sub(travelled([a, b], time)), at_z.wrapping_sub(travelled([c, d], time))];
            let wave = noise(gone, self.seed.wrapping_add(1));
            offset = offset.wrapping_add(fraction(wave * self.sway));
            fade -= (wave * wave * (3.0 - 2.0 * wave) * self.gusts * 65_535.0) as u16;
        }
        let rotation = [0.0, turn as f32, 0.0, (32_767 - turn.abs()) as f32].map(|part| part / 32_767.0);
        let transform = Transform { translation: [place.x, y, place.y], scale, rotation };
        InstanceRecord::new(transform, [0, 0, pace, offset, clip, fade.into(), self.gust, offset >> 16, 0, 0, 0, 0])
    }

    /// Returns the appearance of the instance with the given number. CPU reference of
    /// `gpuskin_field_appearance`.
    pub fn appearance(&self, number: u32) -> Appearance {
        let hash = self.hash(number);
        let share = lot(hash, 8) >> 24;
        let [a, b] = self.tints;
        let mixed = |i: usize| (u32::from(a[i]) * (255 - share) + u32::from(b[i]) * share) / 255;
        Appearance {
            tint: [0, 1, 2, 3].map(|i| mixed(i) as u8),
            hidden: 0,
            custom: [hash, 0],
            variant: of(lot(hash, 9), self.variants),
        }
    }

    fn hash(&self, number: u32) -> u32 {
        let cell = [number % self.columns, number / self.columns];
        hash_2([0, 1].map(|i| self.first_cell[i].wrapping_add(cell[i])), self.seed)
    }
}

impl<M> FieldDescriptor<M> {
    /// Returns the number of instances.
    #[doc(hidden)]
    pub fn count(&self) -> u64 {
        u64::from(self.size[0]) * u64::from(self.size[1])
    }

    /// Returns the world-space bounding box of the whole field, including the reach of its clips;
    /// `None` if the model's bounds are not finite.
    #[doc(hidden)]
    pub fn bounds(&self, meta: &Metadata) -> Option<Aabb> {
        let uniform = FieldUniform::new(self, meta);
        let Aabb { min, max } = meta.bounds;
        // For any rotation; the factor 1.25 covers blends of clips, which reach further than either
        // clip.
        let reach = 1.25
            * (uniform.scale[0].abs() + uniform.scale[1])
            * Vec3::from(min).abs().max(Vec3::from(max).abs()).length();
        let origin = Vec3::from(uniform.origin);
        let across = Vec3::new(self.size[0] as f32 * uniform.spacing[0], 0.0, self.size[1] as f32 * uniform.spacing[1]);
        reach.is_finite().then(|| Aabb { min: (origin - reach).into(), max: (origin + across + reach).into() })
    }
}

/// Returns the upper half of the product: `a * b` with `b` in 0.32 fixed point.
fn of(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// CPU reference of `gpuskin_hash`.
pub(crate) fn hash(number: u32) -> u32 {
    let x = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// CPU reference of `gpuskin_hash_cell`.
fn hash_2([x, y]: [u32; 2], seed: u32) -> u32 {
    hash(x.wrapping_add(hash(y.wrapping_add(hash(seed)))))
}

/// CPU reference of `gpuskin_random`.
fn lot(of: u32, k: u32) -> u32 {
    hash(of.wrapping_add(k.wrapping_mul(0x9e37_79b9)))
}

/// CPU reference of `gpuskin_unit`.
fn unit(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Returns the fractional part in 0.32 fixed point.
fn fraction(turns: f32) -> u32 {
    // The fraction of a tiny negative number would round up to 1.
    ((turns - turns.floor()).min(0.999_999_94) * 4_294_967_296.0) as u32
}

/// CPU reference of `gpuskin_noise_cell`.
fn noise_place(metres: Vec2, of_a_metre: f32) -> [u32; 2] {
    (metres * of_a_metre).to_array().map(fraction)
}

/// CPU reference of `gpuskin_noise`.
fn noise(place: [u32; 2], seed: u32) -> f32 {
    let cell = place.map(|p| p >> 24);
    let next = cell.map(|c| (c + 1) & 255);
    let [x, y] = place.map(|p| {
        let t = (p & 0xff_ffff) as f32 * (1.0 / 16_777_216.0);
        t * t * (3.0 - 2.0 * t)
    });
    let corner = |x: u32, y: u32| unit(hash_2([x, y], seed));
    let mix = |a: f32, b: f32, t: f32| a * (1.0 - t) + b * t;
    let near = mix(corner(cell[0], cell[1]), corner(next[0], cell[1]), x);
    let far = mix(corner(cell[0], next[1]), corner(next[0], next[1]), x);
    mix(near, far, y)
}

/// CPU reference of `gpuskin_wind_travel`.
fn travelled(rate: [u32; 2], time: Time) -> u32 {
    (time.to_bits() as u128).wrapping_mul(Time::from_words(rate).to_bits().into()).wrapping_shr(32) as u32
}
