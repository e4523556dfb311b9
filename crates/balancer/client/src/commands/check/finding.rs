//! Findings of a check: what cannot work, and what should be otherwise.

use std::fmt;

use serde_json::{Value, json};

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// It cannot work like this.
    Error,
    /// It works, worse than it could.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A finding about an interface, the kernel or a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// The interface, the service, or `kernel`.
    pub(crate) subject: String,
    pub(crate) message: String,
    /// The command, or the line of the configuration, that changes it; none: nothing to do.
    pub(crate) fix: Option<String>,
}

impl Finding {
    pub(crate) fn error(subject: &str, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Error, subject, message.into())
    }

    pub(crate) fn warning(subject: &str, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Warning, subject, message.into())
    }

    pub(crate) fn note(subject: &str, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Note, subject, message.into())
    }

    fn new(severity: Severity, subject: &str, message: String) -> Finding {
        Finding { severity, subject: subject.into(), message, fix: None }
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Finding {
        Finding { fix: Some(fix.into()), ..self }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "severity": self.severity.name(), "subject": self.subject,
            "message": self.message, "fix": self.fix,
        })
    }
}

/// `warning: eth0: ...`, and a line with the fix.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity.name(), self.subject, self.message)?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(f, "\n  fix: {fix}"))
    }
}
