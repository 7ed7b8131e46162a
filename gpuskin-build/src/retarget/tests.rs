use std::collections::BTreeMap;

use glam::{DMat4, DQuat, DVec3, DVec4};

use super::bone::{Finger, HumanBone, Side};
use super::humanoid::{Humanoid, NodeKind};
use super::*;
use crate::model::{Model, Node};

/// Bones of a humanoid in a T pose, that looks along z: name, parent, position in metres.
const MIXAMO: [(&str, Option<usize>, [f64; 3]); 20] = [
    ("mixamorig:Hips", None, [0.0, 1.0, 0.0]),
    ("mixamorig:Spine", Some(0), [0.0, 1.1, 0.0]),
    ("mixamorig:Spine1", Some(1), [0.0, 1.2, 0.0]),
    ("mixamorig:Spine2", Some(2), [0.0, 1.3, 0.0]),
    ("mixamorig:Neck", Some(3), [0.0, 1.5, 0.0]),
    ("mixamorig:Head", Some(4), [0.0, 1.6, 0.0]),
    ("mixamorig:LeftShoulder", Some(3), [0.05, 1.45, 0.0]),
    ("mixamorig:LeftArm", Some(6), [0.15, 1.45, 0.0]),
    ("mixamorig:LeftForeArm", Some(7), [0.4, 1.45, 0.0]),
    ("mixamorig:LeftHand", Some(8), [0.65, 1.45, 0.0]),
    ("mixamorig:RightShoulder", Some(3), [-0.05, 1.45, 0.0]),
    ("mixamorig:RightArm", Some(10), [-0.15, 1.45, 0.0]),
    ("mixamorig:RightForeArm", Some(11), [-0.4, 1.45, 0.0]),
    ("mixamorig:RightHand", Some(12), [-0.65, 1.45, 0.0]),
    ("mixamorig:LeftUpLeg", Some(0), [0.1, 0.95, 0.0]),
    ("mixamorig:LeftLeg", Some(14), [0.1, 0.5, 0.02]),
    ("mixamorig:LeftFoot", Some(15), [0.1, 0.08, 0.0]),
    ("mixamorig:RightUpLeg", Some(0), [-0.1, 0.95, 0.0]),
    ("mixamorig:RightLeg", Some(17), [-0.1, 0.5, 0.02]),
    ("mixamorig:RightFoot", Some(18), [-0.1, 0.08, 0.0]),
];

/// Bones of a smaller humanoid with longer thighs in an A pose, that looks along x, with the names of Unreal Engine and
/// without the middle of the spine.
const MANNEQUIN: [(&str, Option<usize>, [f64; 3]); 19] = [
    ("pelvis", None, [0.0, 0.62, 0.0]),
    ("spine_01", Some(0), [0.0, 0.7, 0.0]),
    ("spine_02", Some(1), [0.0, 0.8, 0.0]),
    ("neck_01", Some(2), [0.0, 0.95, 0.0]),
    ("head", Some(3), [0.0, 1.0, 0.0]),
    ("clavicle_l", Some(2), [0.0, 0.9, -0.03]),
    ("upperarm_l", Some(5), [0.0, 0.9, -0.1]),
    ("lowerarm_l", Some(6), [0.0, 0.78, -0.22]),
    ("hand_l", Some(7), [0.0, 0.66, -0.34]),
    ("clavicle_r", Some(2), [0.0, 0.9, 0.03]),
    ("upperarm_r", Some(9), [0.0, 0.9, 0.1]),
    ("lowerarm_r", Some(10), [0.0, 0.78, 0.22]),
    ("hand_r", Some(11), [0.0, 0.66, 0.34]),
    ("thigh_l", Some(0), [0.0, 0.6, -0.08]),
    ("calf_l", Some(13), [0.02, 0.28, -0.08]),
    ("foot_l", Some(14), [0.0, 0.05, -0.08]),
    ("thigh_r", Some(0), [0.0, 0.6, 0.08]),
    ("calf_r", Some(16), [0.02, 0.28, 0.08]),
    ("foot_r", Some(17), [0.0, 0.05, 0.08]),
];

fn model(bones: &[(&str, Option<usize>, [f64; 3])]) -> Model {
    let node = |&(name, parent, at): &(&str, Option<usize>, [f64; 3])| {
        let from = parent.map_or(DVec3::ZERO, |parent| DVec3::from_array(bones[parent].2));
        // Any rotation of the bones gives the same skeleton.
        let local = Local::Trs(Trs { translation: DVec3::from_array(at) - from, ..Trs::IDENTITY });
        Node { name: name.to_owned(), parent, local, weights: Vec::new() }
    };
    Model {
        nodes: bones.iter().map(node).collect(),
        order: (0..bones.len()).collect(),
        root: DMat4::IDENTITY,
        ..Model::default()
    }
}

fn rig(bones: &[(&str, Option<usize>, [f64; 3])]) -> Rig {
    let model = model(bones);
    let kinds = vec![NodeKind::Bone; model.nodes.len()];
    let found = Humanoid::find(&model.nodes, &model.order, &kinds, &[]);
    Rig::new(model, found, &BTreeMap::new()).expect("a humanoid")
}

fn rotated(node: usize, rotation: DQuat) -> Clip {
    let curve = Curve { times: vec![0.0], values: vec![DVec4::from(rotation)], interpolation: Interpolation::Linear };
    Clip { channels: vec![Channel { node, property: Property::Rotation, curve }], ..Clip::default() }
}

/// Positions of all nodes of the target while the source plays a clip.
fn retargeted(source: &Rig, target: &Rig, clip: &Clip, time: f64) -> Vec<DVec3> {
    let retargeter = Retargeter::new(source, target);
    let times = retargeter.times(clip, 1000).expect("few keys");
    let clip = retargeter.clip(clip, &times);
    let globals = Sampler::new(&target.model, Some(&clip)).globals(time);
    globals.iter().map(|global| global.w_axis.truncate()).collect()
}

fn place(rig: &Rig, name: &str) -> usize {
    rig.model.nodes.iter().position(|node| node.name.ends_with(name)).expect("a node of the name")
}

#[test]
fn conventions_are_found() {
    let [mixamo, unreal] = [rig(&MIXAMO), rig(&MANNEQUIN)];
    for (bone, in_mixamo, in_unreal) in [
        (HumanBone::Hips, "Hips", "pelvis"),
        (HumanBone::Spine, "Spine", "spine_01"),
        (HumanBone::Neck, "Neck", "neck_01"),
        (HumanBone::Shoulder(Side::Left), "LeftShoulder", "clavicle_l"),
        (HumanBone::UpperArm(Side::Right), "RightArm", "upperarm_r"),
        (HumanBone::LowerLeg(Side::Left), "LeftLeg", "calf_l"),
    ] {
        assert_eq!(mixamo.bones.get(bone), Some(place(&mixamo, in_mixamo)), "{bone:?}");
        assert_eq!(unreal.bones.get(bone), Some(place(&unreal, in_unreal)), "{bone:?}");
    }
    assert_eq!(mixamo.bones.get(HumanBone::UpperChest), Some(place(&mixamo, "Spine2")));
    assert_eq!(unreal.bones.get(HumanBone::Chest), Some(place(&unreal, "spine_02")));
    assert_eq!(unreal.bones.get(HumanBone::UpperChest), None);
}

#[test]
fn rigify_and_joint_names_are_found() {
    let rename = |names: &[(&str, &str)]| {
        let mut bones = MIXAMO.to_vec();
        for (name, of_tool) in names {
            let bone = bones.iter_mut().find(|bone| bone.0.ends_with(&format!(":{name}"))).expect("a bone");
            bone.0 = String::leak((*of_tool).to_owned());
        }
        bones
    };
    let rigify = rename(&[
        ("Hips", "DEF-spine"),
        ("Spine", "DEF-spine.001"),
        ("Spine1", "DEF-spine.002"),
        ("Spine2", "DEF-spine.003"),
        ("Neck", "DEF-spine.004"),
        ("Head", "DEF-spine.006"),
        ("LeftShoulder", "DEF-shoulder.L"),
        ("LeftArm", "DEF-upper_arm.L"),
        ("LeftForeArm", "DEF-forearm.L"),
        ("LeftHand", "DEF-hand.L"),
        ("LeftUpLeg", "DEF-thigh.L"),
        ("LeftLeg", "DEF-shin.L"),
        ("LeftFoot", "DEF-foot.L"),
    ]);
    let joints = rename(&[
        ("Hips", "Pelvis"),
        ("LeftShoulder", "L_Collar"),
        ("LeftArm", "L_Shoulder"),
        ("LeftForeArm", "L_Elbow"),
        ("LeftHand", "L_Wrist"),
        ("LeftUpLeg", "L_Hip"),
        ("LeftLeg", "L_Knee"),
        ("LeftFoot", "L_Ankle"),
    ]);
    let plain = rig(&MIXAMO);
    assert_eq!(rig(&rigify).bones, plain.bones);
    assert_eq!(rig(&joints).bones, plain.bones);
}

#[test]
fn fingers_belong_to_the_hand_that_they_hang_on() {
    let mut bones = MIXAMO.to_vec();
    for (name, parent) in [("Index_Metacarpal.R", 9), ("Index1.R", 20), ("Index2.R", 21), ("Thumb.L", 9)] {
        bones.push((name, Some(parent), [0.7 + bones.len() as f64 * 0.01, 1.45, 0.02]));
    }
    let found = rig(&bones).bones;
    let finger = |side, finger, i| found.get(HumanBone::Finger(side, finger, i));
    assert_eq!([0, 1, 2].map(|i| finger(Side::Left, Finger::Index, i)), [Some(21), Some(22), None]);
    assert_eq!(finger(Side::Left, Finger::Thumb, 0), Some(23));
    assert_eq!(finger(Side::Right, Finger::Index, 0), None);
}

#[test]
fn missing_bones_are_named() {
    let mut bones = MIXAMO.to_vec();
    bones[16].0 = "mixamorig:LeftThing";
    let model = model(&bones);
    let kinds = vec![NodeKind::Bone; model.nodes.len()];
    let found = Humanoid::find(&model.nodes, &model.order, &kinds, &[]);
    assert_eq!(found.missing(), [HumanBone::Foot(Side::Left)]);
    let given = [(HumanBone::Foot(Side::Left), 16)];
    let found = Humanoid::find(&model.nodes, &model.order, &kinds, &given);
    assert_eq!(found.missing(), []);
    assert!(HumanBone::all().all(|bone| HumanBone::from_name(&bone.name()) == Some(bone)));
}

#[test]
fn limbs_point_where_the_source_points() {
    let (source, target) = (rig(&MIXAMO), rig(&MANNEQUIN));
    // Down, forwards, and back to the T pose, which the target's own pose is not.
    for (angle, axis) in [(-1.2, DVec3::Z), (-0.9, DVec3::Y), (0.0, DVec3::X)] {
        let clip = rotated(place(&source, "LeftArm"), DQuat::from_axis_angle(axis, angle));
        let globals = Sampler::new(&source.model, Some(&clip)).globals(0.0);
        let at = |name| globals[place(&source, name)].w_axis.truncate();
        let wanted = (at("LeftForeArm") - at("LeftArm")).normalize();
        // The target looks along x, to whose left is -z.
        let wanted = DVec3::new(wanted.z, wanted.y, -wanted.x);
        let pose = retargeted(&source, &target, &clip, 0.0);
        let found = (pose[place(&target, "lowerarm_l")] - pose[place(&target, "upperarm_l")]).normalize();
        assert!(found.distance(wanted) < 1e-6, "{angle} {axis}: {found} for {wanted}");
    }
}

#[test]
fn a_lean_of_the_upper_spine_reaches_the_chest() {
    let (source, target) = (rig(&MIXAMO), rig(&MANNEQUIN));
    let clip = rotated(place(&source, "Spine2"), DQuat::from_rotation_x(0.5));
    let pose = retargeted(&source, &target, &clip, 0.0);
    let up = pose[place(&target, "neck_01")] - pose[place(&target, "spine_02")];
    let lean = DVec3::new(0.5_f64.sin(), 0.5_f64.cos(), 0.0);
    assert!(up.normalize().distance(lean) < 1e-6, "{up}");
}

/// A clip that walks forwards along z: hips move, and each foot stands while the other swings.
fn walk(source: &Rig) -> Clip {
    let times: Vec<f64> = (0..=30).map(|i| f64::from(i) / 30.0).collect();
    let (speed, period) = (1.2, 1.0);
    let hips: Vec<DVec3> = times.iter().map(|t| DVec3::new(0.0, 0.93, speed * t)).collect();
    let foot = |t: f64, phase: f64, x: f64| {
        // Half of the period on the ground, half in the air.
        let cycle = (t / period + phase).rem_euclid(1.0);
        let steps = (t / period + phase).floor();
        let stride = speed * period;
        let start = (steps - phase) * stride;
        let z = if cycle < 0.5 { start + 0.25 * stride } else { start + stride * (0.25 + 2.0 * (cycle - 0.5)) };
        let lift = if cycle < 0.5 { 0.0 } else { 0.12 * ((cycle - 0.5) * std::f64::consts::TAU).sin() };
        DVec3::new(x, 0.08 + lift, z)
    };
    let mut channels = vec![Channel {
        node: place(source, "Hips"),
        property: Property::Translation,
        curve: Curve {
            times: times.clone(),
            values: hips.iter().map(|at| at.extend(0.0)).collect(),
            interpolation: Interpolation::Linear,
        },
    }];
    for (side, phase, x) in [("Left", 0.0, 0.1), ("Right", 0.5, -0.1)] {
        let mut rotations = [const { Vec::new() }; 3];
        for (t, hips) in times.iter().zip(&hips) {
            let offset = *hips - DVec3::new(0.0, 1.0, 0.0);
            let leg = leg::LegPose {
                hip: DVec3::new(x, 0.95, 0.0) + offset,
                knee: DVec3::new(x, 0.5, 0.02) + offset,
                ankle: DVec3::new(x, 0.08, 0.0) + offset,
            };
            let [upper, lower] = leg.reaching(foot(*t, phase, x), DVec3::Z);
            rotations[0].push(DVec4::from(upper));
            rotations[1].push(DVec4::from(upper.conjugate() * lower));
            rotations[2].push(DVec4::from(lower.conjugate()));
        }
        for (name, values) in ["UpLeg", "Leg", "Foot"].into_iter().zip(rotations) {
            let curve = Curve { times: times.clone(), values, interpolation: Interpolation::Linear };
            channels.push(Channel {
                node: place(source, &format!("{side}{name}")),
                property: Property::Rotation,
                curve,
            });
        }
    }
    Clip { channels, end: 1.0, ..Clip::default() }
}

#[test]
fn standing_feet_do_not_slide() {
    let (source, target) = (rig(&MIXAMO), rig(&MANNEQUIN));
    let walk = walk(&source);
    let retargeter = Retargeter::new(&source, &target);
    let times = retargeter.times(&walk, 1000).expect("few keys");
    assert_eq!(times.len(), 31, "keys at 30 frames per second stay");
    let clip = retargeter.clip(&walk, &times);
    let times: Vec<f64> = times.iter().map(|time| time.pose).collect();
    let (from, to) = (Sampler::new(&source.model, Some(&walk)), Sampler::new(&target.model, Some(&clip)));
    let mut stood = 0;
    for (of_source, of_target) in [("LeftFoot", "foot_l"), ("RightFoot", "foot_r")] {
        let at = |sampler: &Sampler<'_>, node: usize, t: f64| sampler.global(node, t).w_axis.truncate();
        let (of_source, of_target) = (place(&source, of_source), place(&target, of_target));
        let scale = target.leg_length() / source.leg_length();
        for pair in times.windows(2) {
            let half = 0.5 * (pair[0] + pair[1]);
            let [a, b] = [pair[0], pair[1]].map(|t| at(&from, of_source, t));
            if a.distance(b) > 1e-9 {
                continue;
            }
            stood += 1;
            let place = at(&to, of_target, pair[0]);
            for t in [half, pair[1]] {
                // Between keys the source's own foot moves, because its bones turn at constant rates.
                let own = at(&from, of_source, t).distance(a) * scale;
                assert!(at(&to, of_target, t).distance(place) < 1e-3 + own, "{t}: {}", at(&to, of_target, t) - place);
            }
            assert!((place.y - 0.05).abs() < 1e-6, "the foot is on the ground: {place}");
        }
    }
    assert!(stood > 25, "{stood} intervals in which a foot stands");
    // The way is that of the source, in the ratio of the legs, along the direction in which the target looks.
    let way = to.global(0, 1.0).w_axis.truncate() - to.global(0, 0.0).w_axis.truncate();
    let wanted = DVec3::X * 1.2 * target.leg_length() / source.leg_length();
    assert!(way.distance(wanted) < 1e-9, "{way} {wanted}");
}

#[test]
fn retargeting_to_the_same_skeleton_changes_nothing() {
    let source = rig(&MIXAMO);
    let walk = walk(&source);
    let retargeter = Retargeter::new(&source, &source);
    assert_eq!(retargeter.unmatched(), []);
    let sampler = Sampler::new(&source.model, Some(&walk));
    for time in [0.0, 0.1, 0.55, 1.0] {
        let globals = sampler.globals(time);
        let pose = retargeted(&source, &source, &walk, time);
        for (node, global) in globals.iter().enumerate() {
            let off = global.w_axis.truncate().distance(pose[node]);
            // Legs stretch to 0.9995 of their length at most.
            assert!(off < 1e-3, "{} at {time}: {off}", source.model.nodes[node].name);
        }
    }
}

#[test]
fn bind_pose_is_the_reference_where_it_is_known() {
    let mut posed = model(&MIXAMO);
    let binds: BTreeMap<usize, DMat4> =
        MIXAMO.iter().enumerate().map(|(i, bone)| (i, DMat4::from_translation(DVec3::from_array(bone.2)))).collect();
    // Nodes in another pose: an arm is raised.
    let arm = place(&rig(&MIXAMO), "LeftArm");
    if let Local::Trs(trs) = &mut posed.nodes[arm].local {
        trs.rotation = DQuat::from_rotation_z(1.0);
    }
    let kinds = vec![NodeKind::Bone; posed.nodes.len()];
    let bones = Humanoid::find(&posed.nodes, &posed.order, &kinds, &[]);
    let found = Rig::new(posed.clone(), bones.clone(), &binds).expect("a humanoid");
    assert_eq!(found.at(HumanBone::LowerArm(Side::Left)), DVec3::new(0.4, 1.45, 0.0));
    // Bind poses of another length, or without some bones, are not used.
    let larger = binds.iter().map(|(node, bind)| (*node, DMat4::from_scale(DVec3::splat(2.0)) * *bind)).collect();
    let fewer = binds.iter().filter(|(node, _)| **node != 3).map(|(node, bind)| (*node, *bind)).collect();
    for other in [larger, fewer, BTreeMap::new()] {
        let found = Rig::new(posed.clone(), bones.clone(), &other).expect("a humanoid");
        assert!(found.at(HumanBone::LowerArm(Side::Left)).x < 0.35);
    }
}

/// The skeleton of [`MIXAMO`], with toes.
fn with_toes() -> Vec<(&'static str, Option<usize>, [f64; 3])> {
    let toes = [
        ("mixamorig:LeftToeBase", Some(16), [0.1, 0.03, 0.12]),
        ("mixamorig:RightToeBase", Some(19), [-0.1, 0.03, 0.12]),
    ];
    MIXAMO.into_iter().chain(toes).collect()
}

/// The skeleton of [`with_toes`] with the nodes in a frame of a run, and a clip that turns all of them.
fn running() -> (Rig, Clip) {
    let upright = rig(&with_toes());
    let mut posed = upright.model.as_ref().clone();
    let (x, y, z) = (DQuat::from_rotation_x, DQuat::from_rotation_y, DQuat::from_rotation_z);
    let turned = [
        ("Hips", y(0.2) * x(0.5)),
        ("Spine1", x(0.4)),
        ("Spine2", y(-0.3) * x(0.5)),
        ("Head", x(-1.2)),
        ("LeftArm", z(-1.1)),
        ("LeftForeArm", y(-1.2)),
        ("RightArm", y(0.4) * z(1.1)),
        ("RightForeArm", y(1.2)),
        ("LeftUpLeg", x(-1.2)),
        ("LeftLeg", x(1.4)),
        ("LeftFoot", x(0.3)),
        ("RightUpLeg", y(0.2) * x(0.1)),
        ("RightLeg", x(0.9)),
    ];
    for (name, rotation) in turned {
        let Local::Trs(trs) = &mut posed.nodes[place(&upright, name)].local else { continue };
        trs.rotation = rotation;
    }
    if let Local::Trs(trs) = &mut posed.nodes[0].local {
        trs.translation = DVec3::new(0.3, 0.7, 2.0);
    }
    let mut clip = walk(&upright);
    for node in 0..posed.nodes.len() {
        if clip.channels.iter().all(|channel| (channel.node, channel.property) != (node, Property::Rotation)) {
            clip.channels.extend(rotated(node, DQuat::IDENTITY).channels);
        }
    }
    let kinds = vec![NodeKind::Bone; posed.nodes.len()];
    let bones = Humanoid::find(&posed.nodes, &posed.order, &kinds, &[]);
    (Rig::new(posed, bones, &BTreeMap::new()).expect("a humanoid"), clip)
}

#[test]
fn standing_pose_is_made_from_the_frame_of_a_run() {
    let (upright, target, (frame, clip)) = (rig(&with_toes()), rig(&MANNEQUIN), running());
    assert_eq!(upright.stray(), None);
    let stray = frame.stray().expect("a pose that does not stand");
    // The thigh is turned by 0.7 rad about x, after 0.2 about y.
    assert_eq!(stray.bone, HumanBone::LowerLeg(Side::Right));
    assert!((stray.degrees - 1.5_f64.to_degrees()).abs() < 8.0, "{stray:?}");
    let stood = frame.stood_up(&[&clip]);
    for (bone, node) in upright.bones.iter() {
        let off = stood.rotations[node].angle_between(upright.rotations[node]).to_degrees();
        // The knees of the skeleton are bent by 5 degrees. The twist of the spine, 17 degrees, is shared by its bones,
        // and a neck is taken to lean by 10 degrees.
        let trunk = matches!(bone, HumanBone::Spine | HumanBone::Chest | HumanBone::Neck);
        let most = if trunk { 12.0 } else { 4.0 };
        assert!(off < most, "{}: {off} degrees", bone.name());
        assert!((stood.reference[node].w_axis - upright.reference[node].w_axis).length() < 0.03, "{}", bone.name());
    }
    let apart = |source: &Rig| {
        let off = [0.0, 0.3, 0.8].map(|time| {
            let [found, wanted] = [source, &upright].map(|source| retargeted(source, &target, &clip, time));
            found.iter().zip(wanted).map(|(found, wanted)| found.distance(wanted)).fold(0.0, f64::max)
        });
        off.into_iter().fold(0.0, f64::max)
    };
    assert!(apart(&stood) < 0.03, "{}", apart(&stood));
    assert!(apart(&frame) > 0.3, "{}", apart(&frame));
    // A clip without an end.
    assert!(frame.stood_up(&[&Clip { end: f64::MAX, ..clip }]).reference.iter().all(DMat4::is_finite));
    // Clips that tell nothing of the ground: the origin is the ground.
    let none = frame.stood_up(&[]);
    let heel = none.at(HumanBone::Foot(Side::Left)).y;
    assert!((heel - 0.12 * frame.leg_length()).abs() < 1e-6, "{heel}");
}

#[test]
fn reference_pose_is_that_of_another_file_of_the_skeleton() {
    let (upright, target, (frame, _)) = (rig(&with_toes()), rig(&MANNEQUIN), running());
    let posed = frame.posed_like(&upright).expect("the same skeleton");
    for (node, reference) in upright.reference.iter().enumerate() {
        assert!(posed.reference[node].abs_diff_eq(*reference, 1e-12));
    }
    assert!(frame.posed_like(&target).is_none());
    assert!(frame.posed_like(&frame).is_none(), "the other stands no better");
    let mut longer = with_toes();
    longer[15].2[1] = 0.4;
    assert!(frame.posed_like(&rig(&longer)).is_none());
}

#[test]
fn long_clips_and_odd_skeletons_are_refused() {
    let source = rig(&MIXAMO);
    let retargeter = Retargeter::new(&source, &source);
    let long = Clip { end: 1e12, ..rotated(0, DQuat::IDENTITY) };
    assert_eq!(retargeter.times(&long, 1_000_000), None);
    let mut flat = MIXAMO;
    flat[15].2 = flat[14].2;
    let model = model(&flat);
    let kinds = vec![NodeKind::Bone; model.nodes.len()];
    let bones = Humanoid::find(&model.nodes, &model.order, &kinds, &[]);
    let error = Rig::new(model, bones, &BTreeMap::new()).err();
    assert_eq!(error, Some(RigError::NoLength(HumanBone::UpperLeg(Side::Left))));
}

/// A clip of one joint that jumps by an angle at a time, and of another that turns all the time.
fn jumping(source: &Rig, name: &str, turning: Option<&str>) -> Clip {
    let turn = |angle: f64| DVec4::from(DQuat::from_rotation_x(angle));
    let curve = |times: &[f64], values: &[f64], interpolation| Curve {
        times: times.to_vec(),
        values: values.iter().map(|angle| turn(*angle)).collect(),
        interpolation,
    };
    let channel = |name, curve| Channel { node: place(source, name), property: Property::Rotation, curve };
    // As of a file: 0.4 as f32.
    let jump = f64::from(0.4_f32);
    let step = curve(&[0.0, 0.2, jump, 1.0], &[0.0, 0.0, 0.8, 0.8], Interpolation::Step);
    let linear = |name| channel(name, curve(&[0.0, 1.0], &[0.0, 0.5], Interpolation::Linear));
    let channels = std::iter::once(channel(name, step)).chain(turning.map(linear)).collect();
    Clip { channels, end: 1.0, ..Clip::default() }
}

#[test]
fn jumps_of_the_source_stay_jumps() {
    let (source, target) = (rig(&MIXAMO), rig(&MANNEQUIN));
    let retargeter = Retargeter::new(&source, &target);
    let of = |clip: &Clip, name: &str| -> Curve {
        let clip = retargeter.clip(clip, &retargeter.times(clip, 1000).expect("few keys"));
        let is_of = |channel: &&Channel| (channel.node, channel.property) == (place(&target, name), Property::Rotation);
        clip.channels.iter().find(is_of).expect("the bone moves").curve.clone()
    };
    let at = |curve: &Curve, time| DQuat::from_vec4(crate::sample::evaluate(curve, Property::Rotation, time));
    let jump = f64::from(0.4_f32);

    // An arm follows neither the hips nor what hangs on them.
    for turning in [None, Some("Hips"), Some("LeftUpLeg")] {
        let curve = of(&jumping(&source, "RightArm", turning), "upperarm_r");
        assert_eq!((curve.interpolation, &curve.times[..]), (Interpolation::Step, &[0.0, jump][..]), "{turning:?}");
        assert!((at(&curve, 0.39).angle_between(at(&curve, 0.41)) - 0.8).abs() < 1e-6);
    }
    // The shoulder turns between the spine and the arm, and the arm of the target hangs on a shoulder that follows it.
    let turned = of(&jumping(&source, "RightShoulder", Some("RightArm")), "clavicle_r");
    assert_eq!((turned.interpolation, turned.times.len()), (Interpolation::Step, 2));

    // Legs follow the hips: what moves is interpolated, with the jump in place.
    let curve = of(&jumping(&source, "RightUpLeg", Some("Hips")), "thigh_r");
    assert_eq!(curve.interpolation, Interpolation::Linear);
    assert!(curve.times.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", curve.times);
    let angle = |a, b| at(&curve, a).angle_between(at(&curve, b));
    assert!(angle(0.36, jump - 1e-4) < 0.05, "{}", angle(0.36, jump - 1e-4));
    // A frame at the key, rounded in f64.
    assert!(angle(0.4, 0.42) < 0.05 && angle(jump - 1e-4, 0.4) > 0.7, "{}", angle(jump - 1e-4, 0.4));
}
