//! Checks the models: closed surfaces, weights that sum to one, loops that close, and feet that
//! stay fixed to the ground.

use crate::glb::Model;
use crate::ik::{FootShape, Limb, curve, solve};
use crate::math::{aim, wrap};
use crate::mesh::Part;
use crate::skeleton::{Clip, FPS, Pose, Skeleton};
use crate::{glb, hound, soldier};
use glam::{DVec3, dvec3};
use std::sync::LazyLock;

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(crate::models);

fn parts(model: &Model) -> impl Iterator<Item = &Part> {
    let rigid = model.rigid.iter().flat_map(|r| &r.primitives);
    model.body.iter().chain(rigid).flat_map(|(_, parts)| parts)
}

fn clip<'a>(model: &'a Model, name: &str) -> &'a Clip {
    model.clips.iter().find(|c| c.name == name).unwrap()
}

#[test]
fn a_limb_reaches_its_target_without_stretching() {
    let mut s = Skeleton::default();
    s.add("a", "", DVec3::ZERO);
    s.add("b", "a", dvec3(0.0, -0.4, 0.05));
    s.add("c", "b", dvec3(0.0, -0.8, 0.0));
    let limb = Limb { upper: 0, lower: 1, end: 2, bind_pole: DVec3::Z };
    for target in [dvec3(0.1, -0.6, 0.3), dvec3(-0.3, -0.2, -0.4), dvec3(0.0, -0.79, 0.0)] {
        let mut pose = Pose::bind(&s);
        solve(&s, &mut pose, limb, target, dvec3(0.2, 0.1, 1.0));
        assert!((pose.global(&s, 2).1 - target).length() < 1e-9);
        // The middle joint is on the pole's side of the line to the target.
        let middle = pose.global(&s, 1).1;
        assert!((middle - target * middle.dot(target) / target.length_squared()).dot(dvec3(0.2, 0.1, 1.0)) > 0.0);
    }
}

#[test]
fn aim_maps_both_directions() {
    let q = aim(DVec3::X, DVec3::Y, dvec3(0.0, 1.0, 1.0), DVec3::Z);
    assert!((q * DVec3::X - dvec3(0.0, 1.0, 1.0).normalize()).length() < 1e-12);
    assert!((q * DVec3::Y).dot(DVec3::Z) > 0.7);
}

#[test]
fn a_curve_meets_its_keys_and_stays_between_them() {
    let keys = [(0.0, -0.3), (0.4, 0.0), (0.9, 0.0), (1.0, 0.5), (1.4, 1.2), (2.0, -0.3)];
    for (x, value) in keys {
        assert!(libm::fabs(curve(&keys, x) - value) < 1e-12);
    }
    for pair in keys.windows(2) {
        let ((a, va), (b, vb)) = (pair[0], pair[1]);
        for i in 0..=20 {
            let value = curve(&keys, a + (b - a) * f64::from(i) / 20.0);
            assert!(value >= va.min(vb) - 1e-12 && value <= va.max(vb) + 1e-12, "{value} lies outside {va}..{vb}");
        }
    }
    // No kink, neither at an intermediate key nor between strides.
    let slope = |x: f64| (curve(&keys, x + 1e-6) - curve(&keys, x)) / 1e-6;
    assert!(slope(1.0 - 2e-6) > 1.0 && libm::fabs(slope(1.0 - 2e-6) - slope(1.0)) < 1e-3);
    assert!(libm::fabs(slope(2.0 - 2e-6) - slope(0.0)) < 1e-3);
}

#[test]
fn weights_sum_to_one() {
    for model in MODELS.iter() {
        for v in model.body.iter().flat_map(|(_, parts)| parts).flat_map(|p| &p.vertices) {
            assert_eq!(v.skin.weights.iter().map(|&w| u32::from(w)).sum::<u32>(), 255);
            assert!(v.skin.bones.iter().all(|&b| usize::from(b) < model.skeleton.bones.len()));
        }
    }
}

#[test]
fn surfaces_are_closed_and_face_outwards() {
    for part in MODELS.iter().flat_map(parts) {
        assert!(part.volume() > 0.0, "{} is inside out", part.name);
        let key = |i: u32| (part.vertices[i as usize].position * 1e5).round().to_array().map(|x| x as i64);
        let mut edges = std::collections::BTreeMap::new();
        let mut against = 0;
        for t in &part.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                // In a closed surface, the triangles use every edge equally often in both
                // directions.
                let (a, b) = (key(a), key(b));
                *edges.entry((a.min(b), a.max(b))).or_insert(0) += if a < b { 1 } else { -1 };
            }
            let [a, b, c] = t.map(|i| part.vertices[i as usize]);
            let face = (b.position - a.position).cross(c.position - a.position);
            against += usize::from(face.dot(a.normal + b.normal + c.normal) < 0.0);
        }
        assert!(edges.values().all(|&n| n == 0), "{} is open", part.name);
        assert!(against * 20 <= part.triangles.len(), "{}: {against} normals point inwards", part.name);
    }
}

#[test]
fn loops_close_and_the_death_clip_ends_at_rest() {
    for model in MODELS.iter() {
        for clip in &model.clips {
            let (first, last) = (&clip.frames[0], &clip.frames[clip.frames.len() - 1]);
            if clip.looped {
                assert_eq!(first.local, last.local, "{}", clip.name);
                assert_eq!(first.root, last.root, "{}", clip.name);
            }
        }
    }
    let die = clip(&MODELS[0], "die");
    let (before, end) = (&die.frames[die.frames.len() - 2], &die.frames[die.frames.len() - 1]);
    assert!((before.root - end.root).length() < 1e-6);
}

/// Largest rotation per frame. Baked poses are interpolated linearly, so large rotations shrink
/// limbs between frames. A joint that flips exceeds it as well.
const MAX_TURN: f64 = 28.0; // degrees per frame

#[test]
fn no_bone_turns_far_between_frames() {
    for model in MODELS.iter() {
        for clip in &model.clips {
            for (i, pair) in clip.frames.windows(2).enumerate() {
                for (bone, (a, b)) in model.skeleton.bones.iter().zip(pair[0].local.iter().zip(&pair[1].local)) {
                    let turn = (2.0 * libm::acos(libm::fabs(a.dot(*b)).min(1.0))).to_degrees();
                    let (model, bone, clip, at) = (model.name, &bone.name, clip.name, i as f64 / FPS);
                    assert!(turn < MAX_TURN, "{model}: {bone} turns {turn:.1} degrees in {clip} at {at:.3} s");
                }
            }
        }
    }
}

/// Largest movement of a planted foot against the ground, over all frames of its stance: (slip per
/// frame, distance from the ground).
fn slip(s: &Skeleton, clip: &Clip, bone: usize, shape: FootShape, strike: f64, duty: f64) -> (f64, f64) {
    let frames = clip.frames.len() - 1;
    let step = clip.speed.unwrap() / FPS;
    let (mut worst, mut height) = (0.0f64, 0.0f64);
    let mut pairs = 0;
    for i in 0..frames {
        let phase = wrap(i as f64 / frames as f64 - strike);
        if phase + 1.0 / frames as f64 > duty {
            continue;
        }
        pairs += 1;
        let (now, next) = (&clip.frames[i], &clip.frames[i + 1]);
        // The foot stands on the lower one of heel and ball in both frames.
        let low = [shape.heel, shape.ball].map(|p| (now.carry(s, bone, p), next.carry(s, bone, p)));
        let (a, b) = low.into_iter().min_by(|x, y| (x.0.y.max(x.1.y)).total_cmp(&y.0.y.max(y.1.y))).unwrap();
        worst = worst.max((b - a + DVec3::Z * step).length());
        height = height.max(libm::fabs(a.y)).max(libm::fabs(b.y));
    }
    assert!(pairs > 0, "{} never touches the ground", s.bones[bone].name);
    (worst, height)
}

const MAX_SLIP: f64 = 0.01; // metres per frame

#[test]
fn soldier_feet_do_not_slide() {
    let model = &MODELS[0];
    for (name, stride) in [("walk", soldier::WALK), ("run", soldier::RUN)] {
        for (sign, strike) in [(1.0, 0.0), (-1.0, 0.5)] {
            let (bone, shape) = soldier::foot(&model.skeleton, sign);
            let (slip, height) = slip(&model.skeleton, clip(model, name), bone, shape, strike, stride.duty);
            assert!(slip < MAX_SLIP && height < MAX_SLIP, "{name}: slips {slip:.4} m, {height:.4} m off the ground");
        }
    }
}

#[test]
fn hound_paws_do_not_slide() {
    let model = &MODELS[1];
    for (name, stride, gait) in [("walk", hound::WALK, hound::WALK_GAIT), ("run", hound::RUN, hound::RUN_GAIT)] {
        for (fore, strikes) in [(false, gait.hind), (true, gait.fore)] {
            for (i, strike) in strikes.into_iter().enumerate() {
                let (bone, shape) = hound::foot(&model.skeleton, fore, if i == 0 { 1.0 } else { -1.0 });
                let (slip, height) = slip(&model.skeleton, clip(model, name), bone, shape, strike, stride.duty);
                assert!(
                    slip < MAX_SLIP && height < MAX_SLIP,
                    "{name}, fore {fore}, paw {i}: slips {slip:.4} m, {height:.4} m off the ground"
                );
            }
        }
    }
}

#[test]
fn files_are_small() {
    for model in MODELS.iter() {
        let file = glb::write(model);
        assert!(file.len() < 900_000, "{} has {} bytes", model.name, file.len());
        assert_eq!(file.len() % 4, 0);
    }
}
