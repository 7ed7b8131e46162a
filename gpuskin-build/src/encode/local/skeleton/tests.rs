use glam::DVec3;

use super::*;
use crate::model::{Bone as ModelBone, Channel, Influences, Node, Primitive};
use crate::sample::Sampler;

fn curve(property: Property, keys: &[DVec4]) -> Curve {
    let unit = |v: &DVec4| if property == Property::Rotation { v.normalize() } else { *v };
    Curve {
        times: (0..keys.len()).map(|i| i as f64).collect(),
        values: keys.iter().map(unit).collect(),
        interpolation: Interpolation::Linear,
    }
}

fn model(locals: Vec<(Option<usize>, Local)>, channels: Vec<Vec<Channel>>, bones: &[usize]) -> Model {
    let inverse_bind =
        DMat4::from_cols_array(&[0.9, 0.1, 0.0, 0.0, -0.2, 1.1, 0.3, 0.0, 0.0, 0.1, 0.8, 0.0, 0.4, -0.5, 0.6, 1.0]);
    let mut influences = Influences::default();
    bones.iter().enumerate().for_each(|(i, _)| influences.push([(i as u16, 1.0)]));
    Model {
        name: "test".into(),
        order: (0..locals.len()).collect(),
        nodes: locals
            .into_iter()
            .map(|(parent, local)| Node { name: "n".into(), parent, local, weights: vec![] })
            .collect(),
        root: DMat4::from_scale(DVec3::splat(0.5)) * DMat4::from_rotation_x(-1.5),
        bones: bones.iter().map(|&node| ModelBone { name: "b".into(), node, inverse_bind }).collect(),
        primitives: vec![Primitive {
            node: 0,
            mesh: 0,
            index: 0,
            skin: None,
            positions: (0..bones.len()).map(|i| DVec3::new(0.1, 0.2 * i as f64, -0.3)).collect(),
            normals: None,
            tangents: None,
            uvs: vec![],
            second_uvs: vec![],
            second_normal_map: false,
            colors: None,
            targets: vec![],
            influences,
            triangles: vec![],
            ..Primitive::default()
        }],
        clips: channels
            .into_iter()
            .enumerate()
            .map(|(index, channels)| Clip {
                name: format!("c{index}"),
                source: format!("c{index}"),
                index,
                file: None,
                channels,
                morphs: vec![],
                start: 0.0,
                end: 2.0,
                ..Clip::default()
            })
            .collect(),
        ..Model::default()
    }
}

/// Returns a model with nodes of every kind: static, mirrored, non-uniform, sheared, and animated
/// nodes with a rest matrix.
pub(in super::super) fn awkward() -> Model {
    let q = |x: f64, y: f64, z: f64| DQuat::from_xyzw(x, y, z, 0.8).normalize();
    let trs = |t: [f64; 3], rotation: DQuat, s: [f64; 3]| {
        Local::Trs(Trs { translation: t.into(), rotation, scale: s.into() })
    };
    let shear =
        DMat4::from_cols_array(&[1.0, 0.3, 0.0, 0.0, 0.2, 0.9, -0.4, 0.0, 0.0, 0.1, 1.2, 0.0, 0.3, 0.2, 0.1, 1.0]);
    let one = [1.0; 3];
    let locals = vec![
        (None, trs([0.1, 0.0, 0.2], q(0.1, 0.2, 0.3), [2.0; 3])),
        (Some(0), trs([0.0, 1.0, 0.0], q(0.3, 0.0, 0.1), one)),
        (Some(1), trs([0.0, 0.2, 0.1], q(0.0, 0.5, 0.1), [-1.0, 1.0, 1.0])),
        (Some(2), trs([0.3, 0.0, 0.1], q(0.2, 0.2, 0.1), one)),
        (Some(3), trs([0.3, 0.1, 0.0], q(-0.2, 0.1, 0.4), [1.0, 2.0, 0.5])),
        (Some(4), trs([0.0, 0.4, 0.0], q(-0.2, 0.1, 0.0), one)),
        (Some(4), trs([0.1, 0.4, 0.0], q(0.2, 0.1, 0.0), one)),
        (Some(5), Local::Matrix(shear)),
        (Some(7), trs([0.1, 0.3, 0.0], q(0.2, 0.1, 0.7), one)),
        (Some(8), Local::Matrix(shear)),
        (None, trs([5.0, 0.3, 0.0], q(0.2, 0.1, 0.7), one)),
    ];
    let turn = |node: usize| Channel {
        node,
        property: Property::Rotation,
        curve: curve(
            Property::Rotation,
            &[DVec4::new(0.1, 0.2, 0.3, 0.9), DVec4::new(-0.4, 0.2, 0.1, 0.7), DVec4::new(-0.4, 0.6, 0.1, 0.1)],
        ),
    };
    let change = |node: usize, property: Property| Channel {
        node,
        property,
        curve: curve(property, &[DVec4::new(1.0, 1.2, 0.8, 0.0), DVec4::new(0.7, 1.1, 1.3, 0.0), DVec4::splat(1.0)]),
    };
    let channels = vec![
        vec![turn(1), turn(3), turn(5), turn(6), change(3, Property::Scale), change(5, Property::Translation)],
        vec![
            turn(8),
            turn(9),
            change(9, Property::Scale),
            change(1, Property::Translation),
            change(1, Property::Scale),
        ],
    ];
    model(locals, channels, &[2, 3, 4, 6, 8, 9, 10])
}

#[test]
fn folded_nodes_keep_their_motion() {
    let model = awkward();
    let skeleton = Skeleton::new(&model);
    assert!(skeleton.joints.iter().enumerate().all(|(i, j)| j.parent.is_none_or(|p| p < i)));
    for clip in &model.clips {
        let (sampler, curves) =
            (Sampler::new(&model, Some(clip)), ClipCurves::new(&model, clip, &FrameGrid::new(clip.end, 30.0, false)));
        for time in [0.0, 0.3, 1.0, 1.7, 2.0] {
            let expected = sampler.skin_matrices(time);
            let globals = skeleton.globals(skeleton.pose(&model, &curves, None, time).into_iter());
            for (b, (bone, expected)) in skeleton.bones.iter().zip(&expected).enumerate() {
                let rows = crate::sample::rows(&(globals[bone.joint] * bone.inverse_bind));
                for (a, e) in rows.as_flattened().iter().zip(expected.as_flattened()) {
                    assert!((a - e).abs() < 1e-6, "{} bone {b} at {time}: {rows:?} {expected:?}", clip.name);
                }
            }
        }
    }
}

#[test]
fn chains_with_uniform_scale_add_no_joint() {
    let even = |s: f64| Local::Trs(Trs { scale: DVec3::splat(s), translation: DVec3::Y, ..Trs::IDENTITY });
    let locals = vec![(None, even(2.0)), (Some(0), even(1.0)), (Some(1), even(0.1)), (Some(2), even(1.0))];
    let keys = [DVec4::new(0.0, 0.0, 0.3, 1.0), DVec4::W];
    let turn = Channel { node: 2, property: Property::Rotation, curve: curve(Property::Rotation, &keys) };
    let rest =
        Channel { node: 1, property: Property::Scale, curve: curve(Property::Scale, &[DVec3::ONE.extend(0.0); 2]) };
    let skeleton = Skeleton::new(&model(locals, vec![vec![turn, rest]], &[3, 2]));
    assert_eq!(skeleton.joints.len(), 1);
}

#[test]
fn long_chains_are_composed_link_by_link() {
    let chain = |joints: usize| {
        let local = Local::Trs(Trs { translation: DVec3::Y, ..Trs::IDENTITY });
        // A second, short chain.
        let locals = (0..joints).map(|i| (i.checked_sub(1), local)).chain([(None, local), (Some(joints), local)]);
        let keys = [DVec4::new(0.0, 0.0, 0.3, 1.0), DVec4::W];
        let turn = |node| Channel { node, property: Property::Rotation, curve: curve(Property::Rotation, &keys) };
        let turns = (0..joints + 2).map(turn).collect();
        let skeleton = Skeleton::new(&model(locals.collect(), vec![turns], &[joints - 1, joints + 1]));
        assert_eq!(skeleton.joints.len(), joints + 2);
        (0..joints).for_each(|i| assert!(skeleton.chain(i).skip(1).all(|above| above < i)));
        let lengths: Vec<_> = skeleton.bones.iter().map(|bone| skeleton.chain(bone.joint).count()).collect();
        assert_eq!(lengths, [joints, 2]);
        skeleton.link()
    };
    assert_eq!([2, SHORT, SHORT + 1, 64, 1000].map(chain), [1, 1, 4, 8, 31]);
}
