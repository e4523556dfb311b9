//! Tables as enums and as tuple structs: see [`Document`](crate::Document). They nest in each
//! other, hence one file.

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::access::{Entries, Entry, string};
use super::messages::choices;
use super::node::{KIND, Value};
use crate::error::Problem;

/// Reads a table as an enum: splits off its `kind`.
pub(super) fn visit_enum<'de, V: Visitor<'de>>(
    mut entries: Vec<Entry<'_>>,
    variants: &'static [&'static str],
    visitor: V,
) -> Result<V::Value, Problem> {
    let help = || format!("one of {}", choices(variants));
    let index = entries.iter().position(|(key, _)| *key == KIND);
    let missing = || Problem::at(KIND, "`kind` is missing").help(help());
    let (_, kind) = entries.remove(index.ok_or_else(missing)?);
    match &kind.value {
        Value::String(kind) => visitor.visit_enum(Enum { kind, entries, key: Some(KIND) }),
        _ => Err(Problem::at(KIND, "a text in quotes is expected").help(help())),
    }
}

/// Reads a table as a tuple struct, each of whose fields takes the keys that it knows.
pub(super) fn visit_tuple_struct<'de, V: Visitor<'de>>(
    entries: Vec<Entry<'_>>,
    visitor: V,
) -> Result<V::Value, Problem> {
    let mut parts = Parts { rest: entries, known: Vec::new() };
    let value = visitor.visit_seq(&mut parts)?;
    match parts.rest.first() {
        None => Ok(value),
        Some((key, _)) => Err(Problem::unknown_key(key, &parts.known).inside(key)),
    }
}

/// An enum: the name of its variant, and the variant's keys.
pub(super) struct Enum<'a> {
    kind: &'a str,
    entries: Vec<Entry<'a>>,
    key: Option<&'static str>,
}

impl<'a> Enum<'a> {
    /// A variant without keys.
    pub(super) fn unit(kind: &'a str) -> Enum<'a> {
        Enum { kind, entries: Vec::new(), key: None }
    }
}

impl<'de, 'a> EnumAccess<'de> for Enum<'a> {
    type Error = Problem;
    type Variant = Table<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Table<'a>), Problem> {
        let variant = seed.deserialize(string(self.kind)).map_err(|problem| match self.key {
            Some(key) => problem.inside(key),
            None => problem,
        })?;
        Ok((variant, Table(self.entries)))
    }
}

/// A table without the keys that were read already.
pub(super) struct Table<'a>(Vec<Entry<'a>>);

impl<'de> VariantAccess<'de> for Table<'_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((key, _)) => Err(de::Error::unknown_field(key, &[]))
                .map_err(|problem: Problem| problem.inside(key)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_any(visitor)
    }
}

impl<'de> Deserializer<'de> for Table<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_map(Entries::new(self.0))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visit_tuple_struct(self.0, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple map struct enum identifier ignored_any
    }
}

/// The fields of a tuple struct: the part of the table that none has taken yet, and the keys that
/// they know.
struct Parts<'a> {
    rest: Vec<Entry<'a>>,
    known: Vec<&'static str>,
}

impl<'de> SeqAccess<'de> for Parts<'_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        seed.deserialize(Part(self)).map(Some)
    }
}

/// One field of a tuple struct.
struct Part<'p, 'a>(&'p mut Parts<'a>);

impl<'de> Deserializer<'de> for Part<'_, '_> {
    type Error = Problem;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let rest = std::mem::take(&mut self.0.rest);
        let (own, rest) = rest.into_iter().partition(|(key, _)| fields.contains(key));
        self.0.rest = rest;
        self.0.known.extend(fields);
        Table(own).deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let rest = std::mem::take(&mut self.0.rest);
        visit_enum(rest, variants, visitor).map_err(|problem| problem.suggest_also(&self.0.known))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        Table(std::mem::take(&mut self.0.rest)).deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
