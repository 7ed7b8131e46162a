//! Valid files with a few things wrong: the structure stays, so the damage reaches what lies behind the first checks.
//! Whatever it is, nothing panics or hangs, and nothing but numbers is baked.

use std::time::{Duration, Instant};

use crate::common::bake::bake_glb;
use crate::common::build::{Gltf, figure, glb};
use crate::common::mutate::{Random, places};
use crate::common::samples::{compressed, face, quantized, talk};
use gpuskin_rt::internals::Encoding;
use serde_json::{Value, json};

/// Mutations of each file.
const EACH: usize = 500;
/// Clips of up to as many seconds are baked; longer ones take their time, which is as it should be.
const LONGEST: f64 = 10.0;
/// Far above what any of these files takes unoptimised.
const PATIENCE: Duration = Duration::from_secs(60);

/// Changes one thing.
fn mutate(g: &mut Gltf, random: &mut Random) {
    match random.below(8) {
        0 | 1 => value(g, random),
        2 => copy(g, random),
        3 => remove(g, random),
        4 => repeat(g, random),
        5 => accessor(g, random),
        6 => float(g, random),
        _ => {
            for _ in 0..1 + random.below(8) {
                let at = random.below(g.bin.len());
                g.bin[at] = random.below(256) as u8;
            }
        }
    }
}

fn place(json: &Value, random: &mut Random) -> String {
    let mut all = vec![];
    places(json, String::new(), &mut all);
    random.of(&all).clone()
}

/// Another value, of the same kind where that is a number.
fn value(g: &mut Gltf, random: &mut Random) {
    let place = place(&g.json, random);
    let value = g.json.pointer_mut(&place).expect("a place");
    *value = match value.as_f64() {
        Some(old) => match random.below(4) {
            0 => json!(old as i64 + 1),
            1 => json!(old as i64 - 1),
            2 => random.of(&[json!(0), json!(1), json!(255), json!(65536), json!(u32::MAX), json!(u64::MAX)]).clone(),
            _ => random.of(&[json!(-1), json!(0.5), json!(1e38), json!(-1e300), json!(1e-300)]).clone(),
        },
        None => random.of(&[json!(null), json!([]), json!({}), json!(""), json!("STEP"), json!("weights")]).clone(),
    };
}

/// What stands elsewhere.
fn copy(g: &mut Gltf, random: &mut Random) {
    let from = g.json.pointer(&place(&g.json, random)).expect("a place").clone();
    let to = place(&g.json, random);
    *g.json.pointer_mut(&to).expect("a place") = from;
}

fn remove(g: &mut Gltf, random: &mut Random) {
    let place = place(&g.json, random);
    let (above, key) = place.rsplit_once('/').expect("a pointer");
    match g.json.pointer_mut(above).expect("a place") {
        Value::Object(map) => drop(map.remove(key)),
        Value::Array(list) => drop(list.remove(key.parse().expect("an index"))),
        _ => {}
    }
}

/// An item of a list once more.
fn repeat(g: &mut Gltf, random: &mut Random) {
    let place = place(&g.json, random);
    if let Some(Value::Array(list)) = g.json.pointer_mut(&place)
        && !list.is_empty()
    {
        let item = list[random.below(list.len())].clone();
        list.push(item);
    }
}

/// An accessor that is read as another kind.
fn accessor(g: &mut Gltf, random: &mut Random) {
    let count = g.json["accessors"].as_array().map_or(0, Vec::len);
    let Some(accessor) = g.json.pointer_mut(&format!("/accessors/{}", random.below(count))) else { return };
    let Some(accessor) = accessor.as_object_mut() else { return };
    let (key, value) = match random.below(5) {
        0 => ("componentType", json!(random.of(&[5120, 5121, 5122, 5123, 5125, 5126]))),
        1 => ("type", json!(random.of(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"]))),
        2 => ("normalized", json!(random.below(2) == 0)),
        3 => ("count", json!(random.below(8))),
        _ => ("byteOffset", json!(random.below(16))),
    };
    accessor.insert(key.into(), value);
}

/// A number in the binary chunk.
fn float(g: &mut Gltf, random: &mut Random) {
    let odd = [f32::NAN, f32::INFINITY, 0.0, -0.0, -1.0, 3e38, -3e38, 1e-38, f32::from_bits(1), 1e6];
    let at = random.below(g.bin.len() / 4) * 4;
    if at + 4 <= g.bin.len() {
        g.bin[at..at + 4].copy_from_slice(&random.of(&odd).to_le_bytes());
    }
}

fn survives(seed: u64, original: &Gltf) {
    let whole = bake_glb(&original.glb(), &Encoding::ALL[..1], LONGEST);
    assert!(whole.is_ok(), "{whole:?}");
    let mut random = Random(seed);
    let (mut baked, mut refused) = (0, 0);
    for i in 0..EACH {
        let mut g = Gltf { json: original.json.clone(), bin: original.bin.clone() };
        g.json["buffers"] = json!([{ "byteLength": g.bin.len() }]);
        for _ in 0..1 + random.below(3) {
            mutate(&mut g, &mut random);
        }
        let start = Instant::now();
        let encoding = Encoding::ALL[i % Encoding::ALL.len()];
        let result = bake_glb(&glb(g.json.to_string().as_bytes(), &g.bin), &[encoding], LONGEST);
        assert!(start.elapsed() < PATIENCE, "mutation {i}: {:?}", start.elapsed());
        match result {
            Ok(_) => baked += 1,
            Err(errors) => {
                assert!(!errors.is_empty(), "mutation {i}: refused without a word");
                refused += 1;
            }
        }
    }
    println!("{baked} baked, {refused} refused");
    // The damage is neither too great nor too small to find anything.
    assert!(baked > EACH / 10 && refused > EACH / 10, "{baked} baked, {refused} refused");
}

#[test]
fn a_figure_with_a_face() {
    let mut g = face();
    talk(&mut g, "CUBICSPLINE", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    survives(1, &g);
}

#[test]
fn a_skinned_figure() {
    survives(2, &figure());
}

#[test]
fn a_quantised_leaf() {
    survives(3, &quantized());
}

#[test]
fn a_compressed_leaf() {
    let mut g = compressed();
    // All in one buffer.
    for view in g.json["bufferViews"].as_array_mut().expect("a list") {
        view["buffer"] = json!(0);
    }
    survives(4, &g);
}
