//! The methods of every enum: its list of values, their names in C, and the conversion from a
//! number.

use std::fmt::Write as _;

use super::Types;
use super::names::{Enum, camel, without_prefix};

/// The `impl` blocks of all enums.
pub(super) fn impls(types: Types, enums: &[Enum]) -> String {
    enums.iter().map(|one| implementation(types, one)).collect()
}

fn implementation(types: Types, of: &Enum) -> String {
    let (totals, values): (Vec<_>, Vec<_>) =
        of.values.iter().partition(|(value, _)| types.totals.contains(&value.as_str()));
    let short = |value| without_prefix(types, &of.name, value);
    let mut text = format!("impl {} {{\n", camel(&of.name));
    for (total, number) in totals {
        let _ =
            writeln!(text, "/// Their number up to here.\npub const {total}: usize = {number};");
    }
    text += "/// All values, in their order.\npub const ALL: &'static [Self] = &[";
    for (value, _) in &values {
        let _ = write!(text, "Self::{}, ", camel(short(value)));
    }
    text += "];\n/// The value's name in C, in small letters and without the enum's prefix.\n";
    text += "pub const fn name(self) -> &'static str {\nmatch self {\n";
    for (value, _) in &values {
        let name = short(value).to_lowercase();
        let _ = writeln!(text, "Self::{} => \"{name}\",", camel(short(value)));
    }
    text += "}\n}\n/// The value that has this number.\n";
    text += "pub const fn from_number(number: u32) -> Option<Self> {\nSome(match number {\n";
    for (value, number) in &values {
        let _ = writeln!(text, "{number} => Self::{},", camel(short(value)));
    }
    text + "_ => return None,\n})\n}\n}\n"
}
