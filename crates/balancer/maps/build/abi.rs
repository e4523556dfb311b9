//! bindgen makes Rust's types of what C and Rust share: `struct flow_key` is `FlowKey`, `TARGET_UP` of `enum target_state` is
//! `TargetState::Up`.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bindgen::callbacks::{
    DeriveTrait, EnumVariantCustomBehavior, EnumVariantValue, ImplementsTrait, ItemInfo,
    ParseCallbacks,
};

use crate::compile::MEND;

/// Writes `out`/abi.rs.
pub fn types(headers: &[PathBuf], out: &Path) -> Result<(), String> {
    if std::panic::catch_unwind(bindgen::clang_version).is_err() {
        return Err(format!("libclang was not found\n{MEND}"));
    }
    let enums = Rc::new(RefCell::new(Vec::new()));
    let bindings = builder(headers)
        .parse_callbacks(Box::new(Names { enums: Rc::clone(&enums) }))
        .generate()
        .map_err(|e| format!("bindgen: {e}\n{MEND}"))?;
    let text = plain_numbers(&bindings.to_string()) + &impls(&enums.borrow());
    std::fs::write(out.join("abi.rs"), text).map_err(|e| format!("{}: {e}", out.display()))
}

fn builder(headers: &[PathBuf]) -> bindgen::Builder {
    bindgen::Builder::default()
        .headers(headers.iter().map(|header| header.to_string_lossy()))
        .clang_arg("-fparse-all-comments")
        .allowlist_file(".*/include/(abi|bench|decap_abi)\\.h")
        .blocklist_type("__(u8|u16|u32|u64|be16)")
        .formatter(bindgen::Formatter::None)
        .use_core()
        .derive_default(true)
        .derive_eq(true)
        .explicit_padding(true)
        .prepend_enum_name(false)
        .merge_extern_blocks(true)
        .default_enum_style(bindgen::EnumVariation::Rust { non_exhaustive: false })
}

/// Linux's names for numbers are Rust's with two underscores.
fn plain_numbers(text: &str) -> String {
    text.replace("__be16", "u16").replace("__u", "u")
}

/// `flow_key` is `FlowKey`.
fn camel(name: &str) -> String {
    let mut text = String::new();
    for word in name.split('_') {
        text.extend(word.chars().take(1).flat_map(char::to_uppercase));
        text.extend(word.chars().skip(1).flat_map(char::to_lowercase));
    }
    text
}

/// What a value of an enum means without the enum's own word: `FLOW_NEW` is `NEW`. Counters have none.
fn own_part<'a>(of: &str, value: &'a str) -> &'a str {
    if of == "counter" { value } else { value.split_once('_').map_or(value, |(_, rest)| rest) }
}

/// Marks, not values: where one part of an enum ends.
fn is_mark(value: &str) -> bool {
    ["VERDICTS", "ALL_COUNTERS", "DECAP_COUNTERS"].contains(&value)
}

/// An enum of abi.h, by its name in C: its values in their order.
#[derive(Debug)]
struct Enum {
    name: String,
    values: Vec<(String, i64)>,
}

#[derive(Debug)]
struct Names {
    enums: Rc<RefCell<Vec<Enum>>>,
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
    /// The blocked types are numbers.
    fn blocklisted_type_implements_trait(
        &self,
        _: &str,
        _: DeriveTrait,
    ) -> Option<ImplementsTrait> {
        Some(ImplementsTrait::Yes)
    }

    /// A heading over a part of abi.h is no comment of what follows it.
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
        Some(camel(own_part(bare(of), value)))
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
        is_mark(value).then_some(EnumVariantCustomBehavior::Hide)
    }
}

/// What every enum can do: list its values, name them as C does, be made of a number.
fn impls(enums: &[Enum]) -> String {
    enums.iter().map(implementation).collect()
}

fn implementation(of: &Enum) -> String {
    let (marks, values): (Vec<_>, Vec<_>) = of.values.iter().partition(|(value, _)| is_mark(value));
    let variant = |value: &str| camel(own_part(&of.name, value));
    let mut text = format!("impl {} {{\n", camel(&of.name));
    for (mark, number) in marks {
        let _ = writeln!(
            text,
            "/// How many there are up to here.\npub const {mark}: usize = {number};"
        );
    }
    text += "/// All values, in their order.\npub const ALL: &'static [Self] = &[";
    for (value, _) in &values {
        let _ = write!(text, "Self::{}, ", variant(value));
    }
    text +=
        "];\n/// The value's name in abi.h, in small letters and without the enum's own word.\n";
    text += "pub const fn name(self) -> &'static str {\nmatch self {\n";
    for (value, _) in &values {
        let name = own_part(&of.name, value).to_lowercase();
        let _ = writeln!(text, "Self::{} => \"{name}\",", variant(value));
    }
    text += "}\n}\n/// The value that has this number.\n";
    text += "pub const fn from_number(number: u32) -> Option<Self> {\nSome(match number {\n";
    for (value, number) in &values {
        let _ = writeln!(text, "{number} => Self::{},", variant(value));
    }
    text + "_ => return None,\n})\n}\n}\n"
}
