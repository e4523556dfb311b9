//! Connections that survive a restart: a file with a line for each change of a connection, the last
//! of which counts.
//!
//! A process that ends in any way leaves whole lines and at most one that is cut, which is left
//! out. The file is written anew, with one line for each open connection, at each start.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use heddle_fabric::{Hop, Path as FabricPath};
use heddle_path_encoder::{
    ConnectionId, Connections, Network, Pair, Request, SavedConnection, SavedSubflow, SubflowId,
};
use heddle_policy::Port;
use heddle_policy::cflb::{Addresses, Fields, Ports};
use heddle_units::Rate;
use serde::{Deserialize, Serialize};

/// The file, open for further lines.
#[derive(Debug)]
pub(crate) struct State {
    file: Mutex<File>,
}

/// A line: a connection as it is now.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    id: u64,
    /// `None` once it is closed.
    connection: Option<Saved>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    from: u32,
    to: u32,
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ports: (u16, u16),
    requested: u16,
    rate: Option<u64>,
    lease: Option<u64>,
    /// Seconds since 1970.
    expires: u64,
    taken: Vec<u16>,
    next_subflow: u32,
    subflows: Vec<SubflowLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SubflowLine {
    id: u32,
    shared: u32,
    ports: Option<(u16, u16)>,
    flow_label: u32,
    ttl: u8,
    /// Switch, port, next hop, next hops.
    hops: Vec<(u32, u16, u16, u16)>,
}

impl State {
    /// Restores the connections of a file whose leases have not ended, and opens it for changes;
    /// `now` is the clock of `connections`.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn open(
        path: &Path,
        network: &Network,
        connections: &mut Connections,
        now: u64,
    ) -> io::Result<State> {
        let (mut restored, mut lost) = (0, 0);
        let clock = WallClock { now, unix: unix_seconds() };
        for (id, saved) in read(path)? {
            let known = saved.expires > clock.unix
                && saved
                    .restored(&clock)
                    .is_some_and(|saved| connections.restore(network, ConnectionId(id), saved));
            *(if known { &mut restored } else { &mut lost }) += 1;
        }
        tracing::info!(restored, lost, "connections of the state file");
        let pending = with_ending(path, "new");
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&pending)?;
        for (id, _) in connections.iter() {
            file.write_all(line(connections, id, &clock).as_bytes())?;
        }
        file.sync_all()?;
        fs::rename(&pending, path)?;
        Ok(State { file: Mutex::new(file) })
    }

    /// Adds a line for a connection: as it is, or that it is closed.
    pub(crate) fn record(&self, connections: &Connections, id: ConnectionId, now: u64) {
        let text = line(connections, id, &WallClock { now, unix: unix_seconds() });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::error!(%error, "the state file cannot be written: a restart would lose this change");
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// The clock of leases, and the time of day.
struct WallClock {
    now: u64,
    unix: u64,
}

pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The last line of each connection that is open; a file that is not there has none.
fn read(path: &Path) -> io::Result<BTreeMap<u64, Saved>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let mut open = BTreeMap::new();
    for line in text.lines() {
        let line = match serde_json::from_str::<Line>(line) {
            Ok(line) => line,
            // The last one, if a crash has cut it off.
            Err(error) => {
                tracing::warn!(%error, line, "a line of the state file cannot be read");
                continue;
            }
        };
        match line.connection {
            Some(saved) => open.insert(line.id, saved),
            None => open.remove(&line.id),
        };
    }
    Ok(open)
}

fn line(connections: &Connections, id: ConnectionId, clock: &WallClock) -> String {
    let saved = connections.get(id).map(|connection| Saved::new(&connection.save(), clock));
    let mut text = serde_json::to_string(&Line { id: id.0, connection: saved }).unwrap_or_default();
    text.push('\n');
    text
}

impl Saved {
    fn new(saved: &SavedConnection, clock: &WallClock) -> Saved {
        let Request { pair, protocol, ports, subflows, rate, lease } = saved.request;
        let (source, destination) = match pair.addresses {
            Addresses::V4(source, destination) => (source.into(), destination.into()),
            Addresses::V6(source, destination) => (source.into(), destination.into()),
        };
        Saved {
            from: pair.from,
            to: pair.to,
            source,
            destination,
            protocol,
            ports: (ports.source, ports.destination),
            requested: subflows,
            rate: rate.map(|rate| rate.0),
            lease,
            expires: clock.unix + saved.expires.saturating_sub(clock.now),
            taken: saved.taken.clone(),
            next_subflow: saved.next_subflow,
            subflows: saved.subflows.iter().map(SubflowLine::new).collect(),
        }
    }

    /// `None` if the addresses are of two families.
    fn restored(&self, clock: &WallClock) -> Option<SavedConnection> {
        let addresses = Addresses::new(self.source, self.destination)?;
        let (source, destination) = self.ports;
        let subflow = |one: &SubflowLine| one.restored(addresses, self.protocol);
        Some(SavedConnection {
            request: Request {
                pair: Pair { from: self.from, to: self.to, addresses },
                protocol: self.protocol,
                ports: Ports { source, destination },
                subflows: self.requested,
                rate: self.rate.map(Rate),
                lease: self.lease,
            },
            expires: clock.now + (self.expires - clock.unix),
            subflows: self.subflows.iter().map(subflow).collect(),
            taken: self.taken.clone(),
            next_subflow: self.next_subflow,
        })
    }
}

impl SubflowLine {
    fn new(SavedSubflow { id, path, shared, fields }: &SavedSubflow) -> SubflowLine {
        let hop = |hop: &Hop| (hop.switch, hop.port.0, hop.next_hop, hop.next_hops);
        SubflowLine {
            id: id.0,
            shared: *shared,
            ports: fields.ports.map(|ports| (ports.source, ports.destination)),
            flow_label: fields.flow_label,
            ttl: fields.ttl,
            hops: path.hops.iter().map(hop).collect(),
        }
    }

    fn restored(&self, addresses: Addresses, protocol: u8) -> SavedSubflow {
        let hop = |&(switch, port, next_hop, next_hops): &(u32, u16, u16, u16)| Hop {
            switch,
            port: Port(port),
            next_hop,
            next_hops,
        };
        let ports = self.ports.map(|(source, destination)| Ports { source, destination });
        let (flow_label, ttl) = (self.flow_label, self.ttl);
        let fields = Fields { addresses, protocol, ports, flow_label, ttl };
        let path = FabricPath { hops: self.hops.iter().map(hop).collect() };
        SavedSubflow { id: SubflowId(self.id), path, shared: self.shared, fields }
    }
}
