//! The process of one host: it sends and receives flows over the kernel's sockets, and reports when
//! each has arrived.
//!
//! Orders come as lines of JSON on standard input, reports go to standard output. A flow on a
//! connection is its number and its size, 8 bytes each in network order, and the payload; the
//! receiver checks every byte and answers the last with one byte.

mod payload;
mod receive;
mod send;
mod sockets;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use self::payload::Pattern;
use self::send::Sender;
use crate::clock;

/// Port on which hosts listen.
pub const PORT: u16 = 7000;

/// The size of a flow that never ends, on a connection.
const UNBOUNDED: u64 = u64::MAX;

/// The protocol of a host's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// Multipath TCP.
    Mptcp,
}

/// An order to a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Listen.
    Listen {
        /// The address.
        address: Ipv4Addr,
        /// The sockets' protocol.
        protocol: Protocol,
    },
    /// Send a flow. Flows come in the order of their starts.
    Send(Flow),
    /// Report the bytes received so far.
    Count,
    /// Report what was sent, and end.
    Stop,
}

/// A flow to send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Its number in the run.
    pub id: u64,
    /// Its start, on the monotonic clock, in nanoseconds.
    pub at: u64,
    /// The receiver.
    pub to: Ipv4Addr,
    /// Bytes; `None` of a flow without end.
    pub size: Option<u64>,
    /// The number of the persistent connection to that receiver; `None` for one of the flow's own.
    pub connection: Option<u32>,
}

/// A report of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub enum Report {
    /// It listens.
    Ready,
    /// All bytes of a flow have arrived.
    Received {
        /// The flow.
        id: u64,
        /// The time on the monotonic clock.
        at: u64,
        /// True if every byte was as sent.
        intact: bool,
    },
    /// The receiver has confirmed a flow.
    Sent {
        /// The flow.
        id: u64,
        /// Nanoseconds by which the host started it late.
        late: u64,
        /// The subflows that carried it, as the client's address and port and the bytes that were
        /// acknowledged on each; empty with TCP.
        subflows: Vec<(SocketAddrV4, u64)>,
    },
    /// A flow's connection broke.
    Broken {
        /// The flow.
        id: u64,
        /// The error.
        error: String,
    },
    /// The answer to [`Order::Count`].
    Counted {
        /// Payload bytes received.
        bytes: u64,
        /// Flows whose last byte has not arrived, and the bytes of each that have.
        flows: Vec<(u64, u64)>,
        /// The time on the monotonic clock.
        at: u64,
    },
}

/// The state that a host's tasks share.
struct Shared {
    reports: UnboundedSender<Report>,
    received: Cell<u64>,
    /// Bytes received of flows that have not ended.
    open: RefCell<BTreeMap<u64, u64>>,
    pattern: Pattern,
}

impl Shared {
    /// Counts received bytes of a flow.
    fn count(&self, flow: u64, bytes: u64) {
        self.received.set(self.received.get() + bytes);
        *self.open.borrow_mut().entry(flow).or_default() += bytes;
    }

    fn report(&self, report: Report) {
        // The writer ends with the process only.
        let _ = self.reports.send(report);
    }
}

/// A message to a host's task.
enum Input {
    Order(Order),
    /// A flow is due.
    Due(Flow),
}

/// Runs a host until it is told to stop, or its input ends.
///
/// # Errors
/// If it cannot listen.
pub fn run() -> anyhow::Result<()> {
    let (inputs, incoming) = unbounded_channel();
    thread::spawn(move || read_orders(&inputs));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(incoming))
}

async fn serve(mut inputs: UnboundedReceiver<Input>) -> anyhow::Result<()> {
    let (reports, outgoing) = unbounded_channel();
    let writer = spawn_local(write_reports(outgoing));
    let shared = Rc::new(Shared {
        reports,
        received: Cell::new(0),
        open: RefCell::default(),
        pattern: Pattern::new(),
    });
    let mut sender = Sender::default();
    let mut protocol = Protocol::Tcp;
    while let Some(input) = inputs.recv().await {
        match input {
            Input::Order(Order::Listen { address, protocol: wanted }) => {
                protocol = wanted;
                let listener = sockets::listen(address, protocol)?;
                spawn_local(receive::accept(listener, shared.clone()));
                shared.report(Report::Ready);
            }
            Input::Due(flow) => sender.start(flow, protocol, &shared),
            Input::Order(Order::Count) => {
                let bytes = shared.received.get();
                let flows = shared.open.borrow().iter().map(|(id, bytes)| (*id, *bytes)).collect();
                shared.report(Report::Counted { bytes, flows, at: clock::now() });
            }
            Input::Order(Order::Stop) => break,
            Input::Order(Order::Send(_)) => {}
        }
    }
    // Reports that are due are written before the process ends.
    tokio::task::yield_now().await;
    writer.abort();
    Ok(())
}

/// Reads orders. Flows go through a thread that holds each until it is due: tokio's timers are
/// exact to a millisecond only.
fn read_orders(inputs: &UnboundedSender<Input>) {
    let (flows, due) = mpsc::channel::<Flow>();
    let to_host = inputs.clone();
    thread::spawn(move || {
        for flow in due {
            clock::sleep_until(flow.at);
            if to_host.send(Input::Due(flow)).is_err() {
                return;
            }
        }
    });
    for line in io::stdin().lock().lines() {
        let order = line.and_then(|line| Ok(serde_json::from_str(&line)?));
        let sent = match order {
            Ok(Order::Send(flow)) => flows.send(flow).is_ok(),
            Ok(order) => inputs.send(Input::Order(order)).is_ok(),
            Err(error) => {
                eprintln!("error: an order to a host's process cannot be read: {error}");
                false
            }
        };
        if !sent {
            break;
        }
    }
    let _ = inputs.send(Input::Order(Order::Stop));
}

async fn write_reports(mut reports: UnboundedReceiver<Report>) {
    while let Some(report) = reports.recv().await {
        let mut line = match serde_json::to_vec(&report) {
            Ok(line) => line,
            Err(error) => {
                eprintln!("error: {report:?} of a host's process cannot be written: {error}");
                continue;
            }
        };
        line.push(b'\n');
        // Nobody reads any more if it fails; the input then ends, too.
        let _ = io::stdout().write_all(&line);
    }
}
