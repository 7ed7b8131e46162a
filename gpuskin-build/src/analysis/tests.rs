use std::path::Path;

use super::manifest_text::model_name;
use super::manifest_text::{key, string};
use super::rig::{Role, Side, role};

#[test]
fn node_names_have_roles() {
    let (left, right) = (Some(Side::Left), Some(Side::Right));
    for (name, expected) in [
        ("Hand.L", Some((Role::Hand, left))),
        ("mixamorig:LeftHand", Some((Role::Hand, left))),
        ("mixamorig:LeftHandThumb1", None),
        ("b_RightHand_08", Some((Role::Hand, right))),
        ("Bip001 L Hand", Some((Role::Hand, left))),
        ("J_Bip_R_Hand", Some((Role::Hand, right))),
        ("Palm.R", Some((Role::Hand, right))),
        ("handslot.r", Some((Role::HandSlot, right))),
        ("handIK.l", None),
        ("hand", None),
        ("mixamorig:Head", Some((Role::Head, None))),
        ("mixamorig:HeadTop_End", None),
        ("Spine01", Some((Role::Spine, None))),
        ("b_Hip_01", Some((Role::Hips, None))),
        ("mixamorig:LeftUpLeg", Some((Role::Leg, left))),
        ("LowerLeg.L", None),
        ("mixamorig:LeftToeBase", Some((Role::Toe, left))),
        ("toes.r", Some((Role::Toe, right))),
        ("foot.r", Some((Role::Foot, right))),
        ("control-foot-roll.l", None),
        ("", None),
    ] {
        assert_eq!(role(name), expected, "{name}");
    }
}

#[test]
fn toml_strings_and_keys_are_escaped() {
    for text in ["plain", "with \"quotes\" and \\", "走る", "\u{1b}[31m\n", ""] {
        let table: toml::Table = format!("{} = {}", key(text), string(text)).parse().expect("valid TOML");
        assert_eq!(table[text].as_str(), Some(text));
    }
}

#[test]
fn model_names_are_identifiers() {
    for (path, expected) in [
        ("art/KnightCharacter.glb", "knight_character"),
        ("KnightCharacter.meshopt.glb", "knight_character_meshopt"),
        ("2d.glb", "m2d"),
        ("走る.glb", "model"),
        ("", "model"),
    ] {
        assert_eq!(model_name(Path::new(path)), expected);
    }
}
