//! Lists and tables, item by item.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::node::Node;
use crate::error::Problem;

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
        seed.deserialize(string(key)).map(Some).map_err(|problem| problem.inside(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (key, node) = self.current.ok_or_else(|| Problem::new("a value before its key"))?;
        seed.deserialize(node).map_err(|problem| problem.inside(key))
    }
}

/// A deserializer of a string alone: a key, or the name of a variant.
pub(super) fn string(text: &str) -> StrDeserializer<'_, Problem> {
    text.into_deserializer()
}
