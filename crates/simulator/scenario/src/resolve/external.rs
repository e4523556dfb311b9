//! `[scheme]` of kind `external`: its parameters as numbers, and the library as the caller finds
//! it.

use std::collections::BTreeMap;

use heddle_config::Problem;
use heddle_units::{Bytes, Rate, Time};

use crate::source::{Files, LibraryError};
use crate::{External, raw};

pub(super) fn scheme(raw: &raw::External, files: &dyn Files) -> Result<External, Problem> {
    let parameters = numbers(&raw.parameters)?;
    files.scheme(&raw.library, &parameters).map_err(|error| match error {
        LibraryError::Library(reason) => Problem::at("library", reason),
        LibraryError::Parameters(reason) => Problem::at("parameters", reason),
    })
}

fn numbers(raw: &BTreeMap<String, raw::Parameter>) -> Result<BTreeMap<String, u64>, Problem> {
    let one = |(name, value): (&String, &raw::Parameter)| match number(value) {
        Some(number) => Ok((name.clone(), number)),
        None => Err(not_a_number(value).inside(&format!("parameters.{name}"))),
    };
    raw.iter().map(one).collect()
}

fn number(value: &raw::Parameter) -> Option<u64> {
    match value {
        raw::Parameter::Number(number) => Some(*number),
        raw::Parameter::Flag(flag) => Some((*flag).into()),
        raw::Parameter::Quantity(text) => {
            let time = text.parse().ok().map(|time: Time| time.as_nanos());
            let bytes = || text.parse().ok().map(|bytes: Bytes| bytes.0);
            let rate = || text.parse().ok().map(|rate: Rate| rate.0);
            time.or_else(bytes).or_else(rate)
        }
    }
}

fn not_a_number(value: &raw::Parameter) -> Problem {
    let text = match value {
        raw::Parameter::Quantity(text) => text.as_str(),
        raw::Parameter::Number(_) | raw::Parameter::Flag(_) => "",
    };
    Problem::new(format!("\"{text}\" is no quantity"))
        .help("a whole number, true or false, or a quantity: \"100us\", \"64KB\", \"10Gbps\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Option<u64> {
        number(&raw::Parameter::Quantity(text.to_owned()))
    }

    #[test]
    fn quantities_are_nanoseconds_bytes_and_bits_per_second() {
        assert_eq!(quantity("100us"), Some(100_000));
        assert_eq!(quantity("64KB"), Some(64_000));
        assert_eq!(quantity("10Gbps"), Some(10_000_000_000));
        assert_eq!(quantity("fast"), None);
        assert_eq!(number(&raw::Parameter::Flag(true)), Some(1));
    }
}
