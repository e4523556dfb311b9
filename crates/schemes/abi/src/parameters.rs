//! A scheme's parameters, as it reads them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Parameters of a scenario. A scheme takes those that it has; what is left is refused by name.
#[derive(Debug, Default)]
pub struct Parameters {
    given: BTreeMap<String, u64>,
    known: Vec<&'static str>,
}

impl Parameters {
    /// Parameters by name.
    pub fn new(given: BTreeMap<String, u64>) -> Parameters {
        Parameters { given, known: Vec::new() }
    }

    /// The value of a parameter: nanoseconds, bytes or bits per second if the scenario has a
    /// quantity, 0 or 1 if it has false or true.
    pub fn take(&mut self, name: &'static str, default: u64) -> u64 {
        self.known.push(name);
        self.given.remove(name).unwrap_or(default)
    }

    /// Refuses what was not taken.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let known = if self.known.is_empty() {
            String::from("it has none")
        } else {
            format!("it has {}", self.known.join(", "))
        };
        Err(format!("no parameter is called `{name}`: {known}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str) -> Parameters {
        Parameters::new([(String::from(name), 7)].into())
    }

    #[test]
    fn a_parameter_is_taken_or_has_its_default() {
        let mut parameters = given("gap");
        assert_eq!((parameters.take("gap", 1), parameters.take("slots", 2)), (7, 2));
        assert_eq!(parameters.finish(), Ok(()));
    }

    #[test]
    fn what_is_not_taken_is_refused_by_name() {
        let mut parameters = given("gpa");
        parameters.take("gap", 1);
        parameters.take("slots", 1);
        let refused = parameters.finish().unwrap_err();
        assert_eq!(refused, "no parameter is called `gpa`: it has gap, slots");
        assert_eq!(given("x").finish().unwrap_err(), "no parameter is called `x`: it has none");
    }
}
