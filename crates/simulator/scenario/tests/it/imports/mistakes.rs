//! Mistakes in imported files by the thousand: none ends the program, and whatever is refused has
//! its file, a line or a node, and a fix.

use heddle_scenario::{ImportSettings, Imported, InputFile, ScenarioError, import};

use super::{msccl::ring, plan, resolved, table, trace::two_ranks};
use crate::bad_inputs::corpus::{mistakes, says_fix};

/// Collects what is refused poorly.
#[derive(Default)]
struct Refused {
    count: usize,
    poor: Vec<String>,
}

impl Refused {
    fn note(&mut self, result: Result<Imported, ScenarioError>) {
        let error = match result {
            // What is taken can be simulated.
            Ok(imported) => return drop(resolved(&table(imported).0)),
            Err(error) => error,
        };
        self.count += 1;
        let has_place = error.line().is_some() || !error.key().is_empty();
        if error.file().is_empty() || !has_place || !says_fix(&error) {
            self.poor.push(error.to_string());
        }
    }

    fn assert_more_than(self, least: usize) {
        assert!(self.count > least, "{} mistakes", self.count);
        assert!(self.poor.is_empty(), "{}", self.poor.join("\n"));
    }
}

#[test]
fn mistakes_in_plans_say_where_and_how_to_mend_them() {
    let mut refused = Refused::default();
    mistakes(&ring(2)).iter().for_each(|text| refused.note(plan(text, 8000)));
    refused.assert_more_than(100);
}

/// Each byte of a trace is left out, inverted, or one more; and all behind it is missing.
#[test]
fn mistakes_in_traces_say_where_and_how_to_mend_them() {
    let mut refused = Refused::default();
    let files = two_ranks();
    for place in 0..files[0].bytes.len() {
        for change in 0..4 {
            let mut bytes = files[0].bytes.clone();
            match change {
                0 => drop(bytes.remove(place)),
                1 => bytes[place] = !bytes[place],
                2 => bytes[place] = bytes[place].wrapping_add(1),
                _ => bytes.truncate(place),
            }
            let spoiled = [InputFile { name: files[0].name.clone(), bytes }, files[1].clone()];
            refused.note(import(&spoiled, &ImportSettings::default()));
        }
    }
    refused.assert_more_than(300);
}
