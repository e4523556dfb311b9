//! Paths of flows, and of MPTCP's subflows, by the switches' postcards.
//!
//! All switches tell of the same packets. So a packet's postcards, in the order of the clock that
//! all namespaces share, are its way from one host to the other; one that was lost, or of which a
//! switch has not told, has no way. Paths of a flow that are the same one after another are one
//! [`Span`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use crate::network::Network;
use crate::plane::postcards_file;
use crate::{EmulationError, state};

/// Packets whose mean length is below this carry no data.
const DATA: u64 = 200;

/// Paths of the flows of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Paths {
    /// Flows between hosts, each direction of a connection by itself.
    pub flows: Vec<FlowPaths>,
    /// Packets whose way is known.
    pub packets: u64,
    /// Packets of whose way a part is missing.
    pub incomplete: u64,
}

/// A flow's 5-tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FiveTuple {
    /// IP's number of the protocol.
    pub protocol: u8,
    /// Sender.
    pub source: SocketAddr,
    /// Receiver.
    pub destination: SocketAddr,
}

/// The paths of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPaths {
    /// Addresses and ports.
    pub flow: FiveTuple,
    /// The sender's name.
    pub from: String,
    /// The receiver's name.
    pub to: String,
    /// Packets of the sample.
    pub packets: u64,
    /// Their bytes, from IP's header on.
    pub bytes: u64,
    /// Its paths, in order.
    pub spans: Vec<Span>,
}

impl FlowPaths {
    /// True if it carries data, not acknowledgements alone.
    pub fn has_data(&self) -> bool {
        self.bytes >= DATA * self.packets
    }

    /// The number of times that it took another path.
    pub fn moves(&self) -> usize {
        self.spans.len().saturating_sub(1)
    }
}

/// A time on one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Seconds of the run at which its first packet of the sample met the first switch.
    pub start: f64,
    /// The same of its last packet.
    pub end: f64,
    /// Packets of the sample.
    pub packets: u64,
    /// Switches, in order.
    pub path: Vec<String>,
    /// Utilisation of the path's fullest link, 0 to 1: the mean over the packets.
    pub utilisation: f64,
}

/// A postcard, as `heddle-switch` writes it.
#[derive(Clone, Debug, PartialEq)]
struct Card {
    flow: FiveTuple,
    packet: u32,
    /// Nanoseconds of the monotonic clock.
    at: u64,
    switch: String,
    from: String,
    to: String,
    length: u64,
    utilisation: f64,
}

/// A packet's way.
struct Way {
    at: u64,
    path: Vec<String>,
    length: u64,
    utilisation: f64,
}

impl Paths {
    /// Reads the postcards of all switches; `start` is the clock at the run's time 0.
    pub(crate) fn read(network: &Network, start: u64) -> Result<Paths, EmulationError> {
        let folder = state::folder(&network.state.name);
        let mut cards = Vec::new();
        for switch in network.switches() {
            let path = postcards_file(&folder, &network.fabric.node(switch).name);
            let name = path.display().to_string();
            match fs::read_to_string(&path) {
                Ok(text) => cards.extend(parse(&text).map_err(|line| EmulationError::File {
                    what: name,
                    error: format!("no postcard: {line}"),
                })?),
                Err(error) => return Err(EmulationError::system(name)(error)),
            }
        }
        let name = |host: u32| network.fabric.node(host).name.clone();
        let host_of = |address: IpAddr| match address {
            IpAddr::V4(address) => network.addresses.host(address).map(name),
            IpAddr::V6(_) => None,
        };
        Ok(Paths::of(cards, &network.hosts().map(name).collect(), &host_of, start))
    }

    /// Flows between hosts; those of the switches themselves, as BGP's sessions, are left out.
    fn of(
        cards: Vec<Card>,
        hosts: &BTreeSet<String>,
        host_of: &dyn Fn(IpAddr) -> Option<String>,
        start: u64,
    ) -> Paths {
        let mut of_packets: BTreeMap<(FiveTuple, u32), Vec<Card>> = BTreeMap::new();
        for card in cards {
            of_packets.entry((card.flow, card.packet)).or_default().push(card);
        }
        let mut paths = Paths::default();
        let mut of_flows: BTreeMap<FiveTuple, Vec<Way>> = BTreeMap::new();
        for ((flow, _), mut cards) in of_packets {
            cards.sort_by_key(|card| card.at);
            let (ways, incomplete) = ways(&cards, hosts);
            if host_of(flow.source.ip()).is_some() && host_of(flow.destination.ip()).is_some() {
                paths.incomplete += incomplete;
                of_flows.entry(flow).or_default().extend(ways);
            }
        }
        for (flow, mut ways) in of_flows {
            ways.sort_by_key(|way| way.at);
            let ends = host_of(flow.source.ip()).zip(host_of(flow.destination.ip()));
            let Some((from, to)) = ends.filter(|_| !ways.is_empty()) else { continue };
            let packets = ways.len() as u64;
            let bytes = ways.iter().map(|way| way.length).sum();
            paths.packets += packets;
            paths.flows.push(FlowPaths {
                flow,
                from,
                to,
                packets,
                bytes,
                spans: spans(ways, start),
            });
        }
        paths
    }
}

/// The ways in a packet's postcards, which are several of one that was sent again, and how many
/// parts of others there are.
fn ways(cards: &[Card], hosts: &BTreeSet<String>) -> (Vec<Way>, u64) {
    let (mut ways, mut parts) = (Vec::new(), 0);
    let mut so_far: Vec<&Card> = Vec::new();
    for card in cards {
        let begins = hosts.contains(&card.from);
        if begins {
            parts += u64::from(!so_far.is_empty());
            so_far.clear();
        }
        if !begins && so_far.last().is_none_or(|last| last.to != card.switch) {
            continue;
        }
        so_far.push(card);
        // A kernel that delivers is the last switch's.
        if card.to.is_empty() || hosts.contains(&card.to) {
            ways.push(Way {
                at: so_far[0].at,
                path: so_far.iter().map(|card| card.switch.clone()).collect(),
                length: card.length,
                utilisation: so_far.iter().map(|card| card.utilisation).fold(0.0, f64::max),
            });
            so_far.clear();
        }
    }
    (ways, parts + u64::from(!so_far.is_empty()))
}

fn spans(ways: Vec<Way>, start: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for way in ways {
        let at = (way.at as f64 - start as f64) / 1e9;
        match spans.last_mut().filter(|last| last.path == way.path) {
            Some(last) => {
                last.end = at;
                last.packets += 1;
                last.utilisation += (way.utilisation - last.utilisation) / last.packets as f64;
            }
            None => spans.push(Span {
                start: at,
                end: at,
                packets: 1,
                path: way.path,
                utilisation: way.utilisation,
            }),
        }
    }
    spans
}

/// The postcards in a file; a last line without an end is not written yet.
fn parse(text: &str) -> Result<Vec<Card>, String> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().filter(|line| !line.starts_with("time_ns"));
    lines.map(|line| card(line).ok_or_else(|| line.to_owned())).collect()
}

fn card(line: &str) -> Option<Card> {
    let fields: Vec<&str> = line.split(',').collect();
    let &[
        at,
        switch,
        packet,
        protocol,
        source,
        source_port,
        destination,
        destination_port,
        from,
        to,
        length,
        utilisation,
        _,
    ] = fields.as_slice()
    else {
        return None;
    };
    let end = |address: &str, port: &str| {
        Some(SocketAddr::new(address.parse().ok()?, port.parse().ok()?))
    };
    Some(Card {
        flow: FiveTuple {
            protocol: protocol.parse().ok()?,
            source: end(source, source_port)?,
            destination: end(destination, destination_port)?,
        },
        packet: u32::from_str_radix(packet, 16).ok()?,
        at: at.parse().ok()?,
        switch: switch.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        length: length.parse().ok()?,
        utilisation: utilisation.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that moves from spine-1 to spine-2, with a packet that was lost, one that was sent
    /// again, and one of BGP.
    #[test]
    fn a_flow_has_the_paths_of_its_packets_in_order() {
        let mut text = "time_ns,switch,...\n".to_owned();
        let mut line = |at: u64, switch: &str, packet: u32, from: &str, to: &str, used: f64| {
            text += &format!(
                "{at},{switch},{packet:08x},6,10.1.1.1,4000,10.2.1.1,5000,{from},{to},1500,{used},0\n"
            );
        };
        for (at, packet, spine) in [(10, 1, "spine-1"), (20, 2, "spine-1"), (50, 2, "spine-2")] {
            let at = at * 1_000_000_000;
            line(at, "leaf-1", packet, "host-1", spine, 0.2);
            line(at + 2, "leaf-2", packet, spine, "", 0.0);
            line(at + 1, spine, packet, "leaf-1", "leaf-2", 0.4);
        }
        line(30_000_000_000, "leaf-1", 3, "host-1", "spine-1", 0.9);
        text += "5,leaf-1,00000009,6,172.16.0.1,179,172.16.0.0,40000,spine-1,,60,0.0,0\n";
        text += "6,leaf-1,00000009,6,";
        let hosts: BTreeSet<String> = ["host-1", "host-2"].map(str::to_owned).into();
        let host_of = |address: IpAddr| match address.to_string().as_str() {
            "10.1.1.1" => Some("host-1".to_owned()),
            "10.2.1.1" => Some("host-2".to_owned()),
            _ => None,
        };
        let paths = Paths::of(parse(&text).unwrap(), &hosts, &host_of, 9_000_000_000);
        assert_eq!((paths.packets, paths.incomplete, paths.flows.len()), (3, 1, 1));
        let flow = &paths.flows[0];
        assert_eq!((flow.from.as_str(), flow.to.as_str(), flow.moves()), ("host-1", "host-2", 1));
        assert!(flow.has_data());
        let path = |spine: &str| ["leaf-1", spine, "leaf-2"].map(str::to_owned).to_vec();
        let spans = [
            Span { start: 1.0, end: 11.0, packets: 2, path: path("spine-1"), utilisation: 0.4 },
            Span { start: 41.0, end: 41.0, packets: 1, path: path("spine-2"), utilisation: 0.4 },
        ];
        assert_eq!(flow.spans, spans);
    }

    #[test]
    fn a_line_that_is_no_postcard_is_an_error() {
        assert_eq!(parse("1,leaf-1,xyz\n"), Err("1,leaf-1,xyz".to_owned()));
    }
}
