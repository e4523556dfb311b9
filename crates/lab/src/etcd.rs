//! etcd on a lab's router, which all balancers reach.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::{Lab, LabError, eventually, tools};

/// Limit on the time until it answers.
const LIMIT: Duration = Duration::from_secs(60);
const CLIENT_PORT: u16 = 2379;
const PEER_PORT: u16 = 2380;

/// An etcd of one node. Dropping it ends it.
#[derive(Debug)]
pub struct Etcd<'a> {
    lab: &'a Lab,
    process: Option<Child>,
    data: TempDir,
}

impl<'a> Etcd<'a> {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// If it is not installed, or does not answer.
    pub fn start(lab: &'a Lab) -> Result<Etcd<'a>, LabError> {
        tools::require(&[("etcd", "etcd-server")])?;
        let data = TempDir::new().map_err(LabError::system("a folder for etcd"))?;
        let mut etcd = Etcd { lab, process: None, data };
        etcd.restart()?;
        Ok(etcd)
    }

    /// The URL for its clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Kills it; its data stay.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it again with the data that it had, and waits until it answers.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn restart(&mut self) -> Result<(), LabError> {
        self.kill();
        let peer = format!("http://{}:{PEER_PORT}", self.lab.router().v4());
        let mut command = self.lab.router().command("etcd");
        command.arg("--data-dir").arg(self.data.path().join("data"));
        command.args(["--listen-client-urls", &self.url()]);
        command.args(["--advertise-client-urls", &self.url()]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("default={peer}")]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let log = File::options().create(true).append(true).open(self.log_file());
        command.stderr(log.map_err(LabError::system("the log of etcd"))?);
        self.process = Some(command.spawn().map_err(LabError::system("starting etcd"))?);
        eventually(LIMIT, || self.health())
    }

    fn log_file(&self) -> PathBuf {
        self.data.path().join("log")
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::new(self.lab.router().v4().into(), CLIENT_PORT)
    }

    /// Asks it for its health.
    fn health(&self) -> Result<(), String> {
        let answer = http_get(self.lab.router(), self.address(), "/health");
        match answer {
            Ok(answer) if answer.contains("\"true\"") => Ok(()),
            Ok(answer) => Err(self.failure(&format!("{answer:?} instead of \"true\""))),
            Err(error) => Err(self.failure(&error.to_string())),
        }
    }
}

impl Etcd<'_> {
    /// Its health, with the last line of its log.
    fn failure(&self, health: &str) -> String {
        let log = fs::read_to_string(self.log_file());
        let log = log.unwrap_or_else(|error| error.to_string());
        let last = log.lines().next_back().unwrap_or("empty");
        format!("etcd on the router, /health: {health}; its log: {last}")
    }
}

impl Drop for Etcd<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The whole answer to a GET from a host.
///
/// # Errors
/// If nobody answers.
pub(crate) fn http_get(
    from: &crate::Node,
    address: SocketAddr,
    path: &str,
) -> Result<String, LabError> {
    let get = || {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_read_timeout(Some(LIMIT))?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    from.enter(get)?.map_err(LabError::system(format!("http://{address}{path}")))
}
