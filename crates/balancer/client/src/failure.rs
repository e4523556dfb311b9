//! Reports of the balancer's own errors.

use heddle_program::Report;
use heddled::config::ConfigError;

/// The report of a wrong configuration; `None` for other errors.
pub(crate) fn describe(error: &anyhow::Error) -> Option<Report> {
    let error: &ConfigError = error.downcast_ref()?;
    let ConfigError { file, line, problem } = error;
    let message = (&*problem.message, problem.help.as_deref());
    Some(Report::input("config", error, (file, *line), &problem.key.join("."), message))
}
