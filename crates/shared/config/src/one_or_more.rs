//! A value, or a list of such values.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

/// The name by which [`Document`](crate::Document)'s deserializer knows the type.
pub(crate) const ONE_OR_MORE: &str = "heddle_config::OneOrMore";

/// A table that may be written once (`[workload]`) or several times (`[[workload]]`).
///
/// ```
/// use heddle_config::{Document, OneOrMore};
///
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Disk {
///     size: u32,
/// }
/// #[derive(serde::Deserialize)]
/// struct File {
///     disk: OneOrMore<Disk>,
/// }
///
/// let read = |text| Document::parse("a.toml", text)?.read().map(|file: File| file.disk);
/// assert_eq!(read("[disk]\nsize = 1"), Ok(OneOrMore::One(Disk { size: 1 })));
/// let two = read("[[disk]]\nsize = 1\n[[disk]]\nsize = 2");
/// assert_eq!(two, Ok(OneOrMore::More(vec![Disk { size: 1 }, Disk { size: 2 }])));
/// let error = read("[[disk]]\nsize = 1\n[[disk]]\nsize = \"x\"").unwrap_err();
/// assert_eq!((error.line(), error.key()), (Some(4), "disk.1.size"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneOrMore<T> {
    /// A value.
    One(T),
    /// A list, which may have one value or none.
    More(Vec<T>),
}

impl<T: Serialize> Serialize for OneOrMore<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            OneOrMore::One(value) => value.serialize(to),
            OneOrMore::More(values) => values.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OneOrMore<T>, D::Error> {
        from.deserialize_newtype_struct(ONE_OR_MORE, Values(PhantomData))
    }
}

struct Values<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
    type Value = OneOrMore<T>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a table, or a list of tables")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<OneOrMore<T>, D::Error> {
        T::deserialize(from).map(OneOrMore::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneOrMore<T>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(OneOrMore::More(values))
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for OneOrMore<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMore_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [value, { "type": "array", "items": value }] })
    }
}
