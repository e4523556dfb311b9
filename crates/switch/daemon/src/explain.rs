//! Explanation of a packet's next hop. Nothing is changed by it: the daemon reads what the programs
//! would read.

use std::net::IpAddr;

use heddle_policy::cflb::{Addresses, Codec, Fields, Ports, Reason};
use heddle_policy::{mix, pick};
use heddle_switch_maps::abi::{SWITCH_NO_PORT, SwitchDestination};
use heddle_switch_maps::{Error, Scheme};
use serde::{Deserialize, Serialize};

use crate::daemon::State;
use crate::flow::FiveTuple;
use crate::status::Count;
use crate::{plan, status};

/// A packet to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Sender.
    pub source: IpAddr,
    /// Receiver, of the same family.
    pub destination: IpAddr,
    /// Ports of sender and receiver.
    pub ports: (u16, u16),
    /// IP's number of the protocol: 6 is TCP, 17 is UDP.
    pub protocol: u8,
    /// TTL or hop limit on arrival.
    pub ttl: u8,
    /// IPv6's flow label.
    pub flow_label: u32,
}

/// The packet's way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The neighbour to which it would go; none if it is dropped.
    pub to: Option<String>,
    /// The steps of the decision, in order.
    pub steps: Vec<String>,
    /// The next hops that it has, in the order of routes.
    pub next_hops: Vec<NextHop>,
}

/// A next hop, with what has gone there by whatever flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextHop {
    /// The neighbour.
    pub peer: String,
    /// Its port has a carrier.
    pub up: bool,
    /// Frames sent there.
    pub sent: Count,
    /// Utilisation of the link, 0 to 1.
    pub utilisation: f64,
}

/// The way of a packet at this moment.
///
/// # Errors
/// If the kernel does not let read a map.
pub fn explain(state: &State, packet: &Packet) -> Result<Explanation, Error> {
    let (mut steps, mut hops) = (Vec::new(), Vec::new());
    let port = walk(state, packet, &mut steps, &mut hops)?;
    let next_hops = hops.iter().map(|&hop| next_hop(state, hop)).collect::<Result<_, Error>>()?;
    Ok(Explanation { to: port.map(|port| status::peer(state, port)), steps, next_hops })
}

fn next_hop(state: &State, port: u16) -> Result<NextHop, Error> {
    Ok(NextHop {
        peer: status::peer(state, port),
        up: plan::up(&state.config, &state.devices) >> port & 1 == 1,
        sent: status::sent(state, port)?,
        utilisation: status::utilisation(state, port.into(), status::now())?,
    })
}

fn walk(
    state: &State,
    packet: &Packet,
    steps: &mut Vec<String>,
    hops: &mut Vec<u16>,
) -> Result<Option<u16>, Error> {
    let address = packet.destination.into();
    let found = state.switch.maps.destinations.get(&address)?;
    let Some(destination) = found.or_else(|| behind(state, packet.destination, steps)) else {
        steps.push(match state.config.fabric() {
            Some(_) => format!("{} is no host's address: dropped", packet.destination),
            None => format!("{} is left to the kernel", packet.destination),
        });
        return Ok(None);
    };
    if packet.ttl <= 1 {
        let who = state.config.fabric().map_or("left to the kernel", |_| "dropped");
        steps.push(format!("TTL {}: {who}; ICMP tells the sender", packet.ttl));
        return Ok(None);
    }
    if Some(destination.tor) == state.config.tor {
        steps.push(format!("{} is a host of this ToR", packet.destination));
        if state.config.ports.iter().all(|port| port.number != destination.port) {
            steps.push("its port has no device: dropped".into());
            return Ok(None);
        }
        return Ok(Some(destination.port));
    }
    let tor = state.config.tor_name(destination.tor);
    *hops = status::next_hops(state, destination.tor.into())?;
    let names: Vec<String> = hops.iter().map(|&hop| status::peer(state, hop)).collect();
    steps.push(format!("{} is behind {tor}, next hops {}", packet.destination, names.join(", ")));
    if hops.is_empty() {
        let way = state.config.fabric().map_or("left to the kernel", |_| "dropped");
        steps.push(format!("no path leads there: {way}"));
        return Ok(None);
    }
    Ok(Some(choose(state, packet, destination.tor, hops, steps)))
}

/// The ToR behind which the longest prefix of the kernel's routes has an address.
fn behind(state: &State, address: IpAddr, steps: &mut Vec<String>) -> Option<SwitchDestination> {
    let prefixes = state.towards.prefixes.iter();
    let (prefix, tor) = prefixes
        .filter(|(prefix, _)| prefix.contains(&address))
        .max_by_key(|(prefix, _)| prefix.prefix_len())?;
    steps.push(format!("the longest prefix is {prefix}"));
    tor.map(|tor| SwitchDestination { tor, port: SWITCH_NO_PORT as u16, pad: 0 })
}

fn choose(state: &State, packet: &Packet, tor: u16, hops: &[u16], steps: &mut Vec<String>) -> u16 {
    let hash = mix(five_tuple(packet).hash(), state.config.salt);
    if let [only] = hops {
        steps.push("the only next hop".into());
        return *only;
    }
    let scheme = state.config.scheme.scheme;
    if scheme == Scheme::Cflb {
        return by_selector(state, packet, hops, steps)
            .unwrap_or_else(|| by_hash(hash, hops, "its hash", steps));
    }
    if state.switch.tables.is_none() {
        return by_hash(hash, hops, "the hash of its 5-tuple", steps);
    }
    running(state, hash, hops, steps).unwrap_or_else(|| match scheme.choice() {
        Some(choice) => {
            steps.push(choice.into());
            hops[0]
        }
        None => by_probes(state, tor, hash, hops, steps),
    })
}

fn five_tuple(packet: &Packet) -> FiveTuple {
    let Packet { source, destination, ports, protocol, .. } = *packet;
    FiveTuple { source, destination, ports, protocol }
}

fn by_hash(hash: u32, hops: &[u16], what: &str, steps: &mut Vec<String>) -> u16 {
    let at = pick(hash, hops.len());
    steps.push(format!("{what} selects next hop {} of {}", at + 1, hops.len()));
    hops[at]
}

fn by_selector(
    state: &State,
    packet: &Packet,
    hops: &[u16],
    steps: &mut Vec<String>,
) -> Option<u16> {
    let own = state.config.fabric()?;
    let config = own.file.cflb.constants;
    let key = &state.config.scheme.cflb?.key;
    let codec = Codec::new(&config, &key[..config.cipher.key_bytes()]).ok()?;
    let (source, destination) = packet.ports;
    let fields = Fields {
        addresses: Addresses::new(packet.source, packet.destination)?,
        protocol: packet.protocol,
        ports: matches!(packet.protocol, 6 | 17).then_some(Ports { source, destination }),
        flow_label: packet.flow_label,
        ttl: packet.ttl,
    };
    let decision = codec.decide(own.switch, &fields, hops.len() as u16);
    steps.push(match decision.reason {
        Reason::Alone => "the only next hop".into(),
        Reason::Controlled { position, digit } => {
            format!("the sender's choice: digit {digit} at position {position}")
        }
        Reason::DigitTooHigh { position, digit } => {
            format!("a hash: digit {digit} at position {position} has no next hop")
        }
        Reason::NoSelector => "a hash: its ports encode no path".into(),
        Reason::NoField => "a hash: it has none of the fields that encode paths".into(),
    });
    hops.get(usize::from(decision.next_hop)).copied()
}

/// True for a next hop that the scheme may use now.
fn usable<'a>(state: &State, hops: &'a [u16]) -> impl Fn(&u16) -> bool + Copy + 'a {
    let all = state.config.scheme.mp_hula.hula.local_detection == 0;
    let up = plan::up(&state.config, &state.devices);
    move |port| hops.contains(port) && (all || up >> port & 1 == 1)
}

/// The port of the packet's flowlet, if that is live.
fn running(state: &State, hash: u32, hops: &[u16], steps: &mut Vec<String>) -> Option<u16> {
    let config = &state.config.scheme.mp_hula.hula;
    let usable = usable(state, hops);
    let slot = hash & (config.flowlet_slots - 1);
    let tables = state.switch.tables.as_ref();
    let flowlet = tables.and_then(|tables| status::flowlet(tables, slot as usize));
    let idle = flowlet.map_or(u64::MAX, |flowlet| flowlet.idle(status::now()));
    if let Some(port) = flowlet.and_then(|flowlet| flowlet.port()).filter(usable)
        && idle <= config.flowlet_gap
    {
        steps.push(format!("flowlet slot {slot} is live ({} us idle)", idle / 1000));
        return Some(port);
    }
    steps.push(format!("flowlet slot {slot} has no live flowlet: a new one starts"));
    None
}

fn by_probes(state: &State, tor: u16, hash: u32, hops: &[u16], steps: &mut Vec<String>) -> u16 {
    let usable = usable(state, hops);
    let best = status::best_hops(state, tor.into());
    let kind = match state.config.scheme.scheme {
        Scheme::Shuttle => "known hop",
        _ => "best hop",
    };
    for hop in best.iter().filter(|hop| usable(&hop.port)) {
        let (peer, util) = (status::peer(state, hop.port), hop.util);
        steps.push(format!("{kind} {peer} (utilisation {util})"));
    }
    match state.config.scheme.scheme {
        Scheme::MpHula if best.len() > 1 => {
            let rule = "a subflow takes the first that no other subflow of its connection uses";
            steps.push(rule.into());
        }
        Scheme::Shuttle if best.len() > 1 => steps.push(
            "one of them at random, by remote figure, own utilisation and queue: here the first"
                .into(),
        ),
        _ => {}
    }
    if let Some(hop) = best.into_iter().find(|hop| usable(&hop.port)) {
        return hop.port;
    }
    let first = by_hash(hash, hops, "no probe has come by a port that is up: the hash", steps);
    let at = hops.iter().position(|&port| port == first).unwrap_or(0);
    // The next one behind it that is up (hula_fall_back).
    hops.iter().cycle().skip(at).take(hops.len()).copied().find(usable).unwrap_or(first)
}
