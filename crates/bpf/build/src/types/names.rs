//! Rust names for C's.

use std::cell::RefCell;
use std::rc::Rc;

use bindgen::callbacks::{
    DeriveTrait, EnumVariantCustomBehavior, EnumVariantValue, ImplementsTrait, ItemInfo,
    ParseCallbacks,
};

use super::Types;

/// `flow_key` is `FlowKey`.
pub(super) fn camel(name: &str) -> String {
    let mut text = String::new();
    for word in name.split('_') {
        text.extend(word.chars().take(1).flat_map(char::to_uppercase));
        text.extend(word.chars().skip(1).flat_map(char::to_lowercase));
    }
    text
}

/// An enum's value without the enum's own prefix: `FLOW_NEW` is `NEW`.
pub(super) fn without_prefix<'a>(types: Types, of: &str, value: &'a str) -> &'a str {
    if types.whole_names.contains(&of) {
        return value;
    }
    value.split_once('_').map_or(value, |(_, rest)| rest)
}

/// An enum of the headers, by its name in C: its values in their order.
#[derive(Debug)]
pub(super) struct Enum {
    pub name: String,
    pub values: Vec<(String, i64)>,
}

/// The callbacks of bindgen while it reads the headers; records the enums.
#[derive(Debug)]
pub(super) struct Names {
    pub types: Types,
    pub enums: Rc<RefCell<Vec<Enum>>>,
}

impl Names {
    fn note(&self, of: &str, value: &str, number: i64) {
        let mut enums = self.enums.borrow_mut();
        let index = enums.iter().position(|known| known.name == of).unwrap_or_else(|| {
            enums.push(Enum { name: of.into(), values: vec![] });
            enums.len() - 1
        });
        let values = &mut enums[index].values;
        if values.iter().all(|(known, _)| known != value) {
            values.push((value.into(), number));
        }
    }
}

/// "enum flow_state" is `flow_state`.
fn bare(name: Option<&str>) -> &str {
    name.map_or("", |name| name.trim_start_matches("enum "))
}

impl ParseCallbacks for Names {
    /// The types that are not made here are numbers, or structs of numbers.
    fn blocklisted_type_implements_trait(
        &self,
        _: &str,
        _: DeriveTrait,
    ) -> Option<ImplementsTrait> {
        Some(ImplementsTrait::Yes)
    }

    /// A heading over a part of a header is no comment of what follows it.
    fn process_comment(&self, comment: &str) -> Option<String> {
        comment.contains("----").then(String::new)
    }

    fn item_name(&self, item: ItemInfo<'_>) -> Option<String> {
        item.name.starts_with(|c: char| c.is_ascii_lowercase()).then(|| camel(item.name))
    }

    fn enum_variant_name(
        &self,
        of: Option<&str>,
        value: &str,
        _: EnumVariantValue,
    ) -> Option<String> {
        Some(camel(without_prefix(self.types, bare(of), value)))
    }

    fn enum_variant_behavior(
        &self,
        of: Option<&str>,
        value: &str,
        number: EnumVariantValue,
    ) -> Option<EnumVariantCustomBehavior> {
        let number = match number {
            EnumVariantValue::Boolean(number) => number.into(),
            EnumVariantValue::Signed(number) => number,
            EnumVariantValue::Unsigned(number) => number.cast_signed(),
        };
        self.note(bare(of), value, number);
        self.types.totals.contains(&value).then_some(EnumVariantCustomBehavior::Hide)
    }
}
