//! The hosts' processes, as the program that runs the lab sees them.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use heddle_scenario::Transport;

use crate::EmulationError;
use crate::host::{Order, Protocol, Report};
use crate::network::Network;

/// Longest time until a process listens.
const START: Duration = Duration::from_secs(60);

/// A process in each host's namespace. Dropping it ends them.
pub(crate) struct Hosts {
    processes: Vec<Process>,
    reports: Receiver<(u32, Option<Report>)>,
}

struct Process {
    name: String,
    child: Child,
    orders: ChildStdin,
}

impl Hosts {
    /// Starts the processes and waits until all listen.
    pub(crate) fn start(network: &Network) -> Result<Hosts, EmulationError> {
        let (sender, reports) = channel();
        let mut hosts = Hosts { processes: Vec::new(), reports };
        for host in network.hosts() {
            hosts.processes.push(spawn(network, host, sender.clone())?);
        }
        let protocol = match network.scenario.transport {
            Transport::Tcp(_) => Protocol::Tcp,
            Transport::Mptcp(_) => Protocol::Mptcp,
        };
        for host in network.hosts() {
            hosts
                .order(host, &Order::Listen { address: network.addresses.first(host), protocol })?;
        }
        for _ in network.hosts() {
            match hosts.next(START)? {
                Some((_, Report::Ready)) => {}
                Some((host, report)) => return Err(hosts.failure(host, format!("said {report:?}"))),
                None => return Err(hosts.failure(0, "and others do not listen".into())),
            }
        }
        Ok(hosts)
    }

    /// Gives a host an order.
    pub(crate) fn order(&mut self, host: u32, order: &Order) -> Result<(), EmulationError> {
        let process = &mut self.processes[host as usize];
        let mut line = serde_json::to_vec(order)
            .map_err(|source| EmulationError::State { what: "an order".into(), source })?;
        line.push(b'\n');
        let written = process.orders.write_all(&line);
        written.map_err(EmulationError::system(format!("an order to {}", process.name)))
    }

    /// Gives all hosts an order.
    pub(crate) fn order_all(&mut self, order: &Order) -> Result<(), EmulationError> {
        (0..self.processes.len() as u32).try_for_each(|host| self.order(host, order))
    }

    /// The next report, with its host; `None` if there is none for that long.
    pub(crate) fn next(&self, wait: Duration) -> Result<Option<(u32, Report)>, EmulationError> {
        match self.reports.recv_timeout(wait) {
            Ok((host, Some(report))) => Ok(Some((host, report))),
            Ok((host, None)) => Err(self.failure(host, "ended".into())),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(self.failure(0, "and all others ended".into()))
            }
        }
    }

    /// The process of a host.
    pub(crate) fn id(&self, host: u32) -> u32 {
        self.processes[host as usize].child.id()
    }

    fn failure(&self, host: u32, what: String) -> EmulationError {
        EmulationError::Host { host: self.processes[host as usize].name.clone(), what }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // It may have ended by itself.
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

fn spawn(
    network: &Network,
    host: u32,
    reports: Sender<(u32, Option<Report>)>,
) -> Result<Process, EmulationError> {
    let name = network.fabric.node(host).name.clone();
    let failed = || EmulationError::system(format!("starting the process of {name}"));
    let own = env::current_exe().map_err(failed())?;
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", network.path(host).display())).arg(own).arg("host");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(failed())?;
    let (Some(orders), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("both were asked for as pipes")
    };
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(report) = serde_json::from_str(&line) else { break };
            if reports.send((host, Some(report))).is_err() {
                return;
            }
        }
        let _ = reports.send((host, None));
    });
    Ok(Process { name, child, orders })
}
