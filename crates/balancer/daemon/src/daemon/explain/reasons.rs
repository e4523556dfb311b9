//! The reasons in sentences: the packet, its flow and token, the verdict, and hints for a packet
//! that is lost.

use std::net::{IpAddr, SocketAddr};

use heddle_balancer_maps::abi::{Counter, FLOW_KEYS_SECOND, FlowState, NO_TARGET};
use heddle_program::output::counted;

use super::{Facts, format, frame};
use crate::admin::{BackendStatus, MptcpOption, Packet, QuicPacket};
use crate::config::{self, Service};
use crate::health::State;
use crate::hex;
use crate::service::{MptcpMode, Protocol};

/// All sentences, first things first.
pub(super) fn of(facts: &Facts<'_>) -> Vec<String> {
    let mut said = vec![format!("It is {}.", packet(facts.packet))];
    let Some(service) = facts.names.service(facts.trace.vip) else {
        said.extend(no_service(facts));
        return said;
    };
    said.push(format!("{} is service {}.", facts.packet.destination, of_service(service)));
    if facts.verdict() != Counter::SentDirect {
        said.push(flow(facts));
        said.extend(token(facts, service));
        said.extend(connection_id(facts, service));
    }
    said.push(format::verdict(facts));
    said.extend(facts.events().map(|event| format::event(event).to_owned()));
    said.extend(facts.backends.iter().filter(|b| b.service == service.name).map(why_not));
    said
}

fn packet(packet: &Packet) -> String {
    match packet.protocol {
        Protocol::Udp => match &packet.quic {
            None => "a UDP datagram".into(),
            Some(QuicPacket::Short { connection_id }) => {
                format!("a QUIC packet with a short header, to connection id {connection_id}")
            }
            Some(QuicPacket::Initial { connection_id }) => {
                format!("a QUIC Initial, to connection id {connection_id}")
            }
        },
        Protocol::Tcp => format!("{}{}", segment(packet.flags), option(packet.mptcp)),
    }
}

fn segment(flags: u8) -> String {
    const NAMES: [(u8, &str); 5] = [(2, "SYN"), (16, "ACK"), (1, "FIN"), (4, "RST"), (8, "PSH")];
    let set: Vec<&str> =
        NAMES.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
    match set[..] {
        [] => "a TCP segment without flags".into(),
        ["ACK"] => "an ACK".into(),
        ["SYN"] => "a SYN".into(),
        _ => format!("a TCP segment ({})", set.join(", ")),
    }
}

fn option(option: Option<MptcpOption>) -> String {
    match option {
        None => ", without an MPTCP option".into(),
        Some(MptcpOption::Capable) => " with MP_CAPABLE: it opens an MPTCP connection".into(),
        Some(MptcpOption::Keys { .. }) => " with MP_CAPABLE and both keys".into(),
        Some(MptcpOption::Join { token }) => {
            format!(" with MP_JOIN: it joins the connection whose token is {}", format::hex(token))
        }
    }
}

fn of_service(service: &Service) -> String {
    if let Some(ids) = service.quic {
        return format!(
            "{} (quic, config rotation {}, server ids of {})",
            service.name,
            ids.rotation(),
            counted(ids.length().into(), "byte")
        );
    }
    format!("{} (mptcp = \"{}\")", service.name, service.mptcp)
}

/// The state of the packet's flow.
fn flow(facts: &Facts<'_>) -> String {
    let second = u32::from(facts.trace.flow_state) & FLOW_KEYS_SECOND != 0;
    let proven = second || facts.trace.token != 0;
    let state = match facts.flow_state() {
        None => return "The flow table has no entry for its addresses and ports.".into(),
        Some(FlowState::New) => "one packet was seen",
        Some(FlowState::Learning) if proven => "its keys were seen",
        Some(FlowState::Learning) => "its packets are searched for keys",
        Some(FlowState::Joining) => "it has joined, and nothing came since",
        Some(FlowState::Closing | FlowState::ClosingStateful) => "it is closing",
        Some(_) => "it is established",
    };
    let token = match facts.trace.token {
        0 => String::new(),
        token => format!(", its token is {}", format::hex(token)),
    };
    format!("Its flow is known: {state}{token}.")
}

/// The owner of the packet's token.
fn token(facts: &Facts<'_>, service: &Service) -> Vec<String> {
    let carried =
        matches!(facts.packet.mptcp, Some(MptcpOption::Keys { .. } | MptcpOption::Join { .. }));
    let Some(token) = facts.token().filter(|_| carried) else { return Vec::new() };
    if !matches!(service.mptcp, MptcpMode::Learn | MptcpMode::Assign) {
        return vec!["In this mode MPTCP's options are not looked at.".into()];
    }
    let mut said = Vec::new();
    if matches!(facts.packet.mptcp, Some(MptcpOption::Keys { .. })) {
        said.push(format!("The receiver's key makes the token {}.", format::hex(token)));
    }
    said.push(match facts.names.owner(token) {
        owner if u32::from(owner) == NO_TARGET => {
            "That part of the token space is this balancer's own.".into()
        }
        owner => {
            format!("That part of the token space is balancer {}'s.", facts.names.target(owner))
        }
    });
    said
}

/// The backend that the connection id of a packet of QUIC names.
fn connection_id(facts: &Facts<'_>, service: &Service) -> Option<String> {
    let Some(ids) = service.quic else {
        let said = || "In this service connection ids of QUIC are not looked at (quic).".into();
        return facts.packet.quic.as_ref().map(|_| said());
    };
    let payload = frame::payload(facts.packet).ok()?;
    let id = match ids.find(&payload) {
        Ok(id) => id,
        Err(why) => return Some(format!("No connection id of QUIC names a backend: {why}.")),
    };
    let text = hex::text(id);
    let backend = service.backends.iter().find(|b| b.server_id.as_deref() == Some(id));
    Some(match backend {
        None => format!("Its connection id names server {text}, which no backend is."),
        Some(backend) if facts.backend() == Some(&backend.name) => {
            format!("Its connection id names server {text}, which is backend {}.", backend.name)
        }
        Some(backend) => format!(
            "Its connection id names server {text}, which is backend {}: that one is down.",
            backend.name
        ),
    })
}

/// The reason why the packet is for no service.
fn no_service(facts: &Facts<'_>) -> Vec<String> {
    let to = facts.packet.destination;
    let verdict = format::verdict(facts);
    if is_steering(facts.names.config, to, facts.packet.protocol) {
        return vec!["This is where other balancers send to this one.".into(), verdict];
    }
    let (services, protocol) = (&facts.names.config.services, facts.packet.protocol);
    // Some packets are dropped before their service counts.
    let has_it =
        |s: &&Service| has(s, to.ip()) && s.protocol == protocol && s.ports.have(to.port());
    // One with all ports gives way.
    let has_all = |s: &&Service| s.ports == config::Ports::All;
    if let Some(service) = services.iter().filter(has_it).min_by_key(has_all) {
        return vec![format!("{to} is service {}.", of_service(service)), verdict];
    }
    let there: Vec<String> = services.iter().filter(|s| has(s, to.ip())).map(place).collect();
    let known = match (there.is_empty(), services.is_empty()) {
        (false, _) => format!("at that address there is {}", there.join(", ")),
        (true, false) => {
            let all: Vec<String> = services.iter().map(place).collect();
            format!("there is {}", all.join(", "))
        }
        (true, true) => "no service is configured".into(),
    };
    vec![format!("No service has {to} over {protocol}: {known}."), verdict]
}

fn is_steering(config: &config::Config, to: SocketAddr, protocol: Protocol) -> bool {
    let addresses = [config.balancer.ipv4.map(IpAddr::V4), config.balancer.ipv6.map(IpAddr::V6)];
    let port = config.steering.as_ref().map(|steering| steering.port);
    protocol == Protocol::Udp && port == Some(to.port()) && addresses.contains(&Some(to.ip()))
}

fn has(service: &Service, address: IpAddr) -> bool {
    let joins = service.backends.iter().filter_map(|backend| backend.join_address);
    service.address == address || joins.into_iter().any(|join| join == address)
}

fn place(service: &Service) -> String {
    format!("{} ({} over {})", service.name, service.endpoint(), service.protocol)
}

/// The reason why a backend takes no new flows.
fn why_not(backend: &BackendStatus) -> String {
    let name = &backend.name;
    match backend {
        BackendStatus { health: State::Down, reason: Some(reason), .. } => {
            format!("Backend {name} is down: {reason}.")
        }
        BackendStatus { health: State::Down, .. } => {
            format!("Backend {name} fails its health check.")
        }
        BackendStatus { unreachable: Some(why), .. } => format!("Backend {name}: {why}."),
        BackendStatus { draining: true, .. } => format!("Backend {name} is drained."),
        BackendStatus { weight: 0, .. } => format!("Backend {name} has weight 0."),
        _ => format!("Backend {name} is up."),
    }
}
