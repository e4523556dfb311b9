//! A connection to the daemon, and help if it does not answer.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use heddle_program::Failure;
use heddled::admin::{
    AskError, BackendStatus, Client, Problem, ProblemKind, Reply, Request, Selection, Status,
};
use heddled::metrics::Snapshot;

/// Help where client and daemon do not understand each other.
const OTHER_RELEASE: &str =
    "restart heddled after an update: connections go on, and both are of one release";

/// A connection to the daemon.
pub(crate) struct Daemon {
    client: Client,
    socket: PathBuf,
}

impl Daemon {
    pub(crate) fn connect(socket: &Path) -> Result<Daemon, Failure> {
        let client = Client::connect(socket).map_err(|error| told(error, socket))?;
        Ok(Daemon { client, socket: socket.to_owned() })
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply, Failure> {
        self.client.ask(request).map_err(|error| told(error, &self.socket))
    }

    pub(crate) fn status(&mut self) -> Result<Status, Failure> {
        match self.ask(&Request::Status)? {
            Reply::Status(status) => Ok(status),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) fn backends(&mut self) -> Result<Vec<BackendStatus>, Failure> {
        self.changed(&Request::Backends(Selection::default()))
    }

    /// The backends that a request changes or lists.
    pub(crate) fn changed(&mut self, request: &Request) -> Result<Vec<BackendStatus>, Failure> {
        match self.ask(request)? {
            Reply::Backends(backends) => Ok(backends.backends),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) fn counters(&mut self) -> Result<Snapshot, Failure> {
        match self.ask(&Request::Counters)? {
            Reply::Counters(snapshot) => Ok(*snapshot),
            other => Err(unexpected(&other)),
        }
    }
}

/// The daemon has answered something else.
pub(crate) fn unexpected(reply: &Reply) -> Failure {
    Failure::from(anyhow::anyhow!("the daemon's answer is to another question: {reply:?}"))
}

fn told(error: AskError, socket: &Path) -> Failure {
    let message = error.to_string();
    match error {
        AskError::Connect { error, .. } => Failure::advised(message, no_connection(error.kind())),
        AskError::Problem(problem) => of_problem(problem),
        AskError::Answer(_) | AskError::Http(_) => Failure::advised(message, OTHER_RELEASE),
        AskError::Io(_) | AskError::Incomplete(_) => {
            Failure::from(anyhow::Error::new(error).context(socket.display().to_string()))
        }
    }
}

fn no_connection(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied => "the socket is root's alone: try it with sudo",
        ErrorKind::NotFound => {
            "is heddled running? If its configuration names another socket (admin), give it with --socket or HEDDLE_SOCKET"
        }
        _ => "heddled does not run any more; start it: heddled --config /etc/heddle/heddled.toml",
    }
}

fn of_problem(problem: Problem) -> Failure {
    match problem.kind {
        ProblemKind::NotFound => {
            Failure::usage(problem.message, "heddle lb backends lists services and backends")
        }
        ProblemKind::Invalid => {
            Failure::usage(problem.message, "heddle lb schema describes the keys of a backend")
        }
        ProblemKind::Forbidden => Failure::advised(problem.message, "try it with sudo"),
        ProblemKind::NoSuchResource
        | ProblemKind::MethodNotAllowed
        | ProblemKind::Unprocessable => Failure::advised(problem.message, OTHER_RELEASE),
        _ => problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use heddle_program::Report;

    use super::*;

    fn report(failure: &Failure) -> Report {
        failure.report(|_| None)
    }

    #[test]
    fn a_missing_daemon_has_help() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("none.sock");
        let failure = || report(&Daemon::connect(&socket).err().unwrap()).text;
        let text = failure();
        assert!(text.contains("none.sock") && text.contains("\nhelp: is heddled running?"));
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert!(failure().contains("does not run any more"), "{}", failure());
    }

    #[test]
    fn a_name_that_is_not_there_is_a_matter_of_usage() {
        let message = "no backend is called be9; did you mean be1?".to_owned();
        let failure = of_problem(Problem { kind: ProblemKind::NotFound, message });
        assert_eq!(report(&failure).code, 2);
    }
}
