//! Poses that instances share: on a grid of moments of each clip, of which every distinct pose is composed and skinned once,
//! and kept. Twin of `shaders/cull_still.wgsl`, `shaders/cached.wgsl` and `shaders/fill_cache.wgsl`, and their text. Needs no
//! wgpu.
//!
//! A clip of n steps has n + 1 moments, the first at its start and the last at its end, i / n of its length between. An
//! instance with neither a fade nor layers shows the nearest of them, whatever its speed, and however it repeats; so it is off
//! by at most half a step of the clip's time. All others show their own moment, and so may those do that are seen so large that it
//! would show.
//!
//! What is kept of a vertex is four words:
//!
//! | word | from bit 0 up |
//! |---|---|
//! | 0 | position in what all clips reach: x 21 bits, the lower 11 bits of y |
//! | 1 | the upper 10 bits of y, z 21 bits, 1 bit zero |
//! | 2 | octahedral normal, signed 16 bits each |
//! | 3 | octahedral tangent, likewise |
//!
//! A word 2 or 3 of `0x80008000` is a vector of no length.

use core::fmt::Write;

use glam::Vec3;

use crate::cull::BOUNDS_HEADER;
use crate::shader::{self, Variant};
use crate::vertex::{from_octahedral, octahedral};
use crate::{InstanceRecord, Time};

/// Most steps of a clip. One that would have more is not shared.
pub const MOST_STEPS: u32 = 0xfff;
/// Most moments of all clips of a model together: clips beyond are not shared.
pub const MOST_MOMENTS: u32 = 1 << 17;
/// Bytes of a vertex.
pub const VERTEX: u64 = 16;
/// Compute entry point of [`fill`]: threads along x are vertices, workgroups along y poses.
pub const FILL: &str = "gpuskin_fill_cache";
/// Vertices of a workgroup.
pub const FILL_GROUP: u32 = 64;

/// Greatest number of 21 bits.
const STEPS: f32 = 2_097_151.0;
/// Not the map of any vector.
const NOWHERE: u32 = 0x8000_8000;

/// How many steps a clip of `duration` seconds has where they are at most `grid` seconds long; 0: it is not shared.
pub fn steps(duration: f32, grid: f32) -> u32 {
    let steps = (duration / grid).ceil();
    if !(grid > 0.0 && steps <= MOST_STEPS as f32) { 0 } else { (steps as u32).max(1) }
}

/// Puts clips of so many [`steps`] into words of [`pack_bounds`](crate::cull::pack_bounds), and what their moments cost: metres at
/// scale 1, which are rounded up to a half, a quarter, ... of the greatest; 0 where that may be seen. How many moments they
/// have together comes back.
pub fn set_steps(bounds: &mut [u32], clips: &[(u32, f32)]) -> u32 {
    let Some((header, words)) = bounds.split_at_mut_checked(BOUNDS_HEADER) else { return 0 };
    let greatest = clips.iter().map(|(_, off)| *off).fold(0.0, f32::max);
    header[BOUNDS_HEADER - 1] = greatest.to_bits();
    let mut moments = 0;
    for (clip, &(steps, off)) in words.as_chunks_mut::<4>().0.iter_mut().zip(clips) {
        let fits = steps > 0 && steps <= MOST_STEPS && moments + steps < MOST_MOMENTS;
        let halvings = (1..8).take_while(|halvings| off * (1 << halvings) as f32 <= greatest).count() as u32;
        clip[3] = if fits { steps << 20 | halvings << 17 | moments } else { 0 };
        moments += if fits { steps + 1 } else { 0 };
    }
    moments
}

/// The pose on the grid that an instance shows: its number among all moments, and an instance at the same place that stands
/// still in it. `None` where it shows its own moment. `bounds`: of [`set_steps`]; `metre`: how it is seen best,
/// [`cull::metre`](crate::cull::metre). Twin of `gpuskin_still`.
///
/// # Panics
/// If there are no words of the clip that it plays.
pub fn still(
    bounds: &[u32],
    instance: &InstanceRecord,
    now: Time,
    metre: Option<f32>,
) -> Option<(u32, InstanceRecord)> {
    let word = bounds[BOUNDS_HEADER + instance.clip_index() * 4 + 3];
    let steps = word >> 20;
    let off = f32::from_bits(bounds[BOUNDS_HEADER - 1]) / (1 << (word >> 17 & 7)) as f32;
    let is_seen = off > 0.0 && metre.is_none_or(|metre| off * metre > 1.0);
    if steps == 0 || is_seen || instance.layer_set() != 0 || instance.weight(now) < 1.0 {
        return None;
    }
    let (phase, ended) = crate::playback::phase(&instance.playback(), now);
    let position = u64::from(phase) * u64::from(steps);
    let nearest = if ended { steps } else { (position >> 32) as u32 + (position as u32 >> 31) };
    let offset = if nearest == steps { u32::MAX } else { nearest * step(steps) };
    Some(((word & 0x1_ffff) + nearest, instance.standing_still(offset)))
}

/// A step in 0.32 fixed point of the clip's length. One of the whole length is never multiplied.
fn step(steps: u32) -> u32 {
    (u32::MAX / steps).wrapping_add(1)
}

/// A vertex as it is kept. `least`, `extent`: what all clips reach, metres. Twin of `gpuskin_pack_cached`.
pub fn pack(position: Vec3, normal: Vec3, tangent: Vec3, [least, extent]: [Vec3; 2]) -> [u32; 4] {
    let unit = (position - least) / extent.max(Vec3::splat(f32::MIN_POSITIVE));
    let [x, y, z] = unit.to_array().map(|v| (v.clamp(0.0, 1.0) * STEPS).round() as u32);
    [x | y << 21, y >> 11 | z << 10, direction_word(normal), direction_word(tangent)]
}

/// Position, normal and tangent of [`pack`]. Twin of `gpuskin_cached_position` and `gpuskin_cached_direction`.
pub fn unpack(words: [u32; 4], [least, extent]: [Vec3; 2]) -> [Vec3; 3] {
    let steps = [words[0] & 0x1f_ffff, words[0] >> 21 | (words[1] & 0x3ff) << 11, words[1] >> 10 & 0x1f_ffff];
    let position = least + extent * (Vec3::from(steps.map(|v| v as f32)) / STEPS);
    [position, direction(words[2]), direction(words[3])]
}

fn direction_word(v: Vec3) -> u32 {
    if v == Vec3::ZERO {
        return NOWHERE;
    }
    let [x, y] = octahedral(v).to_array().map(|e| (e.clamp(-1.0, 1.0) * 32_767.0).round() as i32 as u32);
    x & 0xffff | y << 16
}

fn direction(word: u32) -> Vec3 {
    if word == NOWHERE {
        return Vec3::ZERO;
    }
    let part = |word: u32| ((word as i32 >> 16) as f32 / 32_767.0).max(-1.0);
    from_octahedral(glam::Vec2::new(part(word << 16), part(word)))
}

/// WGSL of the pass that skins poses of a palette and keeps them. Group 0 is the model's as far as it has the palette and the
/// [`ModelUniform`](shader::ModelUniform); group 1: the [`PaletteUniform`](crate::local::shader::PaletteUniform) of those poses, the
/// words of the mesh, and what is kept.
pub fn fill(variant: Variant) -> String {
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
        "\nconst gpuskin_fill_group: u32 = {FILL_GROUP}u;\n\nfn gpuskin_vertex_count() -> u32 {{\n    return \
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

    fn words() -> (Vec<u32>, u32) {
        let mut words = vec![0; BOUNDS_HEADER + 4 * DURATIONS.len()];
        let moments = set_steps(&mut words, &DURATIONS.map(|duration| (steps(duration, 0.1), 0.0)));
        (words, moments)
    }

    #[test]
    fn clips_have_as_many_moments_as_their_length_asks() {
        let (words, moments) = words();
        let of =
            |clip: usize| (words[BOUNDS_HEADER + 4 * clip + 3] >> 20, words[BOUNDS_HEADER + 4 * clip + 3] & 0x1_ffff);
        // One that is too long has none.
        assert_eq!([of(0), of(1), of(2), of(3)], [(10, 0), (1, 11), (0, 0), (7, 13)]);
        assert_eq!(moments, 21);
        for grid in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(steps(1.0, grid), u32::from(grid == f32::INFINITY), "{grid}");
        }
        let mut many = vec![0; BOUNDS_HEADER + 4 * 1000];
        assert!(set_steps(&mut many, &[(4095, 0.0); 1000]) <= MOST_MOMENTS);
        assert_eq!(set_steps(&mut [0; 3], &[(1, 0.0)]), 0);
    }

    /// Where it would show, an instance shows its own moment: by what its clip costs, which is rounded up.
    #[test]
    fn what_would_be_seen_is_not_shared() {
        let offs = [0.8, 0.4, 0.15, 0.0];
        let mut words = vec![0; BOUNDS_HEADER + 4 * offs.len()];
        set_steps(&mut words, &offs.map(|off| (10, off)));
        let shared = |words: &[u32], clip: u32, metre: Option<f32>| {
            let instance = InstanceRecord::playing(Playback { clip, ..Playback::default() });
            still(words, &instance, Time::from_secs(0.5), metre).is_some()
        };
        for (clip, off) in [0.8, 0.4, 0.2, 0.8 / 128.0].into_iter().enumerate() {
            let shared = |metre| shared(&words, clip as u32, metre);
            assert!(shared(Some(0.99 / off)) && !shared(Some(1.01 / off)) && !shared(None), "{clip}");
        }
        set_steps(&mut words, &[(10, 0.0); 4]);
        assert!((0..4).all(|clip| shared(&words, clip, None) && shared(&words, clip, Some(1e30))));
    }

    /// At most half a step from what is shown, and the ends are ends.
    #[test]
    fn the_nearest_moment_is_shown() {
        let (words, moments) = words();
        let clip = ClipRecord { first_frame: 0, intervals: 3000, stored: 3001, held: 0 };
        let position = |record: &InstanceRecord, now: Time| {
            let pair = playback::frame_pair(&record.playback(), &clip, now);
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
                        let now = Time::from_secs(f64::from(tick) * 0.013);
                        let (number, still) = still(&words, &instance, now, None).unwrap();
                        let off = (position(&instance, now) - position(&still, now)).abs();
                        let half = 3000.0 / [20.0, 14.0][i];
                        assert!(off <= half + 0.01, "{repeat:?} at {speed}, {now:?}: {off} frames of {half}");
                        assert_eq!(position(&still, now), position(&still, Time::from_secs(1e5)));
                        assert_eq!(still.clip_index(), index as usize);
                        assert_eq!(still.translation, instance.translation);
                        assert!(number < moments);
                        seen.insert(number);
                    }
                    let late = super::still(&words, &instance, Time::from_secs(1e4), None).unwrap();
                    if repeat == Repeat::Once {
                        let end = if speed < 0.0 { 0.0 } else { 3000.0 };
                        assert!((position(&late.1, Time::ZERO) - end).abs() < 1e-3);
                    }
                }
            }
        }
        // All of both clips, and nothing else.
        assert_eq!(seen.len(), 11 + 8);
    }

    #[test]
    fn fades_layers_and_clips_that_are_too_long_keep_their_own_moment() {
        let (words, _) = words();
        let now = Time::from_secs(0.5);
        let own = |record: &InstanceRecord| still(&words, record, now, None).is_none();
        let at_rest = InstanceRecord::default();
        assert!(!own(&at_rest) && own(&at_rest.with_layer_set(1)));
        let mut fading = at_rest;
        fading.play(&Playback::default(), 1.0, crate::Curve::Linear, Time::ZERO);
        assert!(own(&fading) && still(&words, &fading, Time::from_secs(2.0), None).is_some());
        assert!(own(&InstanceRecord::playing(Playback { clip: 2, ..Playback::default() })));
    }

    #[test]
    fn vertices_are_kept_to_a_millionth_of_what_clips_reach() {
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
