//! Vertices of sampled frames, and the distance between two sets of them. They are read from
//! `frames.json` and `frames.bin`, a format that the reference program and `pose` both write.

use std::path::Path;

use glam::DVec3;
use serde_json::Value;

/// Vertices of a clip at given times.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Sample times, in seconds.
    pub times: Vec<f64>,
    /// Diagonal of the bounding box of all frames, in the unit of the positions.
    pub size: f64,
    /// Node index, primitive index and vertex count of each primitive.
    pub primitives: Vec<[u64; 3]>,
    /// Position and unit normal per vertex, primitive by primitive. `[frame][vertex]`; the normal
    /// is zero if the primitive has none.
    pub vertices: Vec<Vec<(DVec3, DVec3)>>,
}

impl Frames {
    /// Reads a result folder.
    pub fn read(folder: &Path) -> Self {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let head: Value = serde_json::from_slice(&read("frames.json")).expect("frames.json is JSON");
        let bytes = read("frames.bin");
        let double = head["dtype"] == "f64";
        assert!(double || head["dtype"] == "f32", "dtype {}", head["dtype"]);
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let number = |value: &Value| value.as_u64().expect("a whole number");
        let primitives = list(&head["primitives"]);
        let frames = list(&head["frames"]);
        assert_eq!(bytes.len() as u64, number(&head["frameBytes"]) * frames.len() as u64);

        let width = if double { 8 } else { 4 };
        let component = |at: usize| {
            let bytes = &bytes[at..at + width];
            if double {
                f64::from_le_bytes(bytes.try_into().expect("8 bytes"))
            } else {
                f64::from(f32::from_le_bytes(bytes.try_into().expect("4 bytes")))
            }
        };
        let vector = |at: usize| DVec3::from([0, 1, 2].map(|c| component(at + c * width)));
        let frame = |frame: &Value| {
            let frame = number(&frame["offset"]) as usize;
            let mut vertices = Vec::new();
            for p in &primitives {
                let positions = frame + number(&p["positionOffset"]) as usize;
                let normals = p["normalOffset"].as_u64().map(|offset| frame + offset as usize);
                for v in 0..number(&p["vertices"]) as usize {
                    let at = v * 3 * width;
                    vertices.push((vector(positions + at), normals.map_or(DVec3::ZERO, |n| vector(n + at))));
                }
            }
            vertices
        };
        Self {
            times: frames.iter().map(|f| f["time"].as_f64().expect("a number")).collect(),
            size: head["size"].as_f64().expect("a number"),
            primitives: primitives.iter().map(|p| ["node", "primitive", "vertices"].map(|k| number(&p[k]))).collect(),
            vertices: frames.iter().map(frame).collect(),
        }
    }
}

/// Distance between two sets of vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Greatest distance between two positions, in their unit.
    pub position: f64,
    /// Greatest angle between two normals, in degrees, over vertices that have a normal in both
    /// sets.
    pub degrees: f64,
    /// Frame and vertex of the greatest distance.
    pub place: (usize, usize),
}

impl Distance {
    /// Compares vertices of the same frames, in the same order. Values that are not finite count as
    /// infinitely far apart.
    pub fn between(a: &[Vec<(DVec3, DVec3)>], b: &[Vec<(DVec3, DVec3)>]) -> Self {
        assert_eq!(a.len(), b.len(), "number of frames");
        let mut worst = Self::default();
        for (frame, (a, b)) in a.iter().zip(b).enumerate() {
            assert_eq!(a.len(), b.len(), "number of vertices");
            for (vertex, (a, b)) in a.iter().zip(b).enumerate() {
                let distance = a.0.distance(b.0);
                let distance = if distance.is_finite() { distance } else { f64::INFINITY };
                if distance > worst.position {
                    (worst.position, worst.place) = (distance, (frame, vertex));
                }
                if a.1 != DVec3::ZERO && b.1 != DVec3::ZERO {
                    let angle = a.1.cross(b.1).length().atan2(a.1.dot(b.1)).to_degrees();
                    worst.degrees = worst.degrees.max(if angle.is_finite() { angle } else { f64::INFINITY });
                }
            }
        }
        worst
    }
}
