//! Words in the names of bones: the side, and what is left without the prefixes of tools.

use super::bone::{Finger, Side};
use crate::fbx_names::unescaped;

/// Words that name no bone. A number may follow: `Bip001`, `mixamorig1`.
const NO_BONES: [&str; 12] =
    ["mixamorig", "def", "j", "bip", "biped", "c", "x", "cc", "base", "valve", "stretch", "joint"];

/// Words of the fingers.
const FINGERS: [(&str, Finger); 8] = [
    ("thumb", Finger::Thumb),
    ("index", Finger::Index),
    ("middle", Finger::Middle),
    ("mid", Finger::Middle),
    ("ring", Finger::Ring),
    ("pinky", Finger::Little),
    ("pinkie", Finger::Little),
    ("little", Finger::Little),
];

/// Name of a node, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BoneWords {
    pub(super) side: Option<Side>,
    /// The other words in lower case without separators, and numbers without leading zeros: `spine1` for
    /// `spine_01`.
    pub(super) word: String,
    /// Finger that the name has, unless it is a bone of the palm.
    pub(super) finger: Option<Finger>,
}

impl BoneWords {
    /// Takes a name apart.
    pub(super) fn new(name: &str) -> Self {
        let name = unescaped(name);
        let own = name.rsplit([':', '|']).next().unwrap_or(&name);
        let mut found = Self::default();
        let mut is_palm = false;
        for word in words(own) {
            let side = match &*word {
                "l" | "left" => Some(Side::Left),
                "r" | "right" => Some(Side::Right),
                _ => None,
            };
            if let (Some(side), None) = (side, found.side) {
                found.side = Some(side);
                continue;
            }
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            if NO_BONES.contains(&letters) {
                continue;
            }
            // Words in one case: `leftarm`.
            let mut rest = &*word;
            for (start, side) in [("left", Side::Left), ("right", Side::Right)] {
                if let (None, Some(bone)) = (found.side, word.strip_prefix(start)) {
                    (found.side, rest) = (Some(side), bone);
                }
            }
            found.word += match rest.bytes().all(|b| b.is_ascii_digit()) {
                true => rest.trim_start_matches('0'),
                false => rest,
            };
            is_palm |= rest.contains("carpal") || rest == "palm" || rest == "meta";
        }
        let finger = FINGERS.iter().find(|(word, _)| found.word.contains(word)).map(|(_, finger)| *finger);
        found.finger = finger.filter(|_| !is_palm);
        found
    }

    /// Returns the words without a number at their end.
    pub(super) fn word_without_digits(&self) -> &str {
        self.word.trim_end_matches(|c: char| c.is_ascii_digit())
    }
}

/// Splits a name at separators, at numbers after separators, and where capital letters begin a word.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after = letters.get(i + 1).copied();
        let starts = c.is_uppercase()
            && (before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit())
                || before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_common_tools() {
        for (name, side, word) in [
            ("mixamorig:LeftUpLeg", Some(Side::Left), "upleg"),
            ("mixamorig1:Spine2", None, "spine2"),
            ("mixamorigRightForeArm", Some(Side::Right), "forearm"),
            ("upperarm_l", Some(Side::Left), "upperarm"),
            ("spine_01", None, "spine1"),
            ("DEF-upper_arm.L", Some(Side::Left), "upperarm"),
            ("DEF-upper_arm.L.001", Some(Side::Left), "upperarm1"),
            ("DEF-spine.006", None, "spine6"),
            ("J_Bip_L_UpperArm", Some(Side::Left), "upperarm"),
            ("J_Bip_C_Hips", None, "hips"),
            ("Bip01 L Thigh", Some(Side::Left), "thigh"),
            ("ValveBiped.Bip01_R_Calf", Some(Side::Right), "calf"),
            ("CC_Base_L_Thigh", Some(Side::Left), "thigh"),
            ("lThighBend", Some(Side::Left), "thighbend"),
            ("LThigh", Some(Side::Left), "thigh"),
            ("UpperArmL", Some(Side::Left), "upperarm"),
            ("LeftUpperArm", Some(Side::Left), "upperarm"),
            ("leftarm", Some(Side::Left), "arm"),
            ("upper_arm.L", Some(Side::Left), "upperarm"),
            ("forearm_stretch.r", Some(Side::Right), "forearm"),
            ("thigh_stretch.l", Some(Side::Left), "thigh"),
            ("root.x", None, "root"),
            ("ORG-thigh.L", Some(Side::Left), "orgthigh"),
            ("IK-foot.l", Some(Side::Left), "ikfoot"),
            ("Armature|Hips", None, "hips"),
            ("upper_armFBXASC046L", Some(Side::Left), "upperarm"),
        ] {
            let found = BoneWords::new(name);
            assert_eq!((found.side, &*found.word), (side, word), "{name}");
        }
    }

    #[test]
    fn fingers_are_found_and_palms_are_not() {
        for (name, finger) in [
            ("mixamorig:LeftHandIndex1", Some(Finger::Index)),
            ("f_pinky.01.R", Some(Finger::Little)),
            ("pinky_02_l", Some(Finger::Little)),
            ("J_Bip_L_Middle2", Some(Finger::Middle)),
            ("index_metacarpal_l", None),
            ("Spine", None),
        ] {
            assert_eq!(BoneWords::new(name).finger, finger, "{name}");
        }
    }
}
