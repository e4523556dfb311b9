//! Several types laid over one table: structs, each of which takes the keys that it knows, and perhaps an enum at the end, which
//! takes the rest. A key that none of them knows is refused.

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::tables::{Entry, Table, visit_tagged};
use crate::error::Problem;

/// Reads a table as a tuple struct.
pub(super) fn visit_layers<'de, V: Visitor<'de>>(
    entries: Vec<Entry<'_>>,
    visitor: V,
) -> Result<V::Value, Problem> {
    let mut layers = Layers { rest: entries, known: Vec::new() };
    let value = visitor.visit_seq(&mut layers)?;
    match layers.rest.first() {
        None => Ok(value),
        Some((key, _)) => Err(Problem::unknown_key(key, &layers.known).inside(key)),
    }
}

/// What is left of the table, and the keys that were taken from it or could have been.
struct Layers<'a> {
    rest: Vec<Entry<'a>>,
    known: Vec<&'static str>,
}

impl<'de> SeqAccess<'de> for Layers<'_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        seed.deserialize(Layer(self)).map(Some)
    }
}

struct Layer<'l, 'a>(&'l mut Layers<'a>);

impl<'de> Deserializer<'de> for Layer<'_, '_> {
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
        visit_tagged(rest, variants, visitor).map_err(|problem| problem.also_known(&self.0.known))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        Table(std::mem::take(&mut self.0.rest)).deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
