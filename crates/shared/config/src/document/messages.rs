//! Errors of [`serde`], in the terms of TOML instead of Rust.

use std::fmt::Display;
use std::net::SocketAddr;

use serde::de::{self, Expected, Unexpected};

use crate::error::Problem;

impl de::Error for Problem {
    /// A type that knows no [`Problem`] may put its help on a line of its own, behind `help: `.
    fn custom<T: Display>(message: T) -> Problem {
        Problem::of(&message)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Problem {
        let expected = expected_text(expected);
        let problem = Problem::new(format!("{expected} is expected, not {}", found_text(found)));
        let help = match (found, expected.as_str()) {
            (Unexpected::Float(float), other) if other.starts_with(WHOLE) && is_whole(float) => {
                Some(format!("without a point and an exponent: {float}"))
            }
            (Unexpected::Map, "a list") => Some("a list of tables has double brackets".into()),
            (found, "a list") => Some(format!("in brackets: [{}]", items(found))),
            (Unexpected::Str(text), "a number") => plain_number(text),
            (Unexpected::Str(text), other) if other.starts_with(WHOLE) => {
                let number = text.trim().parse::<u64>().ok();
                number.map(|number| format!("without quotes: {number}"))
            }
            _ => None,
        };
        help.into_iter().fold(problem, Problem::help)
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
    /// Names the refused text where it is no address, which the message of the standard library's
    /// types does not.
    pub(super) fn with_address(self, text: &str) -> Problem {
        let message = self.to_string();
        let kind = message.strip_prefix("invalid ").and_then(|m| m.strip_suffix(" address syntax"));
        let Some(kind) = kind else { return self };
        if kind == "socket" {
            let problem = Problem::new(format!("\"{text}\" is not an IP address with a port"));
            return problem.help("as in \"192.0.2.1:9100\" or \"[2001:db8::1]:9100\"");
        }
        let problem = Problem::new(format!("\"{text}\" is not an {kind} address"));
        match text.parse::<SocketAddr>() {
            Ok(both) => problem.help(format!("without the port: \"{}\"", both.ip())),
            Err(_) => problem,
        }
    }

    /// A key that is none of `known`.
    pub(super) fn unknown_key(key: &str, known: &[&str]) -> Problem {
        let problem = Problem::new("this key is not known here");
        match known {
            [] => problem.help("leave it out: there are no keys here"),
            known => problem.suggest(key, known),
        }
    }
}

/// Begin of the names of types without decimals.
const WHOLE: &str = "a whole number";

/// True for a number that is written as a decimal and has none.
fn is_whole(float: f64) -> bool {
    float.trunc() == float && (0.0..1e15).contains(&float)
}

/// The items of a list for a value that stands in its place: a text of whole numbers between commas
/// is several.
fn items(found: Unexpected<'_>) -> String {
    let are_numbers = |text: &str| text.split(',').all(|item| item.trim().parse::<u64>().is_ok());
    match found {
        Unexpected::Str(text) if are_numbers(text) => text.to_owned(),
        found => found_text(found),
    }
}

/// Help for a text that is a number in quotes, or one in per cent.
fn plain_number(text: &str) -> Option<String> {
    let text = text.trim();
    let finite = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match text.strip_suffix('%') {
        Some(percent) => {
            // As a fraction that was written with the same digits.
            let share = (finite(percent)? * 1e6).round() / 1e8;
            Some(format!("as a fraction: {share}"))
        }
        None => Some(format!("without quotes: {}", finite(text)?)),
    }
}

/// The type that serde expects, in the terms of TOML.
fn expected_text(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "a nonzero u32" => "a whole number from 1 to 4294967295".into(),
        "u64" => "a whole number from 0 up".into(),
        "f64" => "a number".into(),
        "a string" => "a text in quotes".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other => other.into(),
    }
}

fn found_text(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(boolean) => boolean.to_string(),
        Unexpected::Signed(integer) => integer.to_string(),
        // With the point that makes it none.
        Unexpected::Float(float) if is_whole(float) => format!("{float:?}"),
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
    use std::net::IpAddr;

    use super::*;
    use crate::ConfigError;

    #[test]
    fn a_text_that_is_no_address_is_named() {
        let ip = |text: &str| {
            let error = text.parse::<IpAddr>().unwrap_err();
            let error = ConfigError::from(<Problem as de::Error>::custom(error).with_address(text));
            (error.message().to_owned(), error.help().map(str::to_owned))
        };
        assert_eq!(ip("10.0.0"), ("\"10.0.0\" is not an IP address".into(), None));
        let help = Some("without the port: \"192.0.2.10\"".into());
        assert_eq!(ip("192.0.2.10:80"), ("\"192.0.2.10:80\" is not an IP address".into(), help));

        let error = "10.0.0.1".parse::<SocketAddr>().unwrap_err();
        let problem = <Problem as de::Error>::custom(error).with_address("10.0.0.1");
        assert_eq!(problem.to_string(), "\"10.0.0.1\" is not an IP address with a port");
        let other = Problem::new("too much").with_address("10.0.0.1");
        assert_eq!(other.to_string(), "too much");
    }

    /// As 1e12 is one in TOML.
    #[test]
    fn a_decimal_in_the_place_of_a_whole_number_is_written_as_one() {
        let error = |found: f64| {
            let found = Unexpected::Float(found);
            ConfigError::from(<Problem as de::Error>::invalid_type(found, &"u64")).to_string()
        };
        assert_eq!(
            error(1e12),
            "a whole number from 0 up is expected, not 1000000000000.0\n\
             help: without a point and an exponent: 1000000000000"
        );
        assert_eq!(error(0.5), "a whole number from 0 up is expected, not 0.5");
    }

    #[test]
    fn the_same_value_in_the_right_form_is_the_help() {
        let help = |found: Unexpected<'_>, expected: &'static str| {
            let error = ConfigError::from(<Problem as de::Error>::invalid_type(found, &expected));
            error.help().map(str::to_owned)
        };
        let text = Unexpected::Str;
        assert_eq!(help(text("60%"), "f64").as_deref(), Some("as a fraction: 0.6"));
        assert_eq!(help(text("33.3 %"), "f64").as_deref(), Some("as a fraction: 0.333"));
        assert_eq!(help(text("0.5"), "f64").as_deref(), Some("without quotes: 0.5"));
        assert_eq!(help(text("50"), "u64").as_deref(), Some("without quotes: 50"));
        assert_eq!(help(text("high"), "f64"), None);
        assert_eq!(help(text("1,2"), "a sequence").as_deref(), Some("in brackets: [1,2]"));
        let link = text("leaf-1 spine-1");
        assert_eq!(help(link, "a sequence").as_deref(), Some("in brackets: [\"leaf-1 spine-1\"]"));
        assert_eq!(help(Unexpected::Signed(1), "a sequence").as_deref(), Some("in brackets: [1]"));
        assert!(help(Unexpected::Map, "a sequence").is_some_and(|help| help.contains("double")));
    }

    #[test]
    fn choices_read_as_a_sentence() {
        assert_eq!(choices(&["a"]), "\"a\"");
        assert_eq!(choices(&["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}
