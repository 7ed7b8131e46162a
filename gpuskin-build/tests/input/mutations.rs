//! Valid files with a few errors. Their structure stays intact, so that the errors get past the
//! first checks. None may panic or hang, and baked numbers must be finite.

use std::time::{Duration, Instant};

use crate::common::bake::bake_glb;
use crate::common::build::{Gltf, figure, glb};
use crate::common::mutate::{Random, places};
use crate::common::samples::{compressed, face, quantized, talk};
use gpuskin_rt::internals::Encoding;
use serde_json::{Value, json};

/// Number of mutations per file.
const EACH: usize = 500;
/// Maximum total length of clips that are baked, in seconds. Longer clips only take longer.
const LONGEST: f64 = 10.0;
/// Time limit: far above the time of any of these files in an unoptimised build.
const PATIENCE: Duration = Duration::from_secs(60);

/// Applies one mutation.
pub fn mutate(g: &mut Gltf, random: &mut Random) {
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

/// Replaces a value; a number by another number.
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

/// Copies a value to another location.
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

/// Repeats an item of a list.
fn repeat(g: &mut Gltf, random: &mut Random) {
    let place = place(&g.json, random);
    if let Some(Value::Array(list)) = g.json.pointer_mut(&place)
        && !list.is_empty()
    {
        let item = list[random.below(list.len())].clone();
        list.push(item);
    }
}

/// Changes a property of an accessor.
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

/// Changes a number in the binary chunk.
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
                assert!(!errors.is_empty(), "mutation {i}: rejected without an error");
                refused += 1;
            }
        }
    }
    println!("{baked} baked, {refused} rejected");
    // The mutations must be neither too strong nor too weak to find errors.
    assert!(baked > EACH / 10 && refused > EACH / 10, "{baked} baked, {refused} rejected");
}

#[test]
fn mutated_morph_targets_do_not_panic() {
    let mut g = face();
    talk(&mut g, "CUBICSPLINE", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    survives(1, &g);
}

#[test]
fn mutated_skins_do_not_panic() {
    survives(2, &figure());
}

#[test]
fn mutated_quantised_vertices_do_not_panic() {
    survives(3, &quantized());
}

#[test]
fn mutated_compression_does_not_panic() {
    let mut g = compressed();
    // One buffer for all views.
    for view in g.json["bufferViews"].as_array_mut().expect("a list") {
        view["buffer"] = json!(0);
    }
    survives(4, &g);
}
