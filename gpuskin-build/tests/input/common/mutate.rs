//! Reproducible random damage.

use serde_json::Value;

/// Random numbers from a seed (PCG).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (((self.0 >> 18) ^ self.0) >> 27) as u32;
        mixed.rotate_right((self.0 >> 59) as u32) as usize % end.max(1)
    }

    /// Returns a random item of a list.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Collects JSON pointers to all values of a document.
pub fn places(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| places(v, format!("{at}/{i}"), found)),
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, format!("{at}/{k}"), found)),
        _ => {}
    }
    if !at.is_empty() {
        found.push(at);
    }
}
