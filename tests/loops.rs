//! Guesses of loops over the shared models, compared with what a person would say.

use std::process::ExitCode;

use gpuskin_build::internals::bake::plan;
use gpuskin_build::{BakeOptions, Manifest};
use gpuskin_test_harness::{note, run, test};
use gpuskin_tests::shared::{FIXTURES, shared};

fn main() -> ExitCode {
    run([test!(cycles_loop_and_attacks_play_once, FIXTURES)])
}

/// Clips of a shared model that are cycles, and clips that play once. Gestures and poses are left out,
/// because either answer is right.
struct Table {
    path: &'static str,
    cycles: &'static str,
    one_shots: &'static str,
}

const TABLES: [Table; 4] = [
    Table {
        path: "Knight/Knight.glb",
        cycles: "1H_Ranged_Shooting 2H_Melee_Attack_Spinning 2H_Melee_Idle 2H_Ranged_Shooting Blocking Idle Jump_Idle \
            Lie_Idle Running_A Running_B Running_Strafe_Left Running_Strafe_Right Sit_Chair_Idle Sit_Floor_Idle \
            Spellcasting Unarmed_Idle Walking_A Walking_B Walking_Backwards Walking_C",
        one_shots: "1H_Melee_Attack_Chop 1H_Melee_Attack_Slice_Diagonal 1H_Melee_Attack_Slice_Horizontal \
            1H_Melee_Attack_Stab 1H_Ranged_Reload 1H_Ranged_Shoot 2H_Melee_Attack_Chop 2H_Melee_Attack_Slice \
            2H_Melee_Attack_Spin 2H_Melee_Attack_Stab 2H_Ranged_Reload 2H_Ranged_Shoot Block_Attack Block_Hit \
            Death_A Death_B Dodge_Backward Dodge_Forward Dodge_Left Dodge_Right Dualwield_Melee_Attack_Chop \
            Dualwield_Melee_Attack_Slice Dualwield_Melee_Attack_Stab Hit_A Hit_B Interact Jump_Full_Long \
            Jump_Full_Short Jump_Land Jump_Start Lie_Down Lie_StandUp PickUp Sit_Chair_Down Sit_Chair_StandUp \
            Sit_Floor_Down Sit_Floor_StandUp Spellcast_Long Spellcast_Raise Spellcast_Shoot Throw \
            Unarmed_Melee_Attack_Kick Unarmed_Melee_Attack_Punch_A Unarmed_Melee_Attack_Punch_B Use_Item",
    },
    Table {
        path: "KnightCharacter/KnightCharacter.glb",
        cycles: "Idle Idle_swordLeft Idle_swordRight Run Run_swordAttack Run_swordRight Walking",
        one_shots: "Death Jump Roll Roll_sword swordAttackJump",
    },
    Table {
        path: "RobotExpressive/RobotExpressive.glb",
        // The ends of Dance are 11.7 cm apart.
        cycles: "Dance Idle Running Walking",
        one_shots: "Death Jump Punch Sitting Standing",
    },
    Table { path: "Fox/Fox.glb", cycles: "Survey Walk Run", one_shots: "" },
];

/// Share of the clips that are guessed as a person would.
const RIGHT: f64 = 0.95;

fn cycles_loop_and_attacks_play_once() {
    let folder = shared().join("models");
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for table in &TABLES {
        let text =
            format!("[[model]]\nname = \"model\"\npath = {:?}\n", folder.join(table.path).to_str().expect("UTF-8"));
        let manifest = Manifest::parse(&folder.join("gpuskin.toml"), text).unwrap_or_else(|e| panic!("{e}"));
        let (models, _) =
            plan(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
        let clips = &models[0].meta.clips;
        for (names, looped) in [(table.cycles, true), (table.one_shots, false)] {
            for name in names.split_whitespace() {
                let source = |clip: &str| clip.rsplit('|').next() == Some(name);
                let clip = clips.iter().find(|clip| source(&clip.source)).unwrap_or_else(|| panic!("no clip {name}"));
                all += 1;
                if clip.looped == looped {
                    right += 1;
                } else {
                    wrong.push(format!("{} {name}", table.path));
                }
            }
        }
    }
    note!("{right} of {all} clips are guessed right; wrong: {}", wrong.join(", "));
    assert!(all > 80 && f64::from(right) >= RIGHT * f64::from(all), "{right} of {all}; wrong: {wrong:?}");
}
