//! The hound's bones. Metres, facing +Z.

use crate::skeleton::Skeleton;
use glam::dvec3;

pub(crate) const SIDES: [(&str, f64); 2] = [("L", 1.0), ("R", -1.0)];

pub(crate) fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    let mid = |y: f64, z: f64| dvec3(0.0, y, z);
    s.add("Hips", "", mid(0.66, -0.36));
    s.add("Spine1", "Hips", mid(0.68, -0.22));
    s.add("Spine2", "Spine1", mid(0.68, -0.05));
    s.add("Chest", "Spine2", mid(0.67, 0.12));
    s.add("Neck1", "Chest", mid(0.71, 0.28));
    s.add("Neck2", "Neck1", mid(0.80, 0.37));
    s.add("Head", "Neck2", mid(0.88, 0.46));
    s.add("Jaw", "Head", mid(0.855, 0.52));
    s.add("Tail1", "Hips", mid(0.68, -0.45));
    s.add("Tail2", "Tail1", mid(0.63, -0.56));
    s.add("Tail3", "Tail2", mid(0.56, -0.66));
    s.add("Tail4", "Tail3", mid(0.50, -0.75));
    for (name, sign) in SIDES {
        let mut bone = |bone: &str, parent: &str, x: f64, y: f64, z: f64| {
            let parent = if parent.ends_with('.') { format!("{parent}{name}") } else { parent.to_owned() };
            s.add(&format!("{bone}.{name}"), &parent, dvec3(x * sign, y, z));
        };
        bone("Ear", "Head", 0.048, 0.945, 0.465);
        bone("Shoulder", "Chest", 0.07, 0.70, 0.17);
        bone("UpperArm", "Shoulder.", 0.098, 0.53, 0.255);
        bone("ForeArm", "UpperArm.", 0.10, 0.42, 0.15);
        bone("Wrist", "ForeArm.", 0.10, 0.15, 0.175);
        bone("ForePaw", "Wrist.", 0.10, 0.045, 0.205);
        bone("Thigh", "Hips", 0.085, 0.62, -0.36);
        bone("Shin", "Thigh.", 0.10, 0.42, -0.275);
        bone("Hock", "Shin.", 0.098, 0.225, -0.46);
        bone("HindPaw", "Hock.", 0.098, 0.045, -0.425);
    }
    s
}

pub(crate) fn sided(s: &Skeleton, bone: &str, sign: f64) -> usize {
    s.find(&format!("{bone}.{}", if sign > 0.0 { "L" } else { "R" }))
}

/// Bone of the other side; a bone in the middle is returned unchanged.
pub(crate) fn other_side(s: &Skeleton, bone: usize) -> usize {
    s.bones[bone].name.strip_suffix(".L").map_or(bone, |name| s.find(&format!("{name}.R")))
}
