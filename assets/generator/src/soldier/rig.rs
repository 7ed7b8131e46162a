//! Bones of the soldier, and bone weights of its surfaces.

use crate::math::smoothstep;
use crate::mesh::chain;
use crate::skeleton::Skeleton;
use glam::{DVec3, dvec3};

/// Shoulder joint of the left arm, metres.
pub(crate) const SHOULDER: DVec3 = dvec3(0.188, 1.425, -0.015);
/// Direction of the left arm in bind pose: a good 40 degrees from straight down, half way between
/// its extremes.
pub(crate) const ARM: DVec3 = dvec3(0.66, -0.751_265_598_8, 0.0);
/// Direction perpendicular to the arm, away from the body and up. The palm faces the opposite way,
/// the thumb forward (+Z).
pub(crate) const ARM_OUT: DVec3 = dvec3(0.751_265_598_8, 0.66, 0.0);
/// Distances of elbow and wrist from the shoulder along the arm, metres.
pub(crate) const ELBOW: f64 = 0.285;
pub(crate) const WRIST: f64 = 0.540;

pub(crate) const SIDES: [(&str, f64); 2] = [("L", 1.0), ("R", -1.0)];

/// Moves `v` to the side `sign`: 1 is left, as given; -1 mirrors to the right.
pub(crate) fn side(v: DVec3, sign: f64) -> DVec3 {
    dvec3(v.x * sign, v.y, v.z)
}

pub(crate) fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    s.add("Hips", "", dvec3(0.0, 0.97, 0.0));
    s.add("Spine", "Hips", dvec3(0.0, 1.07, -0.005));
    s.add("Chest", "Spine", dvec3(0.0, 1.22, -0.01));
    s.add("Neck", "Chest", dvec3(0.0, 1.48, -0.02));
    s.add("Head", "Neck", dvec3(0.0, 1.56, -0.005));
    for (name, sign) in SIDES {
        let mut bone = |bone: &str, parent: &str, at: DVec3| {
            let parent = if parent.ends_with('.') { format!("{parent}{name}") } else { parent.to_owned() };
            s.add(&format!("{bone}.{name}"), &parent, side(at, sign));
        };
        let arm = |along: f64| SHOULDER + ARM * along;
        bone("Shoulder", "Chest", dvec3(0.04, 1.43, 0.0));
        bone("UpperArm", "Shoulder.", SHOULDER);
        bone("ArmTwist", "UpperArm.", arm(0.14));
        bone("LowerArm", "ArmTwist.", arm(ELBOW));
        bone("ForeTwist", "LowerArm.", arm(ELBOW + 0.13));
        bone("Hand", "ForeTwist.", arm(WRIST));
        bone("Fingers", "Hand.", arm(WRIST + 0.088));
        bone("FingerTips", "Fingers.", arm(WRIST + 0.115) - ARM_OUT * 0.035);
        bone("Thumb", "Hand.", arm(WRIST + 0.03) + dvec3(0.0, 0.0, 0.035));
        bone("UpperLeg", "Hips", dvec3(0.095, 0.92, 0.0));
        bone("LowerLeg", "UpperLeg.", dvec3(0.103, 0.50, 0.012));
        bone("Foot", "LowerLeg.", dvec3(0.11, 0.085, -0.015));
        bone("Toe", "Foot.", dvec3(0.115, 0.02, 0.105));
        bone("SkirtFront", "Hips", dvec3(0.085, 0.99, 0.07));
        bone("SkirtBack", "Hips", dvec3(0.085, 0.99, -0.07));
    }
    s
}

pub(crate) type Weights = Vec<(usize, f64)>;

/// Moves the fraction `part` of all weights to the bone `to`.
fn give(mut weights: Weights, part: f64, to: usize) -> Weights {
    weights.iter_mut().for_each(|w| w.1 *= 1.0 - part);
    weights.push((to, part));
    weights
}

/// Index of the bone with `.L` or `.R` for the side `sign`.
pub(crate) fn sided(s: &Skeleton, bone: &str, sign: f64) -> usize {
    s.find(&format!("{bone}.{}", if sign > 0.0 { "L" } else { "R" }))
}

pub(crate) fn torso(s: &Skeleton, p: DVec3) -> Weights {
    let mut w = chain(
        p.y,
        &[
            (s.find("Hips"), 0.0, 0.0),
            (s.find("Spine"), 1.06, 0.07),
            (s.find("Chest"), 1.21, 0.07),
            (s.find("Neck"), 1.485, 0.03),
        ],
    );
    let sign = if p.x < 0.0 { -1.0 } else { 1.0 };
    let joint = side(SHOULDER, sign);
    let x = p.x * sign;
    w = give(w, 0.55 * smoothstep(0.05, 0.17, x) * smoothstep(1.28, 1.40, p.y), sided(s, "Shoulder", sign));
    w = give(w, 0.40 * (1.0 - smoothstep(0.03, 0.15, (p - joint).length())), sided(s, "UpperArm", sign));
    give(w, 0.45 * smoothstep(0.0, 0.08, x) * (1.0 - smoothstep(0.82, 0.95, p.y)), sided(s, "UpperLeg", sign))
}

pub(crate) fn head(s: &Skeleton, p: DVec3) -> Weights {
    chain(p.y, &[(s.find("Chest"), 0.0, 0.0), (s.find("Neck"), 1.485, 0.025), (s.find("Head"), 1.555, 0.035)])
}

pub(crate) fn arm(s: &Skeleton, sign: f64, p: DVec3) -> Weights {
    let bone = |name: &str| sided(s, name, sign);
    let along = (side(p, sign) - SHOULDER).dot(ARM);
    chain(
        along,
        &[
            (s.find("Chest"), 0.0, 0.0),
            (bone("Shoulder"), -0.075, 0.05),
            (bone("UpperArm"), 0.0, 0.075),
            (bone("ArmTwist"), 0.16, 0.085),
            (bone("LowerArm"), ELBOW, 0.055),
            (bone("ForeTwist"), 0.42, 0.11),
            (bone("Hand"), WRIST, 0.03),
        ],
    )
}

pub(crate) fn leg(s: &Skeleton, sign: f64, p: DVec3) -> Weights {
    let bone = |name: &str| sided(s, name, sign);
    let w = chain(
        -p.y,
        &[
            (s.find("Hips"), 0.0, 0.0),
            (bone("UpperLeg"), -0.90, 0.09),
            (bone("LowerLeg"), -0.50, 0.07),
            (bone("Foot"), -0.095, 0.04),
        ],
    );
    // The toes bend where the foot is low and in front.
    give(w, smoothstep(0.075, 0.135, p.z) * (1.0 - smoothstep(0.1, 0.16, p.y)), bone("Toe"))
}

/// The skirt follows its own four bones, one for most of each quarter.
pub(crate) fn skirt(s: &Skeleton, p: DVec3) -> Weights {
    let free = 1.0 - smoothstep(0.80, 1.02, p.y);
    let left = smoothstep(-0.10, 0.10, p.x);
    let front = smoothstep(-0.13, 0.13, p.z);
    vec![
        (s.find("Hips"), 1.0 - free),
        (s.find("SkirtFront.L"), free * front * left),
        (s.find("SkirtFront.R"), free * front * (1.0 - left)),
        (s.find("SkirtBack.L"), free * (1.0 - front) * left),
        (s.find("SkirtBack.R"), free * (1.0 - front) * (1.0 - left)),
    ]
}
