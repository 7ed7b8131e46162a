//! Humanoid bones of VRM files: the extensions `VRMC_vrm` (VRM 1.0), `VRM` (VRM 0.x) and `VRMC_vrm_animation`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::identifier_case::snake;
use crate::retarget::bone::HumanBone;

#[derive(Default, Deserialize)]
struct Root {
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Default, Deserialize)]
struct Extensions {
    #[serde(rename = "VRMC_vrm")]
    one: Option<Vrm1>,
    #[serde(rename = "VRM")]
    zero: Option<Vrm0>,
    #[serde(rename = "VRMC_vrm_animation")]
    animation: Option<Vrm1>,
}

#[derive(Deserialize)]
struct Vrm1 {
    humanoid: Humanoid<BTreeMap<String, Node>>,
}

#[derive(Deserialize)]
struct Vrm0 {
    humanoid: Humanoid<Vec<NamedNode>>,
}

#[derive(Deserialize)]
struct Humanoid<T> {
    #[serde(rename = "humanBones")]
    bones: T,
}

#[derive(Deserialize)]
struct Node {
    node: usize,
}

#[derive(Deserialize)]
struct NamedNode {
    bone: String,
    node: usize,
}

/// Whether an extension is one of VRM's.
pub(super) fn is_extension(name: &str) -> bool {
    name == "VRM" || name.starts_with("VRMC_")
}

/// Returns the bones that the extensions of a file name, and their nodes, which may not exist. Nothing for
/// other files.
pub(super) fn bones(json: &[u8]) -> Vec<(HumanBone, usize)> {
    let Root { extensions } = serde_json::from_slice(json).unwrap_or_default();
    if let Some(vrm) = extensions.one.or(extensions.animation) {
        // Thumbs of VRM 1.0 begin with the metacarpal, those of VRM 0.x with the proximal bone.
        let named = |name: &str| {
            let name = snake(name);
            match name.split_once("_thumb_") {
                Some((side, "metacarpal")) => HumanBone::from_name(&format!("{side}_thumb_proximal")),
                Some((side, "proximal")) => HumanBone::from_name(&format!("{side}_thumb_intermediate")),
                _ => HumanBone::from_name(&name),
            }
        };
        return vrm.humanoid.bones.iter().filter_map(|(name, node)| Some((named(name)?, node.node))).collect();
    }
    let bones = extensions.zero.into_iter().flat_map(|vrm| vrm.humanoid.bones);
    bones.filter_map(|found| Some((HumanBone::from_name(&snake(&found.bone))?, found.node))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retarget::bone::{Finger, Side};

    #[test]
    fn all_versions_are_read_and_other_files_have_none() {
        let one = br#"{ "extensions": { "VRMC_vrm": { "humanoid": { "humanBones": {
            "hips": { "node": 3 }, "leftUpperArm": { "node": 7 }, "rightThumbMetacarpal": { "node": 9 }, "jaw": { "node": 1 }
        } } } } }"#;
        let thumb = HumanBone::Finger(Side::Right, Finger::Thumb, 0);
        assert_eq!(bones(one), [(HumanBone::Hips, 3), (HumanBone::UpperArm(Side::Left), 7), (thumb, 9)]);
        let animation =
            br#"{ "extensions": { "VRMC_vrm_animation": { "specVersion": "1.0", "humanoid": { "humanBones": {
            "hips": { "node": 2 }
        } } } } }"#;
        assert_eq!(bones(animation), [(HumanBone::Hips, 2)]);
        let zero = br#"{ "extensions": { "VRM": { "humanoid": { "humanBones": [
            { "bone": "hips", "node": 3 }, { "bone": "rightThumbProximal", "node": 9 }
        ] } } } }"#;
        assert_eq!(bones(zero), [(HumanBone::Hips, 3), (thumb, 9)]);
        for other in [&b"{}"[..], b"[", br#"{ "extensions": { "VRM": 3 } }"#] {
            assert_eq!(bones(other), []);
        }
    }
}
