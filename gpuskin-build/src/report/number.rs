//! Measured numbers in JSON, which has no infinity.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A measured number. Infinite and undefined ones are the texts `inf` and `NaN` in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub(crate) f32);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f32(self.0) } else { serializer.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, \"inf\" or \"NaN\"")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_json() {
        for (number, text) in [(0.1, "0.1"), (0.0, "0.0"), (f32::INFINITY, "\"inf\""), (-2.5e-9, "-2.5e-9")] {
            assert_eq!(serde_json::to_string(&Number(number)).unwrap(), text);
            assert_eq!(serde_json::from_str::<Number>(text).unwrap(), Number(number));
        }
        assert_eq!(serde_json::to_string(&Number(f32::NAN)).unwrap(), "\"NaN\"");
        assert!(serde_json::from_str::<Number>("\"NaN\"").unwrap().0.is_nan());
        assert_eq!(serde_json::from_str::<Number>("3").unwrap(), Number(3.0));
        assert!(serde_json::from_str::<Number>("\"much\"").is_err());
    }
}
