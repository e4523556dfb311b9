//! The packets that are measured, each with the verdict that it must have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_balancer_maps::abi::{Counter, Forwarding, MptcpMode, SteeringKind};
use heddle_bpf_loader::Clients;

use super::balancers::{VIP4, VIP6};
use super::frames::{ACK, CAPABLE, DSS, JOIN, KEYS, SYN, datagram, frame, message, quic};

pub const MILLION: u32 = 1 << 20;

/// A packet to be measured, and how.
pub struct Case {
    pub name: &'static str,
    pub mode: MptcpMode,
    pub forwarding: Forwarding,
    pub outer: IpAddr,
    pub vip: IpAddr,
    /// Sent before the measurement, by each client.
    pub first: Vec<Vec<u8>>,
    pub frame: Vec<u8>,
    pub clients: Clients,
    pub verdict: Counter,
    /// There is another balancer, the first one of all slots.
    pub cluster: bool,
}

fn case(name: &'static str, mode: MptcpMode, frame: Vec<u8>, verdict: Counter) -> Case {
    Case {
        name,
        mode,
        forwarding: Forwarding::Ipip,
        outer: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
        vip: VIP4,
        first: vec![],
        frame,
        clients: Clients::AsWritten,
        verdict,
        cluster: false,
    }
}

pub fn cases() -> Vec<Case> {
    use Clients::{Many, Shuffled};
    use Forwarding::{Gue as ForwardGue, L2 as ForwardL2};
    let outer4 = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
    let outer6 = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));
    let ack = |vip| frame(vip, ACK, &[], 0);
    let syn = |vip| frame(vip, SYN, &[], 0);
    let base = case;
    let known = |name, mode| Case {
        first: vec![syn(VIP4), ack(VIP4), ack(VIP4)],
        ..base(name, mode, ack(VIP4), Counter::SentFlow)
    };
    let primary = |name| Case {
        first: vec![
            frame(VIP4, SYN, &CAPABLE, 0),
            frame(VIP4, ACK, &KEYS, 0),
            frame(VIP4, ACK, &DSS, 0),
            ack(VIP4),
        ],
        ..known(name, MptcpMode::Learn)
    };
    vec![
        base("for no service", MptcpMode::Learn, frame(outer4, ACK, &[], 0), Counter::PassNoVip),
        known("known flow, IPIP, off", MptcpMode::Off),
        known("known flow, IPIP, learn", MptcpMode::Learn),
        primary("known MPTCP flow, IPIP, learn"),
        Case {
            clients: Many(1 << 16),
            ..known("known flow, IPIP, off, 64 K flows", MptcpMode::Off)
        },
        Case {
            clients: Shuffled(1 << 16),
            ..known("known flow, IPIP, off, 64 K flows shuffled", MptcpMode::Off)
        },
        Case {
            clients: Many(1 << 16),
            ..known("known flow, IPIP, learn, 64 K flows", MptcpMode::Learn)
        },
        Case {
            clients: Shuffled(1 << 16),
            ..known("known flow, IPIP, learn, 64 K flows shuffled", MptcpMode::Learn)
        },
        Case {
            clients: Many(1 << 19),
            ..known("known flow, IPIP, off, 512 K flows", MptcpMode::Off)
        },
        Case {
            clients: Shuffled(1 << 19),
            ..known("known flow, IPIP, off, 512 K flows shuffled", MptcpMode::Off)
        },
        Case {
            clients: Many(1 << 19),
            ..known("known flow, IPIP, learn, 512 K flows", MptcpMode::Learn)
        },
        Case {
            clients: Shuffled(1 << 19),
            ..known("known flow, IPIP, learn, 512 K flows shuffled", MptcpMode::Learn)
        },
        Case { forwarding: ForwardL2, ..known("known flow, L2, learn", MptcpMode::Learn) },
        Case { forwarding: ForwardGue, ..known("known flow, GUE, learn", MptcpMode::Learn) },
        Case {
            vip: VIP6,
            outer: outer6,
            first: vec![syn(VIP6), ack(VIP6), ack(VIP6)],
            frame: ack(VIP6),
            ..known("known flow, IPv6 in IPv6, learn", MptcpMode::Learn)
        },
        Case { clients: Many(1 << 16), ..primary("known MPTCP flow, IPIP, learn, 64 K flows") },
        Case {
            first: vec![datagram(VIP4), datagram(VIP4)],
            ..base("known UDP flow, IPIP", MptcpMode::Off, datagram(VIP4), Counter::SentFlow)
        },
        Case {
            first: vec![quic(VIP4), quic(VIP4)],
            ..base("QUIC by connection id, IPIP", MptcpMode::Off, quic(VIP4), Counter::SentQuic)
        },
        base("SYN, off, one flow again", MptcpMode::Off, syn(VIP4), Counter::SentSyn),
        base("SYN, learn, one flow again", MptcpMode::Learn, syn(VIP4), Counter::SentSyn),
        Case {
            clients: Many(MILLION),
            ..base("SYN, off, inserts", MptcpMode::Off, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(MILLION),
            ..base("SYN, learn, inserts", MptcpMode::Learn, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(4 * MILLION),
            first: vec![syn(VIP4)],
            ..base("SYN, off, full table", MptcpMode::Off, syn(VIP4), Counter::SentSyn)
        },
        Case {
            clients: Many(4 * MILLION),
            first: vec![syn(VIP4)],
            ..base("SYN, learn, full table", MptcpMode::Learn, syn(VIP4), Counter::SentSyn)
        },
        base(
            "SYN MP_CAPABLE, one flow again",
            MptcpMode::Learn,
            frame(VIP4, SYN, &CAPABLE, 0),
            Counter::SentCapable,
        ),
        Case {
            clients: Many(MILLION),
            ..base(
                "SYN MP_CAPABLE, inserts",
                MptcpMode::Learn,
                frame(VIP4, SYN, &CAPABLE, 0),
                Counter::SentCapable,
            )
        },
        Case {
            first: vec![frame(VIP4, SYN, &CAPABLE, 0)],
            ..base(
                "ACK with keys, again",
                MptcpMode::Learn,
                frame(VIP4, ACK, &KEYS, 0),
                Counter::SentKeys,
            )
        },
        base(
            "SYN MP_JOIN, unknown token",
            MptcpMode::Learn,
            frame(VIP4, SYN, &JOIN, 0),
            Counter::SentJoinUnknown,
        ),
        Case {
            cluster: true,
            ..base(
                "SYN MP_JOIN, asked of another balancer",
                MptcpMode::Learn,
                frame(VIP4, SYN, &JOIN, 0),
                Counter::QueriedJoin,
            )
        },
        Case {
            cluster: true,
            ..base(
                "another balancer's registration of a flow",
                MptcpMode::Learn,
                message(SteeringKind::RegisterFlow, Some(&ack(VIP4))),
                Counter::SentForPeer,
            )
        },
        Case {
            cluster: true,
            ..base(
                "heartbeat, answered",
                MptcpMode::Learn,
                message(SteeringKind::Heartbeat, None),
                Counter::HeartbeatAnswered,
            )
        },
    ]
}
