//! A deserialiser between JSON and `gltf::json`, which takes from it what `gltf::json` would stumble over:
//!
//! - Indices and codes from 2^32 on are refused: `gltf::json` cuts them off, and 2^32 would be item 0.
//! - `3.0` is a whole number, as the specification asks of readers.
//! - Lists are bounded.
//! - `min` and `max` of accessors, `extras`, and what extensions say are left out, except for those in [`READ`]: nothing
//!   reads them, and `gltf::json` keeps them as trees, which take a hundred times their text, or refuses `extras` that are
//!   no objects. The names of extensions stay.

use std::fmt;

use serde::de::value::{StringDeserializer, UnitDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

/// Longest list of a file. A character with 76 clips has 9,000 accessors.
const MAX_LIST: usize = 1 << 20;
/// 2^53: above, not every whole number is an `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Keys whose values nothing reads.
const LEFT_OUT: [&str; 3] = ["extras", "min", "max"];
/// The extensions whose content is read.
const READ: [&str; 5] = [
    "KHR_texture_transform",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
];

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    /// In a type of its own, as sizes and offsets are, and indices are not.
    Wrapped,
    /// An object of extensions.
    Extensions,
    /// What an extension says.
    Extension,
}

/// The deserialiser.
pub(super) struct Tamed<D> {
    inner: D,
    role: Role,
}

impl<D> Tamed<D> {
    pub(super) fn new(inner: D) -> Self {
        Self { inner, role: Role::Plain }
    }

    fn visit<V>(&self, visitor: V) -> Tame<V> {
        Tame { visitor, role: self.role, most: None }
    }

    fn whole<V>(&self, visitor: V, most: u64) -> Tame<V> {
        Tame { visitor, role: self.role, most: Some(most) }
    }
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.visit(visitor);
            self.inner.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tamed<D> {
    type Error = D::Error;

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let most = if self.role == Role::Wrapped { u64::MAX } else { u32::MAX.into() };
        let visitor = self.whole(visitor, most);
        self.inner.deserialize_u64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.whole(visitor, u32::MAX.into());
        self.inner.deserialize_u32(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    pass_on! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_u8() deserialize_u16()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_unit() deserialize_seq()
        deserialize_map() deserialize_identifier()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }
}

/// Passes values on to a visitor.
struct Tame<V> {
    visitor: V,
    role: Role,
    /// Largest whole number, where one is needed.
    most: Option<u64>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Tame<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            None => self.visitor.expecting(f),
            Some(u64::MAX) => f.write_str("a whole number that is not negative"),
            Some(most) => write!(f, "a whole number from 0 to {most}"),
        }
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<V::Value, E> {
        self.visitor.visit_bool(v)
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<V::Value, E> {
        match self.most {
            None => self.visitor.visit_i64(v),
            Some(_) => Err(E::invalid_value(Unexpected::Signed(v), &self)),
        }
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<V::Value, E> {
        match self.most {
            Some(most) if v > most => Err(E::invalid_value(Unexpected::Unsigned(v), &self)),
            _ => self.visitor.visit_u64(v),
        }
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<V::Value, E> {
        match self.most {
            None => self.visitor.visit_f64(v),
            Some(_) if v.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&v) => self.visit_u64(v as u64),
            Some(_) => Err(E::invalid_value(Unexpected::Float(v), &self)),
        }
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<V::Value, E> {
        self.visitor.visit_str(v)
    }

    fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<V::Value, E> {
        self.visitor.visit_borrowed_str(v)
    }

    fn visit_string<E: Error>(self, v: String) -> Result<V::Value, E> {
        self.visitor.visit_string(v)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Tamed { inner, role: self.role })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Tamed { inner, role: Role::Wrapped })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Items { inner, left: MAX_LIST })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Entries { inner, role: self.role, next: Role::Plain })
    }
}

struct Seed<S> {
    seed: S,
    role: Role,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Tamed { inner, role: self.role })
    }
}

struct Items<A> {
    inner: A,
    left: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        if self.left == 0 {
            return match self.inner.next_element::<IgnoredAny>()? {
                None => Ok(None),
                Some(_) => Err(A::Error::custom(format!("a list of more than {MAX_LIST} items"))),
            };
        }
        self.left -= 1;
        self.inner.next_element_seed(Seed { seed, role: Role::Plain })
    }
}

struct Entries<A> {
    inner: A,
    role: Role,
    /// That of the value that comes next.
    next: Role,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Entries<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        while let Some(key) = self.inner.next_key::<String>()? {
            self.next = match (self.role, &*key) {
                (Role::Extensions, name) if READ.contains(&name) => Role::Plain,
                (Role::Extensions, _) => Role::Extension,
                (_, "extensions") => Role::Extensions,
                (_, other) if LEFT_OUT.contains(&other) => {
                    self.inner.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => Role::Plain,
            };
            return seed.deserialize(StringDeserializer::new(key)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if self.next == Role::Extension {
            self.inner.next_value::<IgnoredAny>()?;
            return seed.deserialize(UnitDeserializer::new());
        }
        self.inner.next_value_seed(Seed { seed, role: self.next })
    }
}
