//! Options that all programs have.

use std::ffi::OsString;

use clap::Args;

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// Print results as JSON on standard output; messages go to standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress bars and no notes.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Runs at a time [default: one a core].
    #[arg(long, short, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl Common {
    /// The options as arguments for another program.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let flags = [(self.json, "--json"), (self.quiet, "--quiet")];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned());
        let jobs = self.jobs.map(|jobs| format!("--jobs={jobs}"));
        flags.chain(jobs).map(OsString::from).collect()
    }
}

/// Parses `KEY=VALUE`; the first `=` divides.
///
/// # Errors
/// Without a `=`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, as in workload.load=0.6")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments() {
        assert_eq!(Common::default().arguments(), [""; 0]);
        let common = Common { json: true, quiet: true, jobs: Some(2) };
        assert_eq!(common.arguments(), ["--json", "--quiet", "--jobs=2"]);
    }

    /// The first `=` divides: values may have more of them.
    #[test]
    fn keys_and_values() {
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(key_value("workload.load = 0.6"), pair("workload.load", "0.6"));
        assert_eq!(key_value("scheme={ kind = \"hula\" }"), pair("scheme", "{ kind = \"hula\" }"));
        assert_eq!(key_value("title="), pair("title", ""));
        assert!(key_value("workload.load").unwrap_err().contains("workload.load=0.6"));
    }
}
