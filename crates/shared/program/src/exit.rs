//! The end of a program.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::failure::{Failure, Report};
use crate::{Common, output};

/// Reports a failure, if there is one, and returns the program's exit code.
pub fn exit(
    result: Result<ExitCode, Failure>,
    common: &Common,
    own: impl Fn(&anyhow::Error) -> Option<Report>,
) -> ExitCode {
    let failure = match result {
        Ok(code) => return code,
        Err(failure) => failure,
    };
    let Report { code, text, json } = failure.report(own);
    if common.json {
        let _ = output::json(&json);
    }
    // A failure to write it, to a full disk for example, must not hide the exit code.
    let _ = writeln!(io::stderr(), "{}", output::printable(&text));
    ExitCode::from(code)
}
