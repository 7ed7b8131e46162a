//! Later bakes, compared with the constants of the program.

use gpuskin_rt::internals::*;

use crate::common::model::{Pose, Random, Recipe};

type Change = fn(&mut Metadata);

/// A bake with two items of each kind.
fn bake() -> Metadata {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut meta = Recipe::random(&mut Random(1), Encoding::LocalPacked, format, 2).build(|_, _| Pose::REST).model.meta;
    let names = |kind: &str| [1, 2].map(|i| Str::from(format!("{kind}_{i}")));
    meta.clips.to_mut().iter_mut().zip(names("clip")).for_each(|(clip, name)| clip.name = name);
    meta.bones = names("bone").map(|name| BoneInfo { name, parent: None, bind: [[0.0; 4]; 3] }).to_vec().into();
    meta.events = names("event").to_vec().into();
    meta.masks = names("mask").map(|name| MaskInfo { name, bones: vec![1].into() }).to_vec().into();
    meta.morphs = names("morph").map(|name| MorphInfo { name, bone: 1, axis: 0, scale: 1.0 }).to_vec().into();
    meta.parts = names("part").to_vec().into();
    meta.variants = names("variant").to_vec().into();
    meta
}

pub fn bakes_that_lack_what_constants_name_are_refused() {
    let built = bake();
    assert_eq!(built.check_constants(&built), Ok(()));
    let mut later = bake();
    let (clip, bone) = (later.clips[0].clone(), later.bones[0].clone());
    later.clips.to_mut().push(clip);
    later.bones.to_mut().push(bone);
    later.events.to_mut().push("jump".into());
    later.masks.to_mut().push(MaskInfo { name: "legs".into(), bones: vec![1].into() });
    later.morphs.to_mut().push(MorphInfo { name: "smile".into(), bone: 1, axis: 0, scale: 1.0 });
    later.parts.to_mut().push("hat".into());
    later.variants.to_mut().push("blue".into());
    assert_eq!(later.check_constants(&built), Ok(()), "the program names nothing that is new");
    let changes: [(&str, Change, Change); 7] = [
        ("clip `clip_1`", |m| m.clips.to_mut().swap(0, 1), |m| m.clips.to_mut()[0].name = "x".into()),
        ("bone `bone_1`", |m| m.bones.to_mut().swap(0, 1), |m| m.bones.to_mut()[0].name = "x".into()),
        ("event `event_1`", |m| m.events.to_mut().swap(0, 1), |m| m.events = vec!["event_2".into()].into()),
        ("mask `mask_1`", |m| m.masks.to_mut().swap(0, 1), |m| m.masks = vec![].into()),
        ("morph target `morph_1`", |m| m.morphs.to_mut().swap(0, 1), |m| m.morphs.to_mut()[0].name = "x".into()),
        ("part `part_1`", |m| m.parts.to_mut().swap(0, 1), |m| m.parts.to_mut()[0] = "x".into()),
        ("variant `variant_1`", |m| m.variants.to_mut().swap(0, 1), |m| m.variants = vec![].into()),
    ];
    for (item, swap, rename) in changes {
        let [mut swapped, mut renamed] = [bake(), bake()];
        swap(&mut swapped);
        rename(&mut renamed);
        let remedy = "bake it as before, or build the program again";
        let reason = format!("the later bake has the {item} at another index than the program; {remedy}");
        assert_eq!(swapped.check_constants(&built), Err(reason));
        let reason = format!("the later bake lacks the {item} of the program; {remedy}");
        assert_eq!(renamed.check_constants(&built), Err(reason));
    }
}
