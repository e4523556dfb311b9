//! Reports of the balancer's own errors.

use heddle_program::Report;
use heddled::config::ConfigError;

/// The report of a wrong configuration; `None` for other errors.
pub(crate) fn describe(error: &anyhow::Error) -> Option<Report> {
    let error: &ConfigError = error.downcast_ref()?;
    let (place, fault) = ((error.file(), error.line()), (error.message(), error.help()));
    Some(Report::input("config", error, place, error.key(), fault))
}
