//! Ranges of whole numbers: `"1024-65535"`, or one number alone.

use std::str::FromStr;

use heddle_config::Problem;

/// The kind of number, for messages.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Ports,
    Ttls,
}

/// Lowest and highest number, both included.
pub(super) fn range<T: FromStr + Copy + PartialOrd>(
    text: &str,
    kind: Kind,
) -> Result<(T, T), Problem> {
    let (name, example) = match kind {
        Kind::Ports => ("ports", "1024-65535"),
        Kind::Ttls => ("TTLs", "64-95"),
    };
    let unclear = || {
        Problem::new(format!("\"{text}\" is not a range of {name}"))
            .help(format!("lowest and highest, as in \"{example}\""))
    };
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<T>().map_err(|_| unclear());
    let (low, high) = (number(low)?, number(high)?);
    if high < low { Err(unclear()) } else { Ok((low, high)) }
}
