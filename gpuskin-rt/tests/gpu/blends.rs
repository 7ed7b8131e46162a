//! Crossfades, layers and live bones compared with blends in `f64`. These decode the words of
//! instances and frames on their own and use none of the crate's arithmetic.

use crate::common::model::{Pose, Random, Recipe, TestModel, packed_range};
use crate::common::{BACKENDS, compute};
use glam::{DMat4, DQuat, DVec3, DVec4};
use gpuskin_rt::internals::encoding::{from_fixed16, packed};
use gpuskin_rt::internals::local::{LocalTransform, layout};
use gpuskin_rt::internals::render::{Capture, CaptureFrame};
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

/// Relative to the diagonal of the drawn mesh.
const TOLERANCE: f64 = 1e-5;

/// Two frames and the fraction between them.
#[derive(Clone, Copy)]
struct Between {
    clip: usize,
    a: u32,
    b: u32,
    t: f64,
}

/// Words 6 to 15 of an instance record, as documented in `record`.
struct Playing {
    words: [u32; 10],
    now: Time,
}

impl Playing {
    fn elapsed(&self) -> i128 {
        let start = u64::from(self.words[0]) << 32 | u64::from(self.words[1]);
        let paused = self.words[9] >> 18 & 1 != 0;
        if paused { 0 } else { self.now.to_bits().saturating_sub(start).into() }
    }

    fn seconds(&self) -> f64 {
        self.elapsed() as f64 / 4_294_967_296.0
    }

    fn frames(&self, clips: &[ClipRecord], clip: u32, rate: i128, offset: u32) -> Between {
        let record = &clips[(clip & 0x3fff) as usize];
        let cycles = (i128::from(offset) << 32) + self.elapsed() * rate;
        let one = 1_i128 << 64;
        let ended = clip >> 14 & 1 != 0 && !(0..one).contains(&cycles);
        let phase = if ended { (cycles >= one) as u32 as f64 } else { cycles.rem_euclid(one) as f64 / one as f64 };
        let phase = if clip >> 15 & 1 != 0 { 1.0 - (2.0 * phase - 1.0).abs() } else { phase };
        let position = phase * f64::from(record.intervals);
        let frame = |i: f64| {
            let i = (i as u32).min(record.intervals);
            let (held, left_out) = (record.held & 0x7fff, record.held >> 16);
            let row = i - i.saturating_sub(held).min(left_out);
            record.first_frame + if row >= record.stored { row - record.stored } else { row }
        };
        let a = position.floor();
        let t = if record.held & 0x8000 == 0 { position - a } else { hold(position - a) };
        Between { clip: (clip & 0x3fff) as usize, a: frame(a), b: frame(a + 1.0), t }
    }

    /// Blends the current clip and the fading clips.
    fn mix<T>(&self, clips: &[ClipRecord], of: impl Fn(Between) -> T, mix: impl Fn(&T, &T, f64) -> T) -> T {
        let w = &self.words;
        let rate = |packed: u32, bits: u32| {
            let rate = i128::from(packed & ((1 << bits) - 1)) << (packed >> bits & 31);
            if packed >> (bits + 5) & 1 != 0 { -rate } else { rate }
        };
        let current = of(self.frames(clips, w[4] & 0xffff, rate(w[2], 26), w[3]));
        let weight = curve(w[9] >> 16 & 3, self.progress(w[5]));
        if weight >= 1.0 {
            return current;
        }
        let source =
            |words: &[u32]| of(self.frames(clips, words[0] & 0xffff, rate(words[0] >> 16, 10), words[1] << 16));
        let older = f64::from(w[7] >> 16) / 65_535.0;
        let from = if older > 0.0 { mix(&source(&w[6..8]), &source(&w[8..10]), older) } else { source(&w[6..8]) };
        mix(&from, &current, weight)
    }

    fn progress(&self, fade: u32) -> f64 {
        progress(fade, self.seconds())
    }
}

fn progress(fade: u32, seconds: f64) -> f64 {
    if fade & 0xffff == 0xffff {
        return 1.0;
    }
    let rate = f64::from(fade >> 16 & 0x7ff) * 2_f64.powi((fade >> 27) as i32 - 32);
    (f64::from(fade & 0xffff) / 65_535.0 + seconds * rate).min(1.0)
}

fn curve(kind: u32, p: f64) -> f64 {
    [p, p * p * (3.0 - 2.0 * p), p * p, p * (2.0 - p)][kind as usize]
}

fn weight(ends: u32, fade: u32, kind: u32, seconds: f64) -> f64 {
    let p = curve(kind & 3, progress(fade, seconds));
    (f64::from(ends & 0xffff) * (1.0 - p) + f64::from(ends >> 16) * p) / 65_535.0
}

fn lerp(a: DVec3, b: DVec3, t: f64) -> DVec3 {
    a + (b - a) * t
}

/// Along the shorter arc at constant angular speed.
fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let angle = a.dot(b).clamp(-1.0, 1.0).acos();
    if angle < 1e-9 {
        return a;
    }
    (a * (((1.0 - t) * angle).sin() / angle.sin()) + b * ((t * angle).sin() / angle.sin())).normalize()
}

/// Along the shorter arc, linearly, normalised.
fn nlerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}

fn quaternion(q: glam::Vec4) -> DQuat {
    DQuat::from_vec4(q.as_dvec4())
}

/// Makes a matrix from the rows of a 3x4 matrix.
fn matrix(rows: [[f64; 4]; 3]) -> DMat4 {
    DMat4::from_cols_array_2d(&[rows[0], rows[1], rows[2], [0.0, 0.0, 0.0, 1.0]]).transpose()
}

fn skin_matrix(m: &Affine3) -> DMat4 {
    matrix(m.rows.map(|row| row.as_dvec4().to_array()))
}

#[derive(Clone, Copy)]
struct Local {
    rotation: DQuat,
    translation: DVec3,
    scale: DVec3,
}

impl Local {
    fn of(local: &LocalTransform) -> Self {
        Self {
            rotation: quaternion(local.rotation).normalize(),
            translation: local.translation.as_dvec3(),
            scale: local.scale.as_dvec3(),
        }
    }

    fn mix(&self, other: &Self, t: f64) -> Self {
        self.mix_each(other, [t; 3])
    }

    /// `t`: of rotation, translation and scale.
    fn mix_each(&self, other: &Self, t: [f64; 3]) -> Self {
        Self {
            rotation: slerp(self.rotation, other.rotation, t[0]),
            translation: lerp(self.translation, other.translation, t[1]),
            scale: lerp(self.scale, other.scale, t[2]),
        }
    }
}

/// Part of the way from one frame to the next of a value that is held from frame to frame.
fn hold(t: f64) -> f64 {
    if t < 0.992_187_5 { 0.0 } else { 1.0 }
}

/// Decodes a clip of `local-packed` between two frames.
fn locals(test: &TestModel, between: Between) -> Vec<Local> {
    let tracks = test.tracks();
    let first = test.records[between.clip].first_frame;
    let at = |frame| tracks.locals(FramePair { a: frame, b: frame, t: 0.0, first });
    let (a, b) = (at(between.a), at(between.b));
    let word = |at: u32| u32::from_le_bytes(test.animation().as_chunks().0[at as usize]);
    let entries = word(word(layout::header::CLIPS_AT as u32) + between.clip as u32) + layout::clip::ENTRIES as u32;
    let local = |(node, (a, b)): (u32, (&LocalTransform, &LocalTransform))| {
        let entry = word(entries + node);
        let t = [0, 2, 4].map(|bit| if entry >> bit & 3 == 3 { hold(between.t) } else { between.t });
        Local::of(a).mix_each(&Local::of(b), t)
    };
    (0..).zip(a.iter().zip(&b)).map(local).collect()
}

#[allow(clippy::ptr_arg, reason = "it mixes what `mix` is given: lists")]
fn mix_all(a: &Vec<Local>, b: &Vec<Local>, t: f64) -> Vec<Local> {
    a.iter().zip(b).map(|(a, b)| a.mix(b, t)).collect()
}

/// Formulas of `layers` for a single additive clip.
fn add(under: &Local, reference: &Local, pose: &Local, w: f64) -> Local {
    let delta = slerp(DQuat::IDENTITY, reference.rotation.inverse() * pose.rotation, w);
    Local {
        rotation: under.rotation * delta,
        translation: under.translation + (pose.translation - reference.translation) * w,
        scale: under.scale * (DVec3::ONE + (pose.scale / reference.scale - DVec3::ONE) * w),
    }
}

fn layered(test: &TestModel, frame: &CaptureFrame<'_>, base: Vec<Local>) -> Vec<Local> {
    let Some(set) = frame.layers else { return base };
    let words = set.words();
    let tracks = test.tracks();
    let mut under = base;
    for w in words[..24].as_chunks::<12>().0 {
        let words = [w[0], w[1], w[2], w[3], w[4], w[5], w[8], w[9], w[10], w[11]];
        let playing = Playing { words, now: frame.time };
        let weight = weight(w[6], w[7], w[4] >> 25, playing.seconds());
        let mask = w[4] >> 16 & 511;
        let over = playing.mix(
            &test.records,
            |between| {
                let pose = locals(test, between);
                let Some(reference) = tracks.reference(between.clip) else { return pose };
                let first = test.records[reference].first_frame;
                let reference = locals(test, Between { clip: reference, a: first, b: first, t: 0.0 });
                let added = under.iter().zip(&reference).zip(&pose);
                added.map(|((under, reference), pose)| add(under, reference, pose, 1.0)).collect()
            },
            mix_all,
        );
        let alone = w[5] & 0xffff == 0xffff;
        let reference = tracks.reference((w[4] & 0x3fff) as usize);
        for node in 0..under.len() {
            if mask > 0 && !tracks.mask(mask as usize - 1, node) {
                continue;
            }
            under[node] = match reference {
                Some(reference) if alone => {
                    let first = test.records[reference].first_frame;
                    let reference = locals(test, Between { clip: reference, a: first, b: first, t: 0.0 })[node];
                    let pose = playing.mix(&test.records, |between| locals(test, between), mix_all)[node];
                    add(&under[node], &reference, &pose, weight)
                }
                _ => under[node].mix(&over[node], weight),
            };
        }
    }
    if let Some(LiveBones::Local(own)) = frame.live {
        let weight = live_weight(&words, frame.time);
        under = under.iter().zip(own).map(|(under, own)| under.mix(&Local::of(own), weight)).collect();
    }
    under
}

fn live_weight(words: &[u32; 32], now: Time) -> f64 {
    weight(words[26], words[27], words[28] >> 2, now.since(Time::from_words([words[24], words[25]])))
}

/// Rotations along the shorter arc at constant angular speed; translations and the rest of the 3x3
/// component-wise.
fn mix_matrices(a: DMat4, b: DMat4, t: f64) -> DMat4 {
    let rotations = [a, b].map(rotation);
    let rest = rotations[0].inverse() * linear(a) * (1.0 - t) + rotations[1].inverse() * linear(b) * t;
    let [from, to] = rotations.map(|m| DQuat::from_mat4(&m));
    let mut mixed = DMat4::from_quat(slerp(from, to, t)) * rest;
    mixed.w_axis = a.w_axis * (1.0 - t) + b.w_axis * t;
    mixed
}

fn linear(m: DMat4) -> DMat4 {
    DMat4::from_cols(m.x_axis, m.y_axis, m.z_axis, DVec4::W)
}

/// Returns the rotation by Gram-Schmidt.
fn rotation(m: DMat4) -> DMat4 {
    let x = m.x_axis.truncate().normalize();
    let y = m.y_axis.truncate();
    let y = (y - x * x.dot(y)).normalize();
    DMat4::from_cols(x.extend(0.0), y.extend(0.0), x.cross(y).extend(0.0), DVec4::W)
}

/// Evaluates the bones of `local-packed`.
fn palette(test: &TestModel, frame: &CaptureFrame<'_>, playing: &Playing) -> Vec<DMat4> {
    let tracks = test.tracks();
    let base = playing.mix(&test.records, |between| locals(test, between), mix_all);
    let mut globals: Vec<DMat4> = Vec::new();
    for (node, local) in layered(test, frame, base).iter().enumerate() {
        let own = DMat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation);
        globals.push(tracks.parent(node).map_or(own, |parent| globals[parent] * own));
    }
    let inverse_binds = tracks.bones(&vec![Affine3::IDENTITY; tracks.node_count()]);
    let bone = |(i, inverse_bind): (usize, &Affine3)| {
        let mut global = globals[tracks.bone_node(i)];
        if let (Some(LiveBones::Model(own)), Some(set)) = (frame.live, frame.layers) {
            let own = matrix(own[i].map(|row| row.map(f64::from)));
            global = mix_matrices(global, own, live_weight(&set.words(), frame.time));
        }
        global * skin_matrix(inverse_bind)
    };
    inverse_binds.iter().enumerate().map(bone).collect()
}

/// Evaluates a bone of another encoding.
fn bone(test: &TestModel, playing: &Playing, bone: u32) -> DMat4 {
    let meta = &test.model.meta;
    let texels = test.texels();
    let bytes = |frame: u32, k: u32, len: usize| {
        let at = meta.texture.byte_offset(meta.encoding, frame, bone, k) as usize;
        &test.animation()[at..at + len]
    };
    // Rotation, translation of the pivot, scale.
    let trs = |frame: u32| -> (DQuat, DVec3, f64) {
        let numbers: Vec<f64> = match meta.encoding {
            Encoding::TrsF16 => bytemuck::pod_collect_to_vec::<u8, half::f16>(bytes(frame, 0, 16))
                .iter()
                .map(|half| half.to_f64())
                .collect(),
            Encoding::Fixed16 => {
                bytes(frame, 0, 16).as_chunks().0.iter().map(|pair| from_fixed16(*pair).into()).collect()
            }
            _ => {
                let words: Vec<u32> = bytemuck::pod_collect_to_vec(bytes(frame, 0, 16));
                let (q, place, scale) = packed::unpack(words.try_into().unwrap(), &packed_range(bone));
                q.to_array().into_iter().chain(place.to_array()).chain([scale]).map(f64::from).collect()
            }
        };
        let n = &numbers;
        (DQuat::from_xyzw(n[0], n[1], n[2], n[3]), DVec3::new(n[4], n[5], n[6]), n[7])
    };
    if matches!(meta.encoding, Encoding::TrsF16 | Encoding::Fixed16 | Encoding::TrsPacked) {
        let mix = |a: &(DQuat, DVec3, f64), b: &(DQuat, DVec3, f64), t: f64| {
            (nlerp(a.0, b.0, t), lerp(a.1, b.1, t), a.2 + (b.2 - a.2) * t)
        };
        let of = |between: Between| mix(&trs(between.a), &trs(between.b), between.t);
        let (rotation, place, scale) = playing.mix(&test.records, of, mix);
        let turned = DMat4::from_quat(rotation) * DMat4::from_scale(DVec3::splat(scale));
        let pivot =
            if meta.encoding == Encoding::TrsPacked { packed_range(bone).pivot.as_dvec3() } else { DVec3::ZERO };
        return DMat4::from_translation(place - turned.transform_vector3(pivot)) * turned;
    }
    let at = |clip: usize, frame| {
        skin_matrix(&texels.bone(FramePair { a: frame, b: frame, t: 0.0, first: test.records[clip].first_frame }, bone))
    };
    let mix = |a: &DMat4, b: &DMat4, t: f64| *a * (1.0 - t) + *b * t;
    playing.mix(&test.records, |of| mix(&at(of.clip, of.a), &at(of.clip, of.b), of.t), mix)
}

fn vertices(test: &TestModel, frame: &CaptureFrame<'_>) -> Vec<DVec3> {
    let meta = &test.model.meta;
    let words: [u32; 18] = bytemuck::cast(frame.record);
    let playing = Playing { words: words[8..].try_into().unwrap(), now: frame.time };
    let in_model: Vec<DVec3> = if meta.encoding.is_vertex() {
        let texels = test.texels();
        let at = |vertex: u32, frame| texels.stored_vertex(frame, vertex).position.as_dvec3();
        let vertex = |row| {
            let of = |between: Between| lerp(at(row, between.a), at(row, between.b), between.t);
            playing.mix(&test.records, of, |a, b, t| lerp(*a, *b, t))
        };
        test.vertices().map(|v| vertex(v.joints[0])).collect()
    } else {
        let bones: Vec<DMat4> = if meta.encoding.needs_compute() {
            palette(test, frame, &playing)
        } else {
            (0..meta.texture.rows).map(|i| bone(test, &playing, i)).collect()
        };
        let skin = |v: gpuskin_rt::internals::vertex::Vertex| {
            let moved = v.joints.iter().zip(v.weights).map(|(joint, weight)| {
                bones[*joint as usize].transform_point3(v.position.as_dvec3()) * f64::from(weight)
            });
            moved.sum::<DVec3>()
        };
        test.vertices().map(skin).collect()
    };
    let [x, y, z, w] = frame.record.rotation.map(f64::from);
    let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
    let place = glam::Vec3::from(frame.record.translation).as_dvec3();
    in_model.into_iter().map(|p| place + rotation * (p * f64::from(frame.record.scale))).collect()
}

fn playback(meta: &Metadata, random: &mut Random, played_at: Time) -> Playback {
    let instance = Instance::<Dynamic>::at([0.0; 3])
        .play(Clip::new(random.below(3) as u16))
        .speed(random.within(-2.0, 2.0))
        .phase(random.unit())
        .repeat([Repeat::Loop, Repeat::Once, Repeat::PingPong][random.below(3) as usize]);
    instance.record(meta, played_at).playback()
}

/// Returns an instance in a crossfade, in one that interrupted another, or in a third.
fn fading(meta: &Metadata, random: &mut Random, now: Time) -> InstanceRecord {
    let mut record = Instance::<Dynamic>::at(random.vector())
        .rotated(random.direction().extend(random.within(-1.0, 1.0)).to_array())
        .scaled(random.within(0.5, 1.5))
        .play(Clip::new(random.below(3) as u16))
        .phase(random.unit())
        .record(meta, now - 5.0);
    for ago in [0.9, 0.5, 0.2][random.below(3) as usize..].iter() {
        let curve = [Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut][random.below(4) as usize];
        let played_at = now - f64::from(*ago * random.within(0.5, 1.0));
        record.play(&playback(meta, random, played_at), 1.0, curve, played_at);
    }
    record
}

fn check(test: &TestModel, frames: &[CaptureFrame<'_>], what: &str) {
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let captured = Capture::new(&gpu.device, &gpu.queue, &test.model).unwrap().layered(frames).unwrap();
        let mut worst: f64 = 0.0;
        for (captured, frame) in captured.iter().zip(frames) {
            let expected = vertices(test, frame);
            let all = |f: fn(DVec3, DVec3) -> DVec3| expected.iter().copied().reduce(f).unwrap();
            let diagonal = (all(DVec3::max) - all(DVec3::min)).length();
            for (found, expected) in captured.iter().zip(&expected) {
                let off = glam::Vec3::from(found.position).as_dvec3().distance(*expected) / diagonal;
                worst = worst.max(if off.is_finite() { off } else { f64::INFINITY });
            }
        }
        note!("{what} on {}: {worst:.1e}", gpu.name);
        assert!(worst <= TOLERANCE, "{what} on {}: {worst:.1e}", gpu.name);
    }
}

fn model(encoding: Encoding, bones: u32) -> TestModel {
    let random = &mut Random(11);
    let packing = if encoding.is_vertex() { Packing::Static } else { Packing::Full };
    let recipe = Recipe::random(
        random,
        encoding,
        VertexFormat { packing, tangent: false, second_uv: false, color: false },
        bones,
    );
    recipe.with_steps().build(|_, _| Pose::random(random, false))
}

pub fn crossfades_match_f64_reference() {
    for encoding in Encoding::ALL {
        let test = model(encoding, 12);
        let random = &mut Random(3);
        let frames: Vec<_> = (0..40)
            .map(|i| {
                let time = Time::from_secs(10.0 + f64::from(i) * 1e4 + f64::from(random.unit()));
                let record = fading(&test.model.meta, random, time);
                CaptureFrame { record, layers: None, live: None, time }
            })
            .collect();
        check(&test, &frames, encoding.name());
    }
}

pub fn layers_and_live_bones_match_f64_reference() {
    let test = model(Encoding::LocalPacked, 12);
    let meta = &test.model.meta;
    let random = &mut Random(4);
    let own = |random: &mut Random| {
        let rotation = random.direction().extend(random.within(-1.0, 1.0)).normalize();
        LocalTransform::new(rotation, random.vector() * 0.3, glam::Vec3::ONE + random.vector() * 0.2)
    };
    let nodes: Vec<_> = (0..test.tracks().node_count()).map(|_| own(random)).collect();
    let bones: Vec<_> = (0..12).map(|_| own(random).matrix().rows.map(|row| row.to_array())).collect();
    let frames: Vec<_> = (0..80_u32)
        .map(|i| {
            let time = Time::from_secs(10.0 + f64::from(i) + f64::from(random.unit()));
            let record = fading(meta, random, time);
            let mut set = LayerSet::default();
            for ago in [0.8, 0.4, 0.1][random.below(3) as usize..].iter() {
                let played_at = time - *ago;
                let next = playback(meta, random, played_at);
                let mask = random.below(4).checked_sub(1).map(|mask| mask as u8);
                let over = Transition::crossfade(random.within(0.2, 1.0));
                set.play(random.below(2) as usize, &next, mask, &over, random.unit(), played_at);
            }
            let live = [None, Some(LiveBones::Local(&nodes)), Some(LiveBones::Model(&bones))][i as usize % 3];
            if let Some(live) = &live {
                set.set_live_bones(live, 0, 0.5, time - f64::from(random.within(0.1, 0.7)));
            }
            CaptureFrame { record, layers: Some(set), live, time }
        })
        .collect();
    check(&test, &frames, "layers");
}
