//! Channels of `KHR_animation_pointer` and of unknown extensions.

use serde_json::{Value, json};

use crate::common::build::figure;
use crate::common::{Outcome, warned};

fn animation_pointer(pointer: &str) -> Value {
    json!({ "extensions": { "KHR_animation_pointer": { "pointer": pointer } }, "path": "pointer" })
}

#[test]
fn pointers_to_nodes_are_paths() {
    let mut g = figure();
    g.json["extensionsRequired"] = json!(["KHR_animation_pointer"]);
    let plain = g.import();
    let mut moved = 0;
    for channel in g.json["animations"].as_array_mut().expect("a list").iter_mut() {
        for channel in channel["channels"].as_array_mut().expect("a list") {
            let (node, path) =
                (channel["target"]["node"].clone(), channel["target"]["path"].as_str().unwrap().to_owned());
            channel["target"] = animation_pointer(&format!("/nodes/{node}/{path}"));
            moved += 1;
        }
    }
    assert!(moved > 2);
    let outcome = g.import();
    assert_eq!(outcome.warnings(), plain.warnings());
    let channels = |outcome: &Outcome| format!("{:?}", outcome.model().clips);
    assert_eq!(channels(&outcome), channels(&plain));
}

#[test]
fn channels_of_extensions_are_ignored() {
    let mut g = figure();
    let channels = g.json["animations"][0]["channels"].as_array_mut().expect("a list");
    let visible = "/nodes/0/extensions/KHR_node_visibility/visible";
    for pointer in
        [visible, "/materials/0/emissiveFactor", "/nodes/+0/scale", "/nodes/99999999999/scale", "/nodes//scale"]
    {
        channels.push(json!({ "sampler": 0, "target": animation_pointer(pointer) }));
    }
    channels.push(json!({ "sampler": 0, "target": { "path": "pointer", "extensions": {} } }));
    channels.push(json!({ "sampler": 0, "target": { "path": "scale" } }));
    let outcome = g.import();
    warned(&outcome, &["the animation of ", "`/materials/0/emissiveFactor`", visible, "is ignored"]);
    warned(&outcome, &["channels with path `pointer` are not supported"]);
    warned(&outcome, &["a channel without a target node"]);
    assert_eq!(outcome.model().clips.len(), figure().import().model().clips.len());
}
