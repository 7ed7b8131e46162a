//! Names of morph targets: `extras.targetNames` of a mesh, which most exporters write.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names of the morph targets of each mesh. Reads nothing else of the document, and accepts anything where names may be:
/// `extras` have no schema.
#[derive(Default, serde::Deserialize)]
pub(super) struct TargetNames {
    #[serde(default)]
    meshes: Vec<MeshNames>,
}

#[derive(Default, serde::Deserialize)]
struct MeshNames {
    #[serde(default)]
    extras: Extras,
}

impl TargetNames {
    /// Reads the names from the JSON of a file.
    pub(super) fn read(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    /// Returns the name of a target; `None` if it has none.
    pub(super) fn of(&self, mesh: usize, target: usize) -> Option<&str> {
        let name = self.meshes.get(mesh)?.extras.0.get(target)?.0.as_deref()?;
        (!name.is_empty()).then_some(name)
    }
}

/// Value of the key `targetNames`, if `extras` is an object that has it.
#[derive(Default)]
struct Extras(Vec<Name>);

/// A string; `None` for any other value.
struct Name(Option<String>);

/// Visitor that ignores all values but those of one kind.
macro_rules! scalars {
    ($none:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($none)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($none)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($none)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($none)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($none)
        }
    };
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfName;
        impl<'de> Visitor<'de> for OfName {
            type Value = Name;
            scalars!(Name(None));
            fn visit_str<E>(self, text: &str) -> Result<Name, E> {
                Ok(Name(Some(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Name, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Name(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Name, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Name(None))
            }
        }
        deserializer.deserialize_any(OfName)
    }
}

impl<'de> Deserialize<'de> for Extras {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// `inside`: whether the value is that of `targetNames`.
        struct OfExtras {
            inside: bool,
        }
        impl<'de> DeserializeSeed<'de> for OfExtras {
            type Value = Extras;
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Extras, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
        impl<'de> Visitor<'de> for OfExtras {
            type Value = Extras;
            scalars!(Extras::default());
            fn visit_str<E>(self, _: &str) -> Result<Extras, E> {
                Ok(Extras::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Extras, A::Error> {
                let mut names = Vec::new();
                if !self.inside {
                    while list.next_element::<IgnoredAny>()?.is_some() {}
                }
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Extras(names))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Extras, A::Error> {
                let mut found = Extras::default();
                while let Some(Name(key)) = map.next_key()? {
                    if !self.inside && key.as_deref() == Some("targetNames") {
                        found = map.next_value_seed(OfExtras { inside: true })?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(found)
            }
        }
        OfExtras { inside: false }.deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_anything_else_is_ignored() {
        let json = br#"{ "asset": [1], "meshes": [
            { "extras": { "targetNames": ["smile", 3, "", {"a": [1]}, "blink"], "other": [1, {}] } },
            { "extras": ["targetNames"] }, { "extras": "text" }, { "extras": 1.5 }, { "extras": null }, {},
            { "extras": { "targetNames": "smile" } }, { "extras": { "targetNames": { "targetNames": ["x"] } } }
        ] }"#;
        let names = TargetNames::read(json);
        let of_first: Vec<_> = (0..6).map(|target| names.of(0, target)).collect();
        assert_eq!(of_first, [Some("smile"), None, None, None, Some("blink"), None]);
        assert!((1..9).all(|mesh| names.of(mesh, 0).is_none()));
        assert!(TargetNames::read(b"[").of(0, 0).is_none());
    }
}
