//! Programs that run in the namespaces of nodes for as long as a lab does.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use heddle_lab::eventually;
use heddle_program::external::locate;
use rustix::process::{Pid, Signal, kill_process};

use crate::EmulationError;
use crate::network::Network;
use crate::state;

/// Longest time until a program runs: the verifier takes some seconds on a busy machine.
const START: Duration = Duration::from_secs(60);

/// Instances of one program. Dropping them ends them, unless they were [kept](Daemons::keep).
#[derive(Debug)]
pub(crate) struct Daemons {
    program: &'static str,
    /// The words in its log that end its start.
    runs: &'static str,
    /// The ending of their logs.
    log: &'static str,
    /// With the names of their nodes, which are those of their logs.
    children: Vec<(String, Child)>,
    is_kept: bool,
}

impl Daemons {
    /// None yet.
    pub(crate) fn new(program: &'static str, runs: &'static str) -> Daemons {
        Daemons { program, runs, log: "log", children: Vec::new(), is_kept: false }
    }

    /// The same with another ending of their logs: of nodes that run two programs.
    pub(crate) fn with_log(mut self, ending: &'static str) -> Daemons {
        self.log = ending;
        self
    }

    /// Starts one in a node's namespace.
    pub(crate) fn spawn(
        &mut self,
        network: &Network,
        node: u32,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<(), EmulationError> {
        self.spawn_in(network, &network.fabric.node(node).name, arguments)
    }

    /// Starts one in a namespace of the lab. Its log is in the lab's folder.
    pub(crate) fn spawn_in(
        &mut self,
        network: &Network,
        name: &str,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<(), EmulationError> {
        let path = log_of(network, name, self.log);
        let output =
            File::create(&path).map_err(EmulationError::system(path.display().to_string()))?;
        let namespace = heddle_lab::names::path(&network.state.namespace(name));
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", namespace.display())).arg(locate(self.program));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let what = format!("starting {} of {name}", self.program);
        let child = command.spawn().map_err(EmulationError::system(what))?;
        self.children.push((name.to_owned(), child));
        Ok(())
    }

    /// Waits until all run.
    pub(crate) fn wait_until_running(&mut self, network: &Network) -> Result<(), EmulationError> {
        let log = self.log;
        for (name, child) in &mut self.children {
            let path = log_of(network, name, log);
            let wait = Wait { program: self.program, node: name, log: &path, runs: self.runs };
            if let Some(status) = wait.until_running(child)? {
                let what = format!("({}) ended: {status}; {}", self.program, wait.logged());
                return Err(EmulationError::Host { host: name.clone(), what });
            }
        }
        Ok(())
    }

    /// Tells all to read their files again.
    pub(crate) fn reload(&self) {
        for (_, child) in &self.children {
            // One that has ended reads nothing.
            let _ = kill_process(Pid::from_child(child), Signal::HUP);
        }
    }

    /// Lets them run on when the value goes.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Ends them.
    pub(crate) fn end(&mut self) {
        for (_, child) in &mut self.children {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        self.children.clear();
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        if !self.is_kept {
            self.end();
        }
    }
}

/// A wait for a program.
struct Wait<'a> {
    program: &'static str,
    node: &'a str,
    log: &'a Path,
    runs: &'static str,
}

impl Wait<'_> {
    /// Waits until the program runs; its status if it has ended instead.
    fn until_running(&self, child: &mut Child) -> Result<Option<ExitStatus>, EmulationError> {
        let Wait { program, node, log, runs } = self;
        Ok(eventually(START, || {
            let ended =
                child.try_wait().map_err(|error| format!("{program} of {node}: {error}"))?;
            let runs_now = fs::read_to_string(log).is_ok_and(|text| text.contains(runs));
            if ended.is_some() || runs_now {
                return Ok(ended);
            }
            Err(format!("{program} of {node} has not logged {runs:?}; {}", self.logged()))
        })?)
    }

    /// The program's log, for an error.
    fn logged(&self) -> String {
        let log = self.log.display();
        match fs::read_to_string(self.log) {
            Ok(text) if text.trim().is_empty() => format!("its log {log} is empty"),
            Ok(text) => format!("its log {log}: {}", text.trim()),
            Err(error) => format!("its log {log}: {error}"),
        }
    }
}

fn log_of(network: &Network, name: &str, ending: &str) -> PathBuf {
    state::folder(&network.state.name).join(format!("{name}.{ending}"))
}
