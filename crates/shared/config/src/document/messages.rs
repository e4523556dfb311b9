//! Errors of [`serde`], in the terms of TOML instead of Rust.

use std::fmt::Display;

use serde::de::{self, Expected, Unexpected};

use crate::error::Problem;

impl de::Error for Problem {
    fn custom<T: Display>(message: T) -> Problem {
        Problem::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Problem {
        Problem::new(format!("{} is expected, not {}", expected_text(expected), found_text(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Problem {
        Problem::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Problem {
        Problem::new(format!("\"{variant}\" is not one of {}", choices(expected)))
            .suggest(variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Problem {
        Problem::unknown_key(field, expected)
    }

    fn missing_field(field: &'static str) -> Problem {
        Problem::at(field, "this key is missing")
    }
}

impl Problem {
    /// A key that is none of `known`.
    pub(super) fn unknown_key(key: &str, known: &[&str]) -> Problem {
        Problem::new("this key is not known here").suggest(key, known)
    }
}

/// The type that serde expects, in the terms of TOML.
fn expected_text(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "u64" => "a whole number from 0 up".into(),
        "f64" => "a number".into(),
        "a string" => "a text in quotes".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other => other.into(),
    }
}

fn found_text(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(boolean) => boolean.to_string(),
        Unexpected::Signed(integer) => integer.to_string(),
        Unexpected::Float(float) => float.to_string(),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// `"a"`, `"b"` or `"c"`.
pub(super) fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_read_as_a_sentence() {
        assert_eq!(choices(&["a"]), "\"a\"");
        assert_eq!(choices(&["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}
