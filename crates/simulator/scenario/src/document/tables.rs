//! Lists, tables and enums, item by item.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::layers::visit_layers;
use super::{Node, Value};
use crate::error::{Problem, choices};

/// The key that names an enum's variant.
const KIND: &str = "kind";

/// A key and its value.
pub(super) type Entry<'a> = (&'a str, &'a Node);

/// A list, its items numbered.
pub(super) struct Items<I>(pub(super) I);

impl<'de, 'a, I: Iterator<Item = (usize, &'a Node)>> SeqAccess<'de> for Items<I> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        let Some((index, node)) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|problem| problem.inside(&index.to_string()))
    }
}

/// The entries of a table, or some of them.
pub(super) struct Entries<'a> {
    entries: std::vec::IntoIter<Entry<'a>>,
    current: Option<Entry<'a>>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(entries: Vec<Entry<'a>>) -> Entries<'a> {
        Entries { entries: entries.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        self.current = self.entries.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(text(key)).map(Some).map_err(|problem| problem.inside(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (key, node) = self.current.ok_or_else(|| Problem::new("a value before its key"))?;
        seed.deserialize(node).map_err(|problem| problem.inside(key))
    }
}

fn text(text: &str) -> StrDeserializer<'_, Problem> {
    text.into_deserializer()
}

/// Splits off the `kind` of a table.
pub(super) fn visit_tagged<'de, V: Visitor<'de>>(
    mut entries: Vec<Entry<'_>>,
    variants: &'static [&'static str],
    visitor: V,
) -> Result<V::Value, Problem> {
    let help = || format!("one of {}", choices(variants));
    let index = entries.iter().position(|(key, _)| *key == KIND);
    let missing = || Problem::at(KIND, "`kind` is missing").help(help());
    let (_, kind) = entries.remove(index.ok_or_else(missing)?);
    match &kind.value {
        Value::Text(kind) => visitor.visit_enum(Tagged { kind, entries, key: Some(KIND) }),
        _ => Err(Problem::at(KIND, "a text in quotes is expected").help(help())),
    }
}

/// An enum: the name of its variant, and the variant's keys.
pub(super) struct Tagged<'a> {
    kind: &'a str,
    entries: Vec<Entry<'a>>,
    key: Option<&'static str>,
}

impl<'a> Tagged<'a> {
    pub(super) fn unit(kind: &'a str) -> Tagged<'a> {
        Tagged { kind, entries: Vec::new(), key: None }
    }
}

impl<'de, 'a> EnumAccess<'de> for Tagged<'a> {
    type Error = Problem;
    type Variant = Table<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Table<'a>), Problem> {
        let variant = seed.deserialize(text(self.kind)).map_err(|problem| match self.key {
            Some(key) => problem.inside(key),
            None => problem,
        })?;
        Ok((variant, Table(self.entries)))
    }
}

/// A table, or what is left of it.
pub(super) struct Table<'a>(pub(super) Vec<Entry<'a>>);

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
        visit_layers(self.0, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple map struct enum identifier ignored_any
    }
}
