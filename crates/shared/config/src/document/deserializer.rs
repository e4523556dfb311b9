//! A tree of values as a [`serde`] deserializer.

use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::access::{Entries, Entry, Items};
use super::messages::choices;
use super::node::{Node, Value};
use super::table::{Enum, visit_enum, visit_tuple_struct};
use crate::error::Problem;
use crate::one_or_more::ONE_OR_MORE;

impl<'de> Deserializer<'de> for &Node {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.value {
            Value::String(text) | Value::Other(text) => {
                visitor.visit_str(text).map_err(|problem: Problem| problem.with_address(text))
            }
            Value::Integer(integer) => visitor.visit_i64(*integer),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Value::Table(_) => visitor.visit_map(Entries::new(self.entries()?)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match &self.value {
            Value::String(text) => visitor.visit_enum(Enum::unit(text)),
            Value::Table(_) => visit_enum(self.entries()?, variants, visitor),
            _ => Err(Problem::new(format!("one of {} is expected", choices(variants)))),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_map(Entries::new(self.entries()?))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visit_tuple_struct(self.entries()?, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match &self.value {
            Value::Array(_) => self.deserialize_any(visitor),
            _ if name == ONE_OR_MORE => visitor.visit_newtype_struct(self),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple map identifier ignored_any
    }
}

impl Node {
    /// The entries of a table.
    fn entries(&self) -> Result<Vec<Entry<'_>>, Problem> {
        match &self.value {
            Value::Table(table) => {
                Ok(table.iter().map(|(key, node)| (key.as_str(), node)).collect())
            }
            _ => Err(Problem::new("a table is expected")),
        }
    }
}
