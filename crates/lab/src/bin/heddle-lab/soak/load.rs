//! The load of a soak: through the balancers, and beside them.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, SocketAddrV4};
use std::time::Duration;

use heddle_lab::{
    Arrivals, Broken, Datagrams, DatagramsReport, Lab, LabError, Pattern, Strangers, StreamReport,
    Streams, Transport, eventually,
};
use serde::Serialize;

use super::PORT;

/// Limit on the time until streams have answers again: far beyond what is tolerated, so that a
/// broken one is found as such.
const LIMIT: Duration = Duration::from_secs(90);

/// A subflow without progress for this long is stalled.
const STALLED: Duration = Duration::from_millis(300);

/// Exchanges of each stream after an event.
const EXCHANGES: u64 = 3;

/// Exchanges of MPTCP streams: enough for all subflows.
const WIDE: Pattern = Pattern { up: 300_000, down: 1000, pause: Duration::from_millis(300) };

/// The port of the UDP service.
const UDP_PORT: u16 = 5060;

/// The client's ports: so few that each is used again every few minutes, a second after a connection
/// has ended (ip-sysctl of Linux: tcp_tw_reuse).
const FEW_PORTS: [(&str, &str); 2] =
    [("ip_local_port_range", "20000 27999"), ("tcp_tw_reuse", "1")];

/// The beginning of an error that is about a subflow.
const SUBFLOW: &str = "subflow";

/// The service, or backends past the balancers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Path {
    Service,
    Direct,
}

/// Streams and arrivals of a soak.
pub(super) struct Load<'a> {
    lab: &'a Lab,
    streams: Vec<Slot>,
    arrivals: Vec<(Path, Arrivals)>,
    datagrams: Datagrams,
    strangers: Strangers,
}

/// The UDP service of the configuration: all of these backends at the first VIP.
pub(super) fn udp_service(lab: &Lab, backends: usize) -> String {
    let vip = lab.vip4();
    let mut text = format!(
        "[[service]]\nname = \"datagrams\"\naddress = \"{vip}\"\nport = {UDP_PORT}\nprotocol = \"udp\"\n"
    );
    for (number, backend) in lab.backends().iter().take(backends).enumerate() {
        let address = backend.v4();
        let _ =
            write!(text, "[[service.backend]]\nname = \"udp-{number}\"\naddress = \"{address}\"\n");
    }
    text
}

fn use_few_ports(lab: &Lab) -> Result<(), LabError> {
    let set = || {
        let write = |(name, value)| fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
        FEW_PORTS.into_iter().try_for_each(write)
    };
    let what = "the client's ports".into();
    lab.client().enter(set)?.map_err(|source| LabError::System { what, source })
}

/// Those of IPv4.
fn v4(addresses: impl Iterator<Item = SocketAddr>) -> impl Iterator<Item = SocketAddrV4> {
    addresses.filter_map(|address| match address {
        SocketAddr::V4(v4) => Some(v4),
        SocketAddr::V6(_) => None,
    })
}

/// A stream that is opened anew when it has ended.
struct Slot {
    path: Path,
    transport: Transport,
    to: SocketAddr,
    stream: Option<Streams>,
}

/// Observations on one path over some time.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Observed {
    /// Exchanges of streams.
    pub(super) exchanges: u64,
    /// Connections that came and went.
    pub(super) connections: u64,
    /// Connections that broke, other than by a wrong byte.
    pub(super) broken: u64,
    /// Connections with a wrong byte.
    pub(super) damaged: u64,
    /// Connections that broke because their backend was away.
    pub(super) excused: u64,
    /// Subflows that were established and are no more.
    pub(super) subflows_lost: u64,
    /// Joins of whole connections.
    pub(super) joins: u64,
    /// Joins that were never established.
    pub(super) joins_missing: u64,
    /// Joins that reached a backend which did not know their token.
    pub(super) joins_refused: u64,
    /// Joins of connections that fell back to TCP because their backend was away.
    pub(super) joins_excused: u64,
    /// The longest stall of a plain stream.
    pub(super) stall: Duration,
    /// The longest stall of a subflow.
    pub(super) subflow_stall: Duration,
    /// Errors, in words.
    pub(super) errors: Vec<String>,
}

impl Observed {
    pub(super) fn add(&mut self, other: &Observed) {
        self.exchanges += other.exchanges;
        self.connections += other.connections;
        self.broken += other.broken;
        self.damaged += other.damaged;
        self.excused += other.excused;
        self.subflows_lost += other.subflows_lost;
        self.joins += other.joins;
        self.joins_missing += other.joins_missing;
        self.joins_refused += other.joins_refused;
        self.joins_excused += other.joins_excused;
        self.stall = self.stall.max(other.stall);
        self.subflow_stall = self.subflow_stall.max(other.subflow_stall);
        self.errors.extend(other.errors.iter().cloned());
    }

    /// Leaves out what is lost of the subflows of connections.
    pub(super) fn forget_subflows(&mut self) {
        (self.subflows_lost, self.joins_missing) = (0, 0);
        self.errors.retain(|error| !error.starts_with(SUBFLOW));
    }

    fn add_broken(&mut self, broken: &Broken, what: &str) {
        match broken {
            Broken::Damaged(_) => self.damaged += 1,
            Broken::Silent | Broken::Ended(_) => self.broken += 1,
        }
        self.errors.push(format!("{what}: {broken:?}"));
    }
}

impl<'a> Load<'a> {
    /// Begins; `control` is a backend that is no service's, reached past the balancers. Strangers
    /// keep connections open to the addresses `idle`.
    pub(super) fn start(
        lab: &'a Lab,
        control: usize,
        idle: &[SocketAddr],
    ) -> Result<Load<'a>, LabError> {
        use_few_ports(lab)?;
        let vip = lab.vip4();
        let datagrams = Datagrams::start(lab, SocketAddrV4::new(vip, UDP_PORT))?;
        let strangers = Strangers::start(lab, SocketAddrV4::new(vip, PORT), idle)?;
        let [v4, v6] = lab.vips().map(|vip| SocketAddr::new(vip, PORT));
        let direct = SocketAddr::new(lab.backend(control).v4().into(), PORT);
        let (service, beside) = (Path::Service, Path::Direct);
        let (tcp, mptcp) = (Transport::Tcp, Transport::Mptcp);
        let kinds = [
            (service, tcp, v4, 20),
            (service, tcp, v6, 10),
            (service, mptcp, v4, 4),
            (service, mptcp, v6, 2),
            (beside, tcp, direct, 10),
            (beside, mptcp, direct, 2),
        ];
        let slots = kinds.into_iter().flat_map(|(path, transport, to, count)| {
            (0..count).map(move |_| Slot { path, transport, to, stream: None })
        });
        let streams = slots.collect();
        let mut load = Load { lab, streams, arrivals: Vec::new(), datagrams, strangers };
        load.reopen()?;
        let pause = Duration::from_millis(50);
        for (path, transport, to, at_once) in [
            (service, tcp, v4, 1),
            (service, tcp, v6, 1),
            (service, mptcp, v4, 2),
            (service, mptcp, v6, 1),
            (beside, tcp, direct, 1),
            (beside, mptcp, direct, 3),
        ] {
            load.arrivals.push((path, Arrivals::start(lab, transport, to, at_once, pause)?));
        }
        Ok(load)
    }

    /// Opens the streams that are not.
    pub(super) fn reopen(&mut self) -> Result<(), LabError> {
        for slot in self.streams.iter_mut().filter(|slot| slot.stream.is_none()) {
            let pattern = match slot.transport {
                Transport::Tcp => Pattern::PING_PONG,
                Transport::Mptcp => WIDE,
            };
            slot.stream = Some(Streams::open(self.lab, slot.transport, slot.to, 1, pattern)?);
        }
        let of_service = self.streams.iter().filter(|slot| slot.path == Path::Service);
        let reports = of_service.filter_map(|slot| slot.stream.as_ref()).flat_map(Streams::reports);
        self.strangers.set_victims(v4(reports.map(|report| report.local)).collect());
        Ok(())
    }

    /// Ends the streams to a backend that will be away.
    pub(super) fn end_streams_to(&mut self, backend: &str) {
        for slot in &mut self.streams {
            let is_there = |stream: &Streams| stream.reports().iter().any(|r| r.backend == backend);
            if slot.path == Path::Service && slot.stream.as_ref().is_some_and(is_there) {
                slot.stream = None;
            }
        }
    }

    /// Waits until each stream has had some exchanges, or is broken, and no subflow stalls any
    /// more: a stall belongs to the event that caused it.
    pub(super) fn wait_for_answers(&self) -> Result<(), LabError> {
        let open = || self.streams.iter().filter_map(|slot| slot.stream.as_ref());
        let reports = || open().flat_map(Streams::reports);
        let goals: Vec<u64> = reports().map(|report| report.exchanges + EXCHANGES).collect();
        eventually(LIMIT, || {
            let waiting = reports()
                .zip(&goals)
                .filter(|(report, goal)| report.broken.is_none() && report.exchanges < **goal);
            let waiting: Vec<_> =
                waiting.map(|(report, _)| (report.local, report.backend)).collect();
            if waiting.is_empty() { Ok(()) } else { Err(format!("no answer to {waiting:?}")) }
        })?;
        let stalled = || -> Vec<_> {
            let subflows = reports().flat_map(|report| report.subflows);
            let stalled = subflows.filter(|flow| flow.established && flow.stalled_for > STALLED);
            stalled.map(|flow| flow.local).collect()
        };
        // One that never ends is reported as such: its stall is in the report.
        let _ = eventually(LIMIT, || match stalled() {
            stalled if stalled.is_empty() => Ok(()),
            stalled => Err(format!("no further byte was acknowledged on {stalled:?}")),
        });
        Ok(())
    }

    /// The observations on a path since the last call. Streams that are broken are ended; `away` is
    /// a backend that failed meanwhile.
    pub(super) fn take(&mut self, path: Path, away: Option<&str>) -> Observed {
        let mut observed = Observed::default();
        for slot in self.streams.iter_mut().filter(|slot| slot.path == path) {
            let Some(stream) = &slot.stream else { continue };
            let mut ended = false;
            for report in stream.reports() {
                ended |= report.broken.is_some();
                observed.add_stream(&report, slot.transport);
            }
            stream.forget();
            if ended {
                slot.stream = None;
            }
        }
        for (_, arrivals) in self.arrivals.iter().filter(|(of, _)| *of == path) {
            let report = arrivals.take();
            observed.connections += report.connections;
            observed.joins += report.joins;
            let excused = if away.is_some() { report.joins_of_fallbacks } else { 0 };
            observed.joins_excused += excused;
            observed.joins_missing += report.joins_missing - excused;
            observed.errors.extend(report.incomplete);
            for (broken, backend) in &report.broken {
                if away.is_some() && (backend.is_none() || backend.as_deref() == away) {
                    observed.excused += 1;
                } else {
                    observed.add_broken(broken, &format!("a new connection to {backend:?}"));
                }
            }
        }
        observed
    }

    /// The datagrams in fragments so far.
    pub(super) fn datagrams(&self) -> DatagramsReport {
        self.datagrams.report()
    }

    /// Ends all of it.
    pub(super) fn end(&mut self) {
        self.streams.clear();
        self.arrivals.clear();
    }
}

impl Observed {
    fn add_stream(&mut self, report: &StreamReport, transport: Transport) {
        self.exchanges += report.exchanges;
        if let Some(broken) = &report.broken {
            self.add_broken(broken, &format!("stream {} to {}", report.local, report.backend));
        }
        if transport == Transport::Tcp {
            self.stall = self.stall.max(report.longest_stall);
        }
        for subflow in &report.subflows {
            self.subflow_stall = self.subflow_stall.max(subflow.longest_stall);
            if !subflow.established && report.broken.is_none() {
                self.subflows_lost += 1;
                self.errors
                    .push(format!("{SUBFLOW} {} to {} is gone", subflow.local, report.backend));
            }
        }
    }
}
