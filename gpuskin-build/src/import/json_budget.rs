//! Deserializer adapter between JSON and `gltf::json`, which handles input that `gltf::json`
//! cannot:
//!
//! - Indices and codes of 2^32 and above are rejected: `gltf::json` truncates them, and 2^32 would
//!   become item 0.
//! - `3.0` is accepted as a whole number, as the specification requires of readers.
//! - The length of lists is bounded, and so is the memory of the parsed document, measured by the sizes
//!   of its Rust types.
//! - `min` and `max` of accessors, `extras`, and the content of extensions other than [`READ`] are
//!   skipped, because nothing reads them: `gltf::json` stores them as trees, which take a hundred times
//!   the size of their text, or rejects `extras` that are not objects. Names of extensions are kept.

use std::cell::Cell;
use std::fmt;

use serde::de::value::{StringDeserializer, UnitDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

/// Maximum length of a list in a file. A character with 76 clips has 9,000 accessors.
const MAX_LIST: usize = 1 << 20;
/// 2^53: above it, `f64` cannot represent every whole number.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Keys whose values are skipped.
const LEFT_OUT: [&str; 3] = ["extras", "min", "max"];
/// Extensions whose content is read.
const READ: [&str; 14] = [
    "KHR_animation_pointer",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_materials_emissive_strength",
    "KHR_materials_clearcoat",
    "KHR_materials_sheen",
    "KHR_materials_ior",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_specular",
    "KHR_materials_variants",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
];

/// Meaning of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueRole {
    Plain,
    /// A value in a newtype, such as a size or an offset, but not an index.
    Wrapped,
    /// An object whose keys are names of extensions.
    Extensions,
    /// The content of an extension.
    Extension,
}

/// Memory that a document may still take when parsed, in bytes. A list of `{}` takes a hundred
/// times the size of its text.
pub(super) struct Budget(Cell<u64>);

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Cell::new(bytes))
    }

    /// Whether the budget is exhausted.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Subtracts the size of a value, twice, because lists grow by doubling.
    fn take<T, E: Error>(&self) -> Result<(), E> {
        let left = self.0.get().saturating_sub(2 * size_of::<T>() as u64);
        self.0.set(left);
        if left > 0 { Ok(()) } else { Err(E::custom("the document exceeds the memory limit")) }
    }
}

/// Deserializer that wraps another one.
pub(super) struct BudgetDeserializer<'b, D> {
    inner: D,
    role: ValueRole,
    budget: &'b Budget,
}

impl<'b, D> BudgetDeserializer<'b, D> {
    pub(super) fn new(inner: D, budget: &'b Budget) -> Self {
        Self { inner, role: ValueRole::Plain, budget }
    }

    fn visit<V>(&self, visitor: V) -> BudgetVisitor<'b, V> {
        BudgetVisitor { visitor, role: self.role, most: None, budget: self.budget }
    }

    fn whole<V>(&self, visitor: V, most: u64) -> BudgetVisitor<'b, V> {
        BudgetVisitor { visitor, role: self.role, most: Some(most), budget: self.budget }
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

impl<'de, D: Deserializer<'de>> Deserializer<'de> for BudgetDeserializer<'_, D> {
    type Error = D::Error;

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let most = if self.role == ValueRole::Wrapped { u64::MAX } else { u32::MAX.into() };
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

/// Visitor that wraps another one.
struct BudgetVisitor<'b, V> {
    visitor: V,
    role: ValueRole,
    budget: &'b Budget,
    /// Maximum of a whole number, if one is expected.
    most: Option<u64>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for BudgetVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            None => self.visitor.expecting(f),
            Some(u64::MAX) => f.write_str("a non-negative whole number"),
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
        self.visitor.visit_some(BudgetDeserializer { inner, role: self.role, budget: self.budget })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(BudgetDeserializer { inner, role: ValueRole::Wrapped, budget: self.budget })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(BudgetItems { inner, left: MAX_LIST, budget: self.budget })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(BudgetEntries { inner, role: self.role, next: ValueRole::Plain, budget: self.budget })
    }
}

struct BudgetSeed<'b, S> {
    seed: S,
    role: ValueRole,
    budget: &'b Budget,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for BudgetSeed<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(BudgetDeserializer { inner, role: self.role, budget: self.budget })
    }
}

struct BudgetItems<'b, A> {
    inner: A,
    left: usize,
    budget: &'b Budget,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for BudgetItems<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        if self.left == 0 {
            return match self.inner.next_element::<IgnoredAny>()? {
                None => Ok(None),
                Some(_) => Err(A::Error::custom(format!("a list has more than {MAX_LIST} items"))),
            };
        }
        self.left -= 1;
        self.budget.take::<S::Value, A::Error>()?;
        self.inner.next_element_seed(BudgetSeed { seed, role: ValueRole::Plain, budget: self.budget })
    }
}

struct BudgetEntries<'b, A> {
    inner: A,
    role: ValueRole,
    budget: &'b Budget,
    /// Role of the next value.
    next: ValueRole,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for BudgetEntries<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        while let Some(key) = self.inner.next_key::<String>()? {
            self.next = match (self.role, &*key) {
                (ValueRole::Extensions, name) if READ.contains(&name) => ValueRole::Plain,
                (ValueRole::Extensions, _) => ValueRole::Extension,
                (_, "extensions") => ValueRole::Extensions,
                (_, other) if LEFT_OUT.contains(&other) => {
                    self.inner.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => ValueRole::Plain,
            };
            return seed.deserialize(StringDeserializer::new(key)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if self.next == ValueRole::Extension {
            self.inner.next_value::<IgnoredAny>()?;
            return seed.deserialize(UnitDeserializer::new());
        }
        self.budget.take::<S::Value, A::Error>()?;
        self.inner.next_value_seed(BudgetSeed { seed, role: self.next, budget: self.budget })
    }
}
