//! Reports of wrong scenarios and fabric files.

use heddle_program::Report;
use heddle_scenario::ScenarioError;

/// The report of a wrong scenario or fabric file; `None` for other errors.
#[must_use]
pub fn describe(error: &anyhow::Error) -> Option<Report> {
    error.downcast_ref().map(of_scenario)
}

/// The report of a wrong scenario or fabric file.
#[must_use]
pub fn of_scenario(error: &ScenarioError) -> Report {
    let (place, message) = ((error.file(), error.line()), (error.message(), error.help()));
    Report::input("scenario", error, place, error.key(), message)
}
