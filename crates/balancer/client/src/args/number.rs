//! Numbers of the command line.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A parser of whole numbers from the first to the last.
pub(super) fn number<T>(
    bounds: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: Clone + Display + FromStr + PartialOrd + Send + Sync,
{
    move |text| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| format!("a whole number from {} to {}", bounds.start(), bounds.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_told_with_the_bounds() {
        let weight = number(0..=1000_u32);
        assert_eq!([weight("0"), weight("1000")], [Ok(0), Ok(1000)]);
        for wrong in ["abc", "1001", "-1", ""] {
            assert_eq!(weight(wrong), Err("a whole number from 0 to 1000".into()), "{wrong}");
        }
    }
}
