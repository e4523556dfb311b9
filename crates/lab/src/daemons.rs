//! `heddled` on the balancers of a lab.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
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

    /// A daemon's log so far.
    pub fn log(&self, index: usize) -> String {
        fs::read_to_string(self.log_file(index)).unwrap_or_default()
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
        eventually(HEALTHY_LIMIT, || match self.get(index, "/healthz") {
            Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => Ok(()),
            Ok(answer) => Err(format!("balancer-{index}: {answer}")),
            Err(error) => Err(error.to_string()),
        })
    }

    /// The names of the balancers that a daemon counts as members.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn members(&self, index: usize) -> Result<BTreeSet<String>, LabError> {
        let answer = ask(&self.socket(index), "/v1/members");
        let answer = answer.map_err(LabError::system(format!("members of balancer-{index}")))?;
        let members = answer["members"].as_array().into_iter().flatten();
        let alive = members.filter(|member| member["alive"] == true);
        Ok(alive.filter_map(|member| Some(member["name"].as_str()?.to_string())).collect())
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
        http_get(node, (node.v4(), METRICS_PORT).into(), path)
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

    /// Writes a daemon's secret, which it reads at its start and at a [`Daemons::reload`]. All have the same unless this is called.
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
        let socket = self.socket(index);
        let daemon = self.running[index].as_mut();
        let ended = daemon.map_or(Ok(None), |daemon| ready_or_ended(daemon, &socket));
        let status = match ended {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => status.to_string(),
            Err(timeout) => timeout.to_string(),
        };
        let line = format!("heddled on balancer-{index}");
        Err(LabError::Failed { line, status, output: self.log(index) })
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

/// Waits until a daemon answers. Returns its exit status if it ends before.
fn ready_or_ended(daemon: &mut Child, socket: &Path) -> Result<Option<ExitStatus>, LabError> {
    eventually(START_LIMIT, || match daemon.try_wait() {
        Ok(Some(status)) => Ok(Some(status)),
        _ if is_ready(socket) => Ok(None),
        _ => Err("no answer on its admin socket".into()),
    })
}

/// Returns true if a daemon answers a request for its status, and is ready.
fn is_ready(socket: &Path) -> bool {
    ask(socket, "/v1/status").is_ok_and(|answer| answer["ready"] == true)
}

/// The body of a daemon's answer to a GET on its admin socket.
fn ask(socket: &Path, path: &str) -> io::Result<Value> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(START_LIMIT))?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(serde_json::from_str(body)?)
}

/// Sends a signal to a daemon. `nsenter` replaces itself with the program, so its process is the daemon's.
fn signal(process: u32, name: &str) -> io::Result<()> {
    Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status().map(drop)
}
