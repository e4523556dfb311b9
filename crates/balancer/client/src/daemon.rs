//! A connection to the daemon, and help if it does not answer.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use heddle_program::Failure;
use heddled::admin::{
    AskError, BackendStatus, Client, Problem, ProblemKind, Reply, Request, Selection, Status,
};
use heddled::metrics::Snapshot;

/// Help where client and daemon do not understand each other.
const OTHER_RELEASE: &str =
    "restart heddled after an update: connections go on, and both are of one release";

/// Help where the daemon has taken a question and does not answer it.
const NO_ANSWER: &str = "is it stopped, or busy? systemctl status heddled, journalctl -u heddled; packets go on without it";

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

    /// Has the daemon read its configuration again, and returns the changes in words.
    pub(crate) fn reload(&mut self) -> Result<Vec<String>, Failure> {
        match self.client.ask(&Request::Reload) {
            Ok(Reply::Reloaded(reloaded)) => Ok(reloaded.changes),
            Ok(other) => Err(unexpected(&other)),
            Err(AskError::Problem(problem)) if problem.kind == ProblemKind::Refused => {
                Err(reload_refused(&problem.message))
            }
            Err(error) => Err(told(error, &self.socket)),
        }
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
        AskError::Connect { .. } if is_other(socket) => Failure::advised(
            format!("{} is not a socket", socket.display()),
            "give heddled's with --socket or HEDDLE_SOCKET: `admin` in its configuration",
        ),
        AskError::Connect { error, .. } => Failure::advised(message, no_connection(error.kind())),
        AskError::Problem(problem) => of_problem(problem),
        AskError::Answer(_) | AskError::Http(_) => Failure::advised(message, OTHER_RELEASE),
        AskError::Io(_) | AskError::Incomplete(_) => {
            Failure::advised(format!("{}: {message}", socket.display()), NO_ANSWER)
        }
    }
}

/// True of what is there and no socket.
fn is_other(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.file_type().is_socket())
}

/// The refusal of a reload, which names the first mistake of a file.
fn reload_refused(message: &str) -> Failure {
    let (message, help) = message.split_once("\nhelp: ").unwrap_or((message, ""));
    let mut place = message.splitn(3, ':');
    let file = match (place.next(), place.next().map(str::parse::<usize>)) {
        (Some(file), Some(Ok(_))) => file,
        _ => "FILE",
    };
    let all = format!("heddle lb check {file} tells all mistakes of the file");
    Failure::advised(message, if help.is_empty() { all } else { format!("{help}; {all}") })
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
    fn what_is_no_socket_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heddled.toml");
        fs::write(&file, "").unwrap();
        for path in [folder.path(), &file] {
            let text = report(&Daemon::connect(path).err().unwrap()).text;
            assert!(text.contains("is not a socket\nhelp: give heddled's with --socket"), "{text}");
        }
    }

    #[test]
    fn a_daemon_that_does_not_answer_has_help() {
        let error = AskError::Io(ErrorKind::TimedOut.into());
        let text = report(&told(error, Path::new("a.sock"))).text;
        let wanted = "error: a.sock: the daemon does not answer: timed out\nhelp: is it stopped";
        assert!(text.starts_with(wanted), "{text}");
    }

    #[test]
    fn a_refused_reload_names_the_command_that_tells_all() {
        let text = |message| report(&reload_refused(message)).text;
        assert_eq!(
            text(
                "lb.toml:8: service.0.prot: this key is not known here\nhelp: did you mean `port`?"
            ),
            "error: lb.toml:8: service.0.prot: this key is not known here\nhelp: did you mean `port`?; heddle lb check lb.toml tells all mistakes of the file"
        );
        assert!(
            text("no room")
                .ends_with("\nhelp: heddle lb check FILE tells all mistakes of the file")
        );
    }

    #[test]
    fn a_name_that_is_not_there_is_a_matter_of_usage() {
        let message = "no backend is called be9; did you mean be1?".to_owned();
        let failure = of_problem(Problem { kind: ProblemKind::NotFound, message });
        assert_eq!(report(&failure).code, 2);
    }
}
