//! The ports of a service.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The ports of a service: one, several in a row, or all that no other service of its address has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// This one.
    One(u16),
    /// From the first to the last, both included.
    Range {
        /// The first.
        first: u16,
        /// The last; greater than the first.
        last: u16,
    },
    /// All that no other service of the same address and protocol has.
    All,
}

impl Ports {
    /// The port that stands for all of them, in hashes and in the service's identity; 0: all ports.
    pub fn first(self) -> u16 {
        match self {
            Ports::One(port) => port,
            Ports::Range { first, .. } => first,
            Ports::All => 0,
        }
    }

    /// Each of them; of [`Ports::All`] those of other services, too.
    pub fn each(self) -> RangeInclusive<u16> {
        match self {
            Ports::One(port) => port..=port,
            Ports::Range { first, last } => first..=last,
            Ports::All => 1..=u16::MAX,
        }
    }

    /// True if a port is one of them.
    pub fn have(self, port: u16) -> bool {
        self.each().contains(&port)
    }

    /// True if there may be more than one.
    pub fn are_several(self) -> bool {
        !matches!(self, Ports::One(_))
    }

    /// True if two services cannot have these ports of one address.
    pub fn conflict_with(self, other: Ports) -> bool {
        match (self, other) {
            (Ports::All, Ports::All) => true,
            (Ports::All, _) | (_, Ports::All) => false,
            _ => {
                let (one, other) = (self.each(), other.each());
                one.start() <= other.end() && other.start() <= one.end()
            }
        }
    }
}

/// `443`, `8000-8099` or `all`.
impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ports::One(port) => write!(f, "{port}"),
            Ports::Range { first, last } => write!(f, "{first}-{last}"),
            Ports::All => f.write_str("all"),
        }
    }
}

/// Several ports, as the configuration writes them: `8000-8099` or `all`.
impl FromStr for Ports {
    type Err = ();

    fn from_str(text: &str) -> Result<Ports, ()> {
        if text == "all" {
            return Ok(Ports::All);
        }
        let (first, last) = text.split_once('-').ok_or(())?;
        let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0).ok_or(());
        let (first, last) = (port(first)?, port(last)?);
        if first < last { Ok(Ports::Range { first, last }) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_they_are_read() {
        for text in ["all", "1-2", "8000-8099", "1-65535"] {
            assert_eq!(text.parse::<Ports>().unwrap().to_string(), text);
        }
        for text in
            ["", "80", "-", "80-", "-80", "0-80", "81-80", "80-80", "1-65536", "All", "1-2-3"]
        {
            assert_eq!(text.parse::<Ports>(), Err(()), "{text}");
        }
    }

    #[test]
    fn all_gives_way_and_ranges_must_not_overlap() {
        let range = |first, last| Ports::Range { first, last };
        for (one, other, conflict) in [
            (Ports::One(80), Ports::One(80), true),
            (Ports::One(80), Ports::One(81), false),
            (Ports::One(80), range(80, 90), true),
            (Ports::One(79), range(80, 90), false),
            (range(80, 90), range(90, 99), true),
            (range(80, 89), range(90, 99), false),
            (range(1, 65535), range(90, 99), true),
            (Ports::All, range(90, 99), false),
            (Ports::All, Ports::All, true),
        ] {
            assert_eq!(one.conflict_with(other), conflict, "{one} and {other}");
            assert_eq!(other.conflict_with(one), conflict, "{other} and {one}");
        }
    }
}
