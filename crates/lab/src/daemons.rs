//! `heddled` on the balancers of a lab.

use std::any::type_name;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use heddle_balancer_api::{Connections, Members, Status};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::etcd::http_get;
use crate::{Lab, LabError, eventually, names};

/// Limit on the time from a daemon's start to its first answer.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Limit on the time from a daemon's first answer until it is healthy.
const HEALTHY_LIMIT: Duration = Duration::from_secs(60);
/// Port of each daemon's metrics.
const METRICS_PORT: u16 = 9100;
/// The secret that all daemons share.
const SECRET: &str = "no secret at all: this is a lab, whose traffic nobody else can see";
/// Lines of a daemon's log that the error of a wait has.
const LOG_LINES: usize = 10;
/// Limit on the time that a daemon may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// Configuration of the balancers. The services are `web4` and `web6`: the lab's VIPs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program.
    pub program: PathBuf,
    /// `mptcp` of both services.
    pub mptcp: &'static str,
    /// `forwarding` of both services.
    pub forwarding: &'static str,
    /// Their port.
    pub port: u16,
    /// URL of the etcd that holds the list of balancers; none: a static list.
    pub etcd: Option<String>,
    /// Further lines of the configuration, from the top level: tables and their keys.
    pub extra_config: String,
}

/// One daemon on each balancer of a lab. Dropping it removes them with their programs and maps.
#[derive(Debug)]
pub struct Daemons<'a> {
    lab: &'a Lab,
    setup: Setup,
    directory: TempDir,
    pins: PathBuf,
    running: Vec<Option<Child>>,
}

impl<'a> Daemons<'a> {
    /// Starts all, and waits until they answer.
    ///
    /// # Errors
    /// If one does not; the message has its log.
    pub fn start(lab: &'a Lab, setup: Setup) -> Result<Daemons<'a>, LabError> {
        let name = names::unique()?;
        let directory = TempDir::with_prefix(format!("{name}-"))
            .map_err(LabError::system("a temporary folder"))?;
        let pins = Path::new(names::PINS).join(name);
        let running = lab.balancers().iter().map(|_| None).collect();
        let mut daemons = Daemons { lab, setup, directory, pins, running };
        for index in 0..lab.balancers().len() {
            daemons.write_secret(index, SECRET)?;
        }
        for index in 0..lab.balancers().len() {
            daemons.write_config(index, &daemons.config(index))?;
            daemons.spawn(index)?;
        }
        for index in 0..lab.balancers().len() {
            daemons.wait_until_ready(index)?;
        }
        Ok(daemons)
    }

    /// A daemon's configuration, as it was first written.
    pub fn config(&self, index: usize) -> String {
        let path = |name: &str| self.directory.path().join(format!("{name}-{index}"));
        let mut text = String::new();
        let _ = write!(
            text,
            "[balancer]\nname = \"balancer-{index}\"\ninterfaces = [\"eth0\"]\naddresses = [\"{}\", \"{}\"]\nadmin = \"{}\"\nmetrics = \"{}:{METRICS_PORT}\"\npin = \"{}\"\nstate_dir = \"{}\"\n\
             [tables]\nflows = 65536\ntokens = 65536\n[steering]\nsecret_file = \"{}\"\n",
            self.lab.balancer(index).v4(),
            self.lab.balancer(index).v6(),
            path("admin").display(),
            self.lab.balancer(index).v4(),
            self.pins.join(index.to_string()).display(),
            path("state").display(),
            path("secret").display(),
        );
        if let Some(url) = &self.setup.etcd {
            let _ = write!(
                text,
                "[membership.etcd]\nendpoints = [\"{url}\"]\nprefix = \"/lab\"\nlease = \"2s\"\n"
            );
        }
        let listed = if self.setup.etcd.is_some() { &[] } else { self.lab.balancers() };
        for (other, node) in listed.iter().enumerate() {
            let _ = write!(
                text,
                "[[balancers]]\nname = \"balancer-{other}\"\naddress = \"{}\"\n",
                node.v4()
            );
        }
        let backends: Vec<usize> = (0..self.lab.backends().len()).collect();
        text + &self.setup.extra_config + &self.services(&backends)
    }

    /// The part of the configuration about the services, with these backends of the lab.
    pub fn services(&self, backends: &[usize]) -> String {
        let mut text = String::new();
        let Setup { mptcp, forwarding, port, .. } = &self.setup;
        for (name, vip) in ["web4", "web6"].into_iter().zip(self.lab.vips()) {
            let translated = if *mptcp == "assign" { "translated = true\n" } else { "" };
            let _ = write!(
                text,
                "[[service]]\nname = \"{name}\"\naddress = \"{vip}\"\nport = {port}\nmptcp = \"{mptcp}\"\n\
                 forwarding = \"{forwarding}\"\n{translated}health = {{ kind = \"tcp\", interval = \"500ms\", timeout = \"500ms\", rise = 1, fall = 2 }}\n"
            );
            for &backend in backends {
                let address = self.lab.backend(backend).address_like(vip);
                let _ = write!(
                    text,
                    "[[service.backend]]\nname = \"backend-{backend}\"\naddress = \"{address}\"\n"
                );
                if *mptcp == "c-flag" {
                    let _ = writeln!(text, "join_address = \"{}\"", join_address(backend, vip));
                }
            }
        }
        text
    }

    /// Writes a daemon's configuration, which it reads at its start and at a [`Daemons::reload`].
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_config(&self, index: usize, text: &str) -> Result<(), LabError> {
        fs::write(self.config_file(index), text)
            .map_err(LabError::system("writing a configuration"))
    }

    /// A daemon's configuration file.
    pub fn config_file(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("config-{index}"))
    }

    /// A daemon's admin socket.
    pub fn socket(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("admin-{index}"))
    }

    /// A daemon's log so far, or the reason why it cannot be read.
    pub fn log(&self, index: usize) -> String {
        let file = self.log_file(index);
        fs::read_to_string(&file).unwrap_or_else(|error| format!("{}: {error}", file.display()))
    }

    /// The process id of a daemon, if it runs.
    pub fn process(&self, index: usize) -> Option<u32> {
        self.running[index].as_ref().map(Child::id)
    }

    /// Starts a daemon that was stopped, and waits until it answers.
    ///
    /// # Errors
    /// If it does not.
    pub fn restart(&mut self, index: usize) -> Result<(), LabError> {
        self.spawn(index)?;
        self.wait_until_ready(index)
    }

    /// Stops a daemon (SIGTERM). Its program stays attached.
    pub fn stop(&mut self, index: usize) {
        let Some(mut daemon) = self.running[index].take() else { return };
        let _ = signal(daemon.id(), "TERM");
        let _ = eventually(STOP_LIMIT, || match daemon.try_wait() {
            Ok(None) => Err("it still runs".into()),
            Ok(Some(_)) | Err(_) => Ok(()),
        });
        let _ = daemon.kill();
        let _ = daemon.wait();
    }

    /// Kills a daemon (SIGKILL). Its program stays attached.
    pub fn kill(&mut self, index: usize) {
        if let Some(mut daemon) = self.running[index].take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// Halts a daemon (SIGSTOP): it runs no more and answers nothing. Its program goes on.
    pub fn pause(&self, index: usize) {
        if let Some(process) = self.process(index) {
            let _ = signal(process, "STOP");
        }
    }

    /// Lets a halted daemon go on (SIGCONT).
    pub fn resume(&self, index: usize) {
        if let Some(process) = self.process(index) {
            let _ = signal(process, "CONT");
        }
    }

    /// Waits until a daemon's `/healthz` answers 200: it can be given packets.
    ///
    /// # Errors
    /// If it does not, with its last answer.
    pub fn wait_until_healthy(&self, index: usize) -> Result<(), LabError> {
        let failure = |text| {
            format!("heddled on balancer-{index}, /healthz: {text}\n{}", self.log_end(index))
        };
        eventually(HEALTHY_LIMIT, || match self.get(index, "/healthz") {
            Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => Ok(()),
            Ok(answer) => Err(failure(format!("{answer:?} instead of 200"))),
            Err(error) => Err(failure(error.to_string())),
        })
    }

    /// The names of the balancers that a daemon counts as members.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn members(&self, index: usize) -> Result<BTreeSet<String>, LabError> {
        let Members { members } = self.ask(index, "/v1/members")?;
        Ok(members.into_iter().filter(|member| member.alive).map(|member| member.name).collect())
    }

    /// The flow table of a daemon's program, at most so many entries of it.
    ///
    /// # Errors
    /// If it does not answer, or with something else.
    pub fn connections(&self, index: usize, limit: usize) -> Result<Connections, LabError> {
        self.ask(index, &format!("/v1/connections?limit={limit}"))
    }

    /// A daemon's metrics, as text.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn metrics(&self, index: usize) -> Result<String, LabError> {
        self.get(index, "/metrics")
    }

    /// The answer to a request from a daemon's own host, which no failed link keeps from it.
    fn get(&self, index: usize, path: &str) -> Result<String, LabError> {
        let node = self.lab.balancer(index);
        http_get(node, self.metrics_address(index), path)
    }

    /// The address of a daemon's metrics.
    pub fn metrics_address(&self, index: usize) -> SocketAddr {
        (self.lab.balancer(index).v4(), METRICS_PORT).into()
    }

    /// Detaches a balancer's program and removes its maps, as a reboot does.
    pub fn remove_program(&self, index: usize) {
        let _ = fs::remove_dir_all(self.pins.join(index.to_string()));
    }

    /// Detaches a balancer's program, whose maps stay: a running daemon attaches it again.
    ///
    /// # Errors
    /// If its pins cannot be found.
    pub fn detach_program(&self, index: usize) -> Result<(), LabError> {
        let detach = || -> io::Result<()> {
            for pin in fs::read_dir(self.pins.join(index.to_string()))? {
                let path = pin?.path();
                if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("link-"))
                {
                    fs::remove_file(path)?;
                }
            }
            Ok(())
        };
        detach().map_err(LabError::system("the pins of a program"))
    }

    /// Makes a daemon read its configuration again (SIGHUP).
    pub fn reload(&self, index: usize) {
        if let Some(process) = self.process(index) {
            let _ = signal(process, "HUP");
        }
    }

    fn log_file(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("log-{index}"))
    }

    /// Writes a daemon's secret, which it reads at its start and at a [`Daemons::reload`]. All have
    /// the same unless this is called.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_secret(&self, index: usize, secret: &str) -> Result<(), LabError> {
        let path = self.directory.path().join(format!("secret-{index}"));
        let write = || {
            fs::write(&path, format!("{secret}\n"))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
        };
        write().map_err(LabError::system("writing a secret"))
    }

    /// The file of a balancer's secret.
    #[must_use]
    pub fn secret_file(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("secret-{index}"))
    }

    fn spawn(&mut self, index: usize) -> Result<(), LabError> {
        let log = fs::File::options().create(true).append(true).open(self.log_file(index));
        let log = log.map_err(LabError::system("a daemon's log"))?;
        let mut command = self.lab.balancer(index).command(&self.setup.program);
        command.arg("--config").arg(self.config_file(index));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let daemon = command.spawn().map_err(LabError::system("starting a daemon"))?;
        self.running[index] = Some(daemon);
        Ok(())
    }

    fn wait_until_ready(&mut self, index: usize) -> Result<(), LabError> {
        let Some(mut daemon) = self.running[index].take() else { return Ok(()) };
        let ended = eventually(START_LIMIT, || match daemon.try_wait() {
            Ok(Some(status)) => Ok(Some(status)),
            Ok(None) => self.is_ready(index).map(|()| None),
            Err(error) => Err(error.to_string()),
        });
        self.running[index] = Some(daemon);
        let status = match ended {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => status.to_string(),
            Err(timeout) => timeout.to_string(),
        };
        let line = format!("heddled on balancer-{index}");
        Err(LabError::Failed { line, status, output: self.log(index) })
    }

    /// Checks that a daemon answers a request for its status, and is ready.
    fn is_ready(&self, index: usize) -> Result<(), String> {
        match self.ask::<Status>(index, "/v1/status") {
            Ok(status) if status.ready => Ok(()),
            Ok(status) => Err(format!("it is not ready yet: {:?}", status.warnings)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The end of a daemon's log, for the error of a wait.
    fn log_end(&self, index: usize) -> String {
        let log = self.log(index);
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
        format!("the end of its log: {}", if end.is_empty() { "it is empty" } else { &end })
    }

    /// A daemon's answer to a GET on its admin socket.
    fn ask<T: DeserializeOwned>(&self, index: usize, path: &str) -> Result<T, LabError> {
        let request = format!("heddled on balancer-{index}, GET {path}");
        let answer = get(&self.socket(index), path).map_err(LabError::system(&*request))?;
        read(&answer).map_err(|expected| LabError::unreadable(request, expected, answer))
    }
}

impl Drop for Daemons<'_> {
    fn drop(&mut self) {
        for daemon in self.running.iter_mut().flatten() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = fs::remove_dir_all(&self.pins);
    }
}

/// A backend's own address for joins (`mptcp = "c-flag"`), in the VIPs' networks.
#[must_use]
pub fn join_address(backend: usize, like: IpAddr) -> IpAddr {
    let last = 101 + backend as u8;
    match like {
        IpAddr::V4(_) => [192, 0, 2, last].into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()).into(),
    }
}

/// The whole answer to a GET on a daemon's admin socket.
fn get(socket: &Path, path: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(START_LIMIT))?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The body of an answer; what it should have been where it is not.
fn read<T: DeserializeOwned>(answer: &str) -> Result<T, String> {
    let head_and_body = answer.split_once("\r\n\r\n");
    let ok = head_and_body.filter(|(head, _)| head.starts_with("HTTP/1.1 200 "));
    let (_, body) = ok.ok_or("an HTTP answer of status 200")?;
    serde_json::from_str(body).map_err(|error| {
        let name = type_name::<T>().rsplit("::").next().unwrap_or("JSON");
        format!("{name} of heddled's admin API ({error})")
    })
}

/// Sends a signal to a daemon. `nsenter` replaces itself with the program, so its process is the
/// daemon's.
fn signal(process: u32, name: &str) -> io::Result<()> {
    Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_by_the_types_of_the_daemon() {
        let flow = r#"{ "client": "10.1.0.2:4000", "service": "web4", "backend": "backend-1", "token": null, "state": "established", "idle": 0.25 }"#;
        let body = format!(r#"{{ "matching": 1, "flows": [{flow}] }}"#);
        let answer = |status, body: &str| format!("HTTP/1.1 {status}\r\na: b\r\n\r\n{body}");
        let found: Connections = read(&answer("200 OK", &body)).unwrap();
        assert_eq!(found.flows[0].idle, Duration::from_millis(250));
        let changed = read::<Connections>(&answer("200 OK", &body.replace("0.25", "\"250ms\"")));
        assert!(changed.unwrap_err().starts_with("Connections of heddled's admin API (invalid"));
        let refused = read::<Connections>(&answer("400 Bad Request", &body));
        assert_eq!(refused.unwrap_err(), "an HTTP answer of status 200");
    }
}
