//! Fields: many instances of a model that a formula makes of their number and the place where they stand. Nothing is kept
//! of any: grass, corn, reeds, a shoal. Twin of `shaders/field.wgsl`. Needs no wgpu.
//!
//! Every instance stands in a cell of a grid. Lots are drawn for the number of its cell in the world, so that fields of the
//! same seed and spacing, whose corners lie whole cells apart, continue each other. Noise is smooth and repeats after 256
//! times its size. Playback is the integer arithmetic of [`crate::playback`]: a field runs as smoothly after a week.
//!
//! ```
//! # use gpuskin_rt::{Clip, Dynamic};
//! # use gpuskin_rt::field::{FieldDescriptor, Wind};
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

use crate::instance::{finite_position, finite_scale};
use crate::look::packed_tint;
use crate::playback::rate;
use crate::record::pack_rate;
use crate::{Aabb, Clip, InstanceLook, InstanceRecord, Metadata, Time};

/// Clips that the instances of a field choose from, at most.
pub const MOST_CLIPS: usize = 8;
/// Cells of noise after which it starts over.
const CELLS: f64 = 256.0;
/// All of it, in 0.32 fixed point.
const ROUND: f64 = 4_294_967_296.0;

/// What grows where, and how it moves.
#[derive(Debug)]
pub struct FieldDescriptor<M> {
    /// The corner of least x and z, metres. All stand at its height.
    pub origin: [f32; 3],
    /// Instances along x and along z.
    pub size: [u32; 2],
    /// Metres from one to the next along x and z.
    pub spacing: [f32; 2],
    /// How far one stands from the middle of its cell: 0 in rows, 1 anywhere in it.
    pub jitter: f32,
    /// Least and greatest scale.
    pub scale: [f32; 2],
    /// How far one is turned about the y axis to either side, radians: pi for any way.
    pub turn: f32,
    /// Base colours are multiplied by something between these two: linear RGBA, 0..1.
    pub tints: [[f32; 4]; 2],
    /// What lots are drawn from.
    pub seed: u32,
    /// What the instances play, in loops: up to [`MOST_CLIPS`]; the first clip where there are none.
    pub clips: Vec<Clip<M>>,
    /// Metres across which neighbours play the same clip, by noise; 0: each draws its own lot.
    pub patches: f32,
    /// Least and greatest speed, times the clip's own pace; from 0 up.
    pub speed: [f32; 2],
    /// Of a cycle, what instances are ahead of each other by lot: 0 in step, 1 anywhere.
    pub scatter: f32,
    /// Noise that travels over the field.
    pub wind: Option<Wind<M>>,
}

/// Noise that travels over a field.
#[derive(Debug)]
pub struct Wind<M> {
    /// Metres from a gust to the next, about.
    pub size: f32,
    /// Metres a second along x and z.
    pub velocity: [f32; 2],
    /// Cycles that who stands in a gust is ahead.
    pub sway: f32,
    /// What is blended in with a gust.
    pub gust: Option<Clip<M>>,
    /// How much of that the strongest gust shows, 0..1.
    pub strength: f32,
}

// Not derived: these hold whatever M is.
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

/// What the shaders know of a field. Twin of `GpuskinField` in `shaders/field.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FieldUniform {
    /// [`FieldDescriptor::origin`].
    pub origin: [f32; 3],
    /// Instances along x.
    pub columns: u32,
    /// [`FieldDescriptor::spacing`].
    pub spacing: [f32; 2],
    /// Number of the first cell along x and z in the world.
    pub first_cell: [u32; 2],
    /// Least scale, and how much more there may be.
    pub scale: [f32; 2],
    /// [`FieldDescriptor::jitter`].
    pub jitter: f32,
    /// [`FieldDescriptor::seed`].
    pub seed: u32,
    /// How far one may be turned: y of a quaternion whose |y| + |w| is 32767.
    pub turn: u32,
    /// Clips to choose from, at least one.
    pub clip_count: u32,
    /// Of the greatest speed, the least, in 0.32 fixed point.
    pub slowest: u32,
    /// [`FieldDescriptor::scatter`] in 0.32 fixed point.
    pub scatter: u32,
    /// [`FieldDescriptor::tints`], 8 bits each.
    pub tints: [[u8; 4]; 2],
    /// What metres are multiplied by for 256 cells of noise: for the choice of clips, 0 to draw lots.
    pub patches: f32,
    /// The same for wind, 0 for none.
    pub waves: f32,
    /// [`Wind::sway`].
    pub sway: f32,
    /// [`Wind::strength`], 0 where there is no clip for it.
    pub gusts: f32,
    /// Word 12 of an instance that fades from the gust's clip.
    pub gust: u32,
    /// Not used, zero.
    pub reserved: u32,
    /// What wind goes a second along x, then z, in 32.32 fixed point of 256 cells: two's complement, upper word first.
    pub travel: [u32; 4],
    /// Words 8 and 10 of an instance that plays the clip at the greatest speed.
    pub clips: [[u32; 4]; MOST_CLIPS],
}

/// A number from 0 up; 0 for what is none.
fn positive(value: f32) -> f32 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// 0..1 in 0.32 fixed point.
fn share(value: f64) -> u32 {
    (value * ROUND) as u32
}

impl FieldUniform {
    /// The field of a model. Numbers that are not finite or out of range are the nearest that make sense, clips that the
    /// model does not have are its first.
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
        let mut clips = [[0; 4]; MOST_CLIPS];
        let mut clip_count = 0;
        for (at, clip) in clips.iter_mut().zip(all) {
            *at = [pack_rate::<26>(rate(fast, length(clip))), clip, 0, 0];
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
            clips,
            ..Self::zeroed()
        };
        if let Some(wind) = &descriptor.wind {
            uniform.waves = of_a_metre(wind.size);
            uniform.sway = if wind.sway.is_finite() { wind.sway } else { 0.0 };
            if let Some(gust) = wind.gust {
                let clip = word(gust.index());
                uniform.gusts = positive(wind.strength).min(1.0);
                uniform.gust = clip | pack_rate::<10>(rate(0.5 * (slow + fast), length(clip))) << 16;
            }
            let travel = wind.velocity.map(|v| rate(f64::from(v) / (CELLS * f64::from(wind.size)), 1.0));
            let [x, z] = travel.map(|bits| Time::from_bits(bits as u64).words());
            uniform.travel = [x[0], x[1], z[0], z[1]];
        }
        uniform
    }

    /// The instance of that number at a moment. Twin of `gpuskin_field_instance`.
    pub fn instance(&self, number: u32, now: impl Into<Time>) -> InstanceRecord {
        let (now, hash) = (now.into(), self.hash(number));
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
            let gone = [at_x.wrapping_sub(travelled([a, b], now)), at_z.wrapping_sub(travelled([c, d], now))];
            let wave = noise(gone, self.seed.wrapping_add(1));
            offset = offset.wrapping_add(fraction(wave * self.sway));
            fade -= (wave * wave * (3.0 - 2.0 * wave) * self.gusts * 65_535.0) as u16;
        }
        let rotation = [0, turn as i16, 0, (32_767 - turn.abs()) as i16];
        let words = [[0, 0, 0, 0], [0, 0, 0, 0], [pace, offset, clip, fade.into()], [self.gust, offset >> 16, 0, 0]];
        let mut record: InstanceRecord = bytemuck::cast(words);
        (record.translation, record.scale, record.rotation) = ([place.x, y, place.y], scale, rotation);
        record
    }

    /// How the instance of that number looks. Twin of `gpuskin_field_look`.
    pub fn look(&self, number: u32) -> InstanceLook {
        let hash = self.hash(number);
        let share = lot(hash, 8) >> 24;
        let [a, b] = self.tints;
        let mixed = |i: usize| (u32::from(a[i]) * (255 - share) + u32::from(b[i]) * share) / 255;
        InstanceLook { tint: [0, 1, 2, 3].map(|i| mixed(i) as u8), hidden: 0, custom: [hash, 0] }
    }

    fn hash(&self, number: u32) -> u32 {
        let cell = [number % self.columns, number / self.columns];
        hash_2([0, 1].map(|i| self.first_cell[i].wrapping_add(cell[i])), self.seed)
    }
}

impl<M> FieldDescriptor<M> {
    /// Number of its instances.
    pub fn count(&self) -> u64 {
        u64::from(self.size[0]) * u64::from(self.size[1])
    }

    /// A box around all of it in the world, as far as clips reach; `None` where that is not known.
    pub fn bounds(&self, meta: &Metadata) -> Option<Aabb> {
        let uniform = FieldUniform::new(self, meta);
        let Aabb { min, max } = meta.bounds;
        // However it is turned; mixes of clips reach further than either.
        let reach = 1.25
            * (uniform.scale[0].abs() + uniform.scale[1])
            * Vec3::from(min).abs().max(Vec3::from(max).abs()).length();
        let origin = Vec3::from(uniform.origin);
        let across = Vec3::new(self.size[0] as f32 * uniform.spacing[0], 0.0, self.size[1] as f32 * uniform.spacing[1]);
        reach.is_finite().then(|| Aabb { min: (origin - reach).into(), max: (origin + across + reach).into() })
    }
}

/// The upper half of a product: so much of a number of 0.32 fixed point.
fn of(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// Twin of `gpuskin_hash`.
fn hash(number: u32) -> u32 {
    let x = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// Twin of `gpuskin_hash_2`.
fn hash_2([x, y]: [u32; 2], seed: u32) -> u32 {
    hash(x.wrapping_add(hash(y.wrapping_add(hash(seed)))))
}

/// Twin of `gpuskin_lot`.
fn lot(of: u32, k: u32) -> u32 {
    hash(of.wrapping_add(k.wrapping_mul(0x9e37_79b9)))
}

/// Twin of `gpuskin_unit`.
fn unit(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// What is over whole numbers, in 0.32 fixed point.
fn fraction(turns: f32) -> u32 {
    // What lies a little below zero would round up to one.
    ((turns - turns.floor()).min(0.999_999_94) * 4_294_967_296.0) as u32
}

/// Twin of `gpuskin_noise_place`.
fn noise_place(metres: Vec2, of_a_metre: f32) -> [u32; 2] {
    (metres * of_a_metre).to_array().map(fraction)
}

/// Twin of `gpuskin_noise`.
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

/// Twin of `gpuskin_travelled`.
fn travelled(rate: [u32; 2], now: Time) -> u32 {
    (now.to_bits() as u128).wrapping_mul(Time::from_words(rate).to_bits().into()).wrapping_shr(32) as u32
}
