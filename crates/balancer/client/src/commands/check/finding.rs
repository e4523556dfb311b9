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
    /// The interface, the service, the key, or `kernel`.
    pub(crate) subject: String,
    /// The key of the configuration that it is about.
    pub(crate) key: Option<String>,
    /// The file, and the key's line in it.
    pub(crate) place: Option<(String, usize)>,
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
        Finding { severity, subject: subject.into(), key: None, place: None, message, fix: None }
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Finding {
        Finding { fix: Some(fix.into()), ..self }
    }

    /// About the value of a key.
    pub(crate) fn at(self, key: impl Into<String>) -> Finding {
        Finding { key: Some(key.into()), ..self }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "severity": self.severity.name(), "subject": self.subject, "key": self.key,
            "line": self.place.as_ref().map(|(_, line)| line),
            "message": self.message, "fix": self.fix,
        })
    }
}

/// `warning: eth0: ...`, with the place in the file if it is about one, and a line with the fix.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.severity.name())?;
        self.place.iter().try_for_each(|(file, line)| write!(f, "{file}:{line}: "))?;
        write!(f, "{}: {}", self.subject, self.message)?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(f, "\n  fix: {fix}"))
    }
}
