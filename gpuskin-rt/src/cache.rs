//! Pose cache: instances that show the same sample of a clip share one pose, which is composed and
//! skinned once and then cached. CPU reference and WGSL source of `shaders/cull_cache.wgsl`,
//! `shaders/cached.wgsl` and `shaders/fill_cache.wgsl`. Does not need wgpu.
//!
//! A clip of n steps has n + 1 samples at the times i / n of its length, i = 0 to n. An instance
//! without a crossfade or layers shows the nearest sample, at any speed and with any
//! [`Repeat`](crate::Repeat); its time error is at most half a step. Every other instance has a
//! pose of its own. So has, on request, an instance so large on screen that the error would be
//! visible.
//!
//! A cached vertex has four words:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0 | position within the bounds of all clips: x 21 bits, lower 11 bits of y |
//! | 1 | upper 10 bits of y, z 21 bits, 1 bit zero |
//! | 2 | octahedral normal, signed 16 bits each |
//! | 3 | octahedral tangent, same layout |
//!
//! The value `0x80008000` in word 2 or 3 is a zero vector.

use core::fmt::Write;

use glam::Vec3;

use crate::cull::{BOUNDS_HEADER, SAMPLE_ALIGNMENT};
use crate::shader::{self, Variant};
use crate::vertex::{from_octahedral, octahedral};
use crate::{InstanceRecord, Time};

/// Greatest number of steps per clip. A clip that would have more is not shared.
pub const MAX_STEPS: u32 = 0xfff;
/// Greatest number of cache entries of all clips of a model together: a sample each, and per clip up to
/// `SAMPLE_ALIGNMENT - 1` that stay empty. Clips beyond the limit are not shared.
pub const MAX_CACHE_SAMPLES: u32 = SAMPLE_ALIGNMENT << 17;
/// Size of a cached vertex, bytes.
pub const CACHED_VERTEX_BYTES: u64 = 16;
/// Compute entry point of [`fill`]: threads along x are vertices, workgroups along y are poses.
pub const FILL_ENTRY_POINT: &str = "gpuskin_fill_cache";
/// Number of vertices per workgroup of [`fill`].
pub const FILL_GROUP_SIZE: u32 = 64;

/// Greatest 21-bit number.
const STEPS: f32 = 2_097_151.0;
/// Octahedral word that no vector maps to: stands for the zero vector.
const NO_DIRECTION: u32 = 0x8000_8000;

/// Returns the number of steps of a clip of `duration` seconds, each at most `grid` seconds long; 0
/// if the clip is not shared.
pub fn steps(duration: f32, grid: f32) -> u32 {
    let steps = (duration / grid).ceil();
    if !(grid > 0.0 && steps <= MAX_STEPS as f32) { 0 } else { (steps as u32).max(1) }
}

/// Writes the [`steps`] and sharing errors of all clips into words of
/// [`pack_bounds`](crate::cull::pack_bounds); returns the number of samples of all clips, and the number of cache entries:
/// the first sample of each clip is a multiple of `SAMPLE_ALIGNMENT`.
///
/// `clips`: steps, and the error of showing the nearest sample, metres at scale 1; 0 if the error
/// does not matter. Errors are rounded up to the greatest one divided by a power of two.
pub fn set_steps(bounds: &mut [u32], clips: &[(u32, f32)]) -> [u32; 2] {
    let Some((header, words)) = bounds.split_at_mut_checked(BOUNDS_HEADER) else { return [0; 2] };
    let greatest = clips.iter().map(|(_, off)| *off).fold(0.0, f32::max);
    header[BOUNDS_HEADER - 1] = greatest.to_bits();
    let (mut samples, mut entries) = (0, 0_u32);
    for (clip, &(steps, off)) in words.as_chunks_mut::<4>().0.iter_mut().zip(clips) {
        let first = entries.next_multiple_of(SAMPLE_ALIGNMENT);
        let fits = steps > 0 && steps <= MAX_STEPS && first + steps < MAX_CACHE_SAMPLES;
        let halvings = (1..8).take_while(|halvings| off * (1 << halvings) as f32 <= greatest).count() as u32;
        clip[3] = if fits { steps << 20 | halvings << 17 | (first / SAMPLE_ALIGNMENT) } else { 0 };
        if fits {
            (samples, entries) = (samples + steps + 1, first + steps + 1);
        }
    }
    [samples, entries]
}

/// Returns the sample that an instance shares: its index among the samples of all clips, and a copy
/// of the instance that is frozen in it. `None` if the instance needs a pose of its own.
///
/// `bounds`: words of [`set_steps`]. `error_scale`: the greatest [`cull::error_scale`](crate::cull::error_scale) of
/// all views. CPU reference of `gpuskin_shared_pose`.
///
/// # Panics
/// If there are no words of the clip that it plays.
pub fn shared_pose(
    bounds: &[u32],
    instance: &InstanceRecord,
    time: Time,
    error_scale: Option<f32>,
) -> Option<(u32, InstanceRecord)> {
    let word = bounds[BOUNDS_HEADER + instance.clip_index() * 4 + 3];
    let steps = word >> 20;
    let off = f32::from_bits(bounds[BOUNDS_HEADER - 1]) / (1 << (word >> 17 & 7)) as f32;
    let is_noticeable = off > 0.0 && error_scale.is_none_or(|error_scale| off * error_scale > 1.0);
    if steps == 0 || is_noticeable || instance.layer_set() != 0 || instance.weight(time) < 1.0 {
        return None;
    }
    let (phase, ended) = crate::playback::phase(&instance.playback(), time);
    let position = u64::from(phase) * u64::from(steps);
    let nearest = if ended { steps } else { (position >> 32) as u32 + (position as u32 >> 31) };
    let offset = if nearest == steps { u32::MAX } else { nearest * step(steps) };
    Some(((word & 0x1_ffff) * SAMPLE_ALIGNMENT + nearest, instance.frozen(offset)))
}

/// Returns the length of a step, 0.32 fixed point of the clip's length. With a single step the
/// result overflows to 0; it is never multiplied then.
fn step(steps: u32) -> u32 {
    (u32::MAX / steps).wrapping_add(1)
}

/// Packs a vertex. `least`, `extent`: bounds of all clips, metres. CPU reference of
/// `gpuskin_pack_cached`.
pub fn pack(position: Vec3, normal: Vec3, tangent: Vec3, [least, extent]: [Vec3; 2]) -> [u32; 4] {
    let unit = (position - least) / extent.max(Vec3::splat(f32::MIN_POSITIVE));
    let [x, y, z] = unit.to_array().map(|v| (v.clamp(0.0, 1.0) * STEPS).round() as u32);
    [x | y << 21, y >> 11 | z << 10, direction_word(normal), direction_word(tangent)]
}

/// Unpacks position, normal and tangent of [`pack`]. CPU reference of `gpuskin_cached_position` and
/// `gpuskin_cached_direction`.
pub fn unpack(words: [u32; 4], [least, extent]: [Vec3; 2]) -> [Vec3; 3] {
    let steps = [words[0] & 0x1f_ffff, words[0] >> 21 | (words[1] & 0x3ff) << 11, words[1] >> 10 & 0x1f_ffff];
    let position = least + extent * (Vec3::from(steps.map(|v| v as f32)) / STEPS);
    [position, direction(words[2]), direction(words[3])]
}

fn direction_word(v: Vec3) -> u32 {
    if v == Vec3::ZERO {
        return NO_DIRECTION;
    }
    let [x, y] = octahedral(v).to_array().map(|e| (e.clamp(-1.0, 1.0) * 32_767.0).round() as i32 as u32);
    x & 0xffff | y << 16
}

fn direction(word: u32) -> Vec3 {
    if word == NO_DIRECTION {
        return Vec3::ZERO;
    }
    let part = |word: u32| ((word as i32 >> 16) as f32 / 32_767.0).max(-1.0);
    from_octahedral(glam::Vec2::new(part(word << 16), part(word)))
}

/// Returns the WGSL of the pass that skins poses of a palette into the cache. Group 0: the model's
/// group, with the palette and the [`ModelUniform`](shader::ModelUniform). Group 1: the
/// [`PaletteUniform`](crate::local::shader::PaletteUniform) of those poses, the words of the mesh,
/// and the cached vertices.
pub fn fill(variant: Variant) -> String {
    // A pass that reads all words needs no second binding of the same buffer.
    let variant = Variant { loads_influences: false, ..variant };
    let mut text = shader::source(variant, 0);
    let stride = variant.vertex.words();
    let mut at = 0;
    let attributes: Vec<_> = variant
        .vertex_attributes()
        .iter()
        .map(|&words| {
            let word = |i| if i < words { format!("gpuskin_mesh[at + {}u]", at + i) } else { "0u".to_owned() };
            let attribute = format!("vec4<u32>({})", [0, 1, 2, 3].map(word).join(", "));
            at += words;
            attribute
        })
        .collect();
    let _ = write!(
        text,
        "\nconst gpuskin_fill_group: u32 = {FILL_GROUP_SIZE}u;\n\nfn gpuskin_vertex_count() -> u32 {{\n    return \
         arrayLength(&gpuskin_mesh) / {stride}u;\n}}\n\nfn gpuskin_mesh_vertex(number: u32) -> GpuskinInput {{\n    let at = number * \
         {stride}u;\n    return GpuskinInput({}, 0u);\n}}\n\n",
        attributes.join(", ")
    );
    text + include_str!("../shaders/fill_cache.wgsl")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClipRecord, Playback, Repeat, playback};

    const DURATIONS: [f32; 4] = [1.0, 0.0, 1e6, 0.7];

    fn words() -> (Vec<u32>, u32, u32) {
        let mut words = vec![0; BOUNDS_HEADER + 4 * DURATIONS.len()];
        let [samples, entries] = set_steps(&mut words, &DURATIONS.map(|duration| (steps(duration, 0.1), 0.0)));
        (words, samples, entries)
    }

    #[test]
    fn number_of_samples_follows_clip_length() {
        let (words, samples, entries) = words();
        let of =
            |clip: usize| (words[BOUNDS_HEADER + 4 * clip + 3] >> 20, words[BOUNDS_HEADER + 4 * clip + 3] & 0x1_ffff);
        // A clip that is too long has no samples.
        assert_eq!([of(0), of(1), of(2), of(3)], [(10, 0), (1, 2), (0, 0), (7, 3)]);
        assert_eq!([samples, entries], [21, 32]);
        for grid in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(steps(1.0, grid), u32::from(grid == f32::INFINITY), "{grid}");
        }
        let mut many = vec![0; BOUNDS_HEADER + 4 * 1000];
        let [samples, entries] = set_steps(&mut many, &[(4095, 0.0); 1000]);
        assert!(entries <= MAX_CACHE_SAMPLES && samples == 256 * 4096);
        assert_eq!(set_steps(&mut [0; 3], &[(1, 0.0)]), [0, 0]);
    }

    /// An instance keeps a pose of its own where the sharing error, rounded up, would be visible.
    #[test]
    fn visible_sharing_error_prevents_sharing() {
        let offs = [0.8, 0.4, 0.15, 0.0];
        let mut words = vec![0; BOUNDS_HEADER + 4 * offs.len()];
        set_steps(&mut words, &offs.map(|off| (10, off)));
        let shared = |words: &[u32], clip: u32, error_scale: Option<f32>| {
            let instance = InstanceRecord::playing(Playback { clip, ..Playback::default() });
            shared_pose(words, &instance, Time::from_secs(0.5), error_scale).is_some()
        };
        for (clip, off) in [0.8, 0.4, 0.2, 0.8 / 128.0].into_iter().enumerate() {
            let shared = |error_scale| shared(&words, clip as u32, error_scale);
            assert!(shared(Some(0.99 / off)) && !shared(Some(1.01 / off)) && !shared(None), "{clip}");
        }
        set_steps(&mut words, &[(10, 0.0); 4]);
        assert!((0..4).all(|clip| shared(&words, clip, None) && shared(&words, clip, Some(1e30))));
    }

    /// A shared sample is at most half a step away, and both ends of a clip are samples.
    #[test]
    fn instance_shares_nearest_sample() {
        let (words, samples, entries) = words();
        let clip = ClipRecord { first_frame: 0, intervals: 3000, stored: 3001, held: 0 };
        let position = |record: &InstanceRecord, time: Time| {
            let pair = playback::frame_pair(&record.playback(), &clip, time);
            f64::from(pair.a) + f64::from(pair.t) * f64::from(pair.b - pair.a)
        };
        let mut seen = std::collections::BTreeSet::new();
        for (i, index) in [0_u32, 3].into_iter().enumerate() {
            let duration = f64::from(DURATIONS[index as usize]);
            for repeat in [Repeat::Loop, Repeat::Once, Repeat::PingPong] {
                for speed in [1.0, -1.0, 0.3] {
                    let rate = playback::rate(speed, duration * repeat.lengths()) as u64;
                    let playing = Playback {
                        rate: Time::from_bits(rate).words(),
                        offset: if speed < 0.0 { u32::MAX } else { 0 },
                        clip: index | repeat.flag(),
                        ..Playback::default()
                    };
                    let instance = InstanceRecord::playing(playing);
                    for tick in 0..400 {
                        let time = Time::from_secs(f64::from(tick) * 0.013);
                        let (number, still) = shared_pose(&words, &instance, time, None).unwrap();
                        let off = (position(&instance, time) - position(&still, time)).abs();
                        let half = 3000.0 / [20.0, 14.0][i];
                        assert!(
                            off <= half + 0.01,
                            "{repeat:?} at {speed}, {time:?}: off by {off} frames, limit {half}"
                        );
                        assert_eq!(position(&still, time), position(&still, Time::from_secs(1e5)));
                        assert_eq!(still.clip_index(), index as usize);
                        assert_eq!(still.translation, instance.translation);
                        assert!(number < entries);
                        seen.insert(number);
                    }
                    let late = super::shared_pose(&words, &instance, Time::from_secs(1e4), None).unwrap();
                    if repeat == Repeat::Once {
                        let end = if speed < 0.0 { 0.0 } else { 3000.0 };
                        assert!((position(&late.1, Time::ZERO) - end).abs() < 1e-3);
                    }
                }
            }
        }
        // Every sample of both clips was used, and no other.
        assert_eq!(seen.len(), samples as usize - 2, "all but those of the clip of no length");
    }

    #[test]
    fn crossfades_layers_and_long_clips_are_not_shared() {
        let (words, ..) = words();
        let time = Time::from_secs(0.5);
        let own = |record: &InstanceRecord| shared_pose(&words, record, time, None).is_none();
        let at_rest = InstanceRecord::default();
        assert!(!own(&at_rest) && own(&at_rest.with_layer_set(1)));
        let mut fading = at_rest;
        fading.play(&Playback::default(), 1.0, crate::Curve::Linear, Time::ZERO);
        assert!(own(&fading) && shared_pose(&words, &fading, Time::from_secs(2.0), None).is_some());
        assert!(own(&InstanceRecord::playing(Playback { clip: 2, ..Playback::default() })));
    }

    #[test]
    fn cached_vertices_keep_a_millionth_of_the_bounds() {
        let reach = [Vec3::new(-1.0, -2.0, 0.5), Vec3::new(2.0, 4.0, 0.0)];
        for i in 0..2000_u32 {
            let unit = Vec3::new(i as f32 * 0.618 % 1.0, i as f32 * 0.414 % 1.0, i as f32 * 0.732 % 1.0);
            let (position, normal) = (reach[0] + unit * reach[1], (unit - 0.5).normalize());
            let tangent = normal.any_orthonormal_vector();
            let [p, n, t] = unpack(pack(position, normal, tangent, reach), reach);
            assert!(p.abs_diff_eq(position, 4.0 / STEPS), "{p} {position}");
            assert!(n.abs_diff_eq(normal, 1e-4) && t.abs_diff_eq(tangent, 1e-4), "{n} {normal}");
        }
        let [p, n, _] = unpack(pack(Vec3::splat(9.0), Vec3::ZERO, Vec3::X, reach), reach);
        assert_eq!((p, n), (reach[0] + reach[1], Vec3::ZERO));
    }
}
