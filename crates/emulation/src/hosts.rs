//! The hosts' processes, as the program that runs the lab sees them.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use heddle_lab::Deadline;
use heddle_scenario::Transport;

use crate::EmulationError;
use crate::host::{Order, Protocol, Report};
use crate::network::Network;

/// Longest time until a process listens.
const START: Duration = Duration::from_secs(60);

/// Time between two looks at the machine's load meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// A process in each host's namespace. Dropping it ends them.
pub(crate) struct Hosts {
    processes: Vec<Process>,
    reports: Receiver<(u32, Said)>,
}

/// An event of a host's process.
enum Said {
    Report(Report),
    /// It ended, or said something else; in words.
    Other(String),
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
            Transport::Tcp(_) | Transport::Uet(_) => Protocol::Tcp,
            Transport::Mptcp(_) => Protocol::Mptcp,
        };
        for host in network.hosts() {
            hosts
                .order(host, &Order::Listen { address: network.addresses.first(host), protocol })?;
        }
        hosts.wait_until_ready(network)?;
        Ok(hosts)
    }

    /// Waits until each host's process listens.
    fn wait_until_ready(&self, network: &Network) -> Result<(), EmulationError> {
        let mut waiting: BTreeSet<u32> = network.hosts().collect();
        let mut deadline = Deadline::new(START);
        while !waiting.is_empty() {
            match self.next(LOOK)? {
                Some((host, Report::Ready)) => _ = waiting.remove(&host),
                Some((host, report)) => {
                    let what = format!("said {report:?} where {:?} was expected", Report::Ready);
                    return Err(self.failure(host, what));
                }
                None if deadline.has_passed() => {
                    let names = waiting.iter().map(|host| &*self.processes[*host as usize].name);
                    let names = names.collect::<Vec<_>>().join(", ");
                    let what = format!("the processes of {names} do not say that they listen");
                    return Err(deadline.timeout(what).into());
                }
                None => {}
            }
        }
        Ok(())
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
            Ok((host, Said::Report(report))) => Ok(Some((host, report))),
            Ok((host, Said::Other(what))) => Err(self.failure(host, what)),
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

/// Reads a line of a process's output.
fn read(line: io::Result<String>) -> Said {
    let line = match line {
        Ok(line) => line,
        Err(error) => return Said::Other(format!("cannot be read: {error}")),
    };
    match serde_json::from_str(&line) {
        Ok(report) => Said::Report(report),
        Err(error) => Said::Other(format!("said {line:?} where a report was expected: {error}")),
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
    reports: Sender<(u32, Said)>,
) -> Result<Process, EmulationError> {
    let name = network.fabric.node(host).name.clone();
    let failed = || EmulationError::system(format!("starting the process of {name}"));
    let this_program = env::current_exe().map_err(failed())?;
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", network.path(host).display())).arg(this_program).arg("host");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(failed())?;
    let (Some(orders), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("both were asked for as pipes")
    };
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let said = read(line);
            let is_last = matches!(said, Said::Other(_));
            if reports.send((host, said)).is_err() || is_last {
                return;
            }
        }
        // Nobody listens any more once the lab ends.
        let _ = reports.send((host, Said::Other("ended".into())));
    });
    Ok(Process { name, child, orders })
}
