//! Balancers to be measured: with one service, and what a daemon loads for others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_balancer_maps::abi::*;
use heddle_balancer_maps::maps::{Prefix, ServiceLimit};
use heddle_balancer_maps::steering::SteeringKey;
use heddle_balancer_maps::{Balancer, Clock, Error, Sizes};
use heddle_hashing::RING_SIZE;

use super::cases::Case;
use super::frames::SERVER_ID;

pub const VIP4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10));
pub const VIP6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x10));
pub const PORT: u16 = 443;
pub const UDP_PORT: u16 = 444;
pub const BACKENDS: u32 = 16;

const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub const OTHER_BALANCER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3));
pub const STEERING_PORT: u16 = 7077;
pub const KEY: SteeringKey = [1, 2];
/// The address of a service that no packet is for.
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 20));
const OTHER_SERVICE: u16 = 2;

/// Parts that a daemon loads for a configuration or a machine, and that no packet here needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The Ethernet address of an interface.
    Mac,
    /// Those of four; the packets come to the last.
    Macs,
    /// A VLAN interface, and a backend of another service behind it.
    Vlan,
    /// Headers are checked, and sources.
    Invalid,
    /// Another service's address passes no packet to a port without a service.
    ClosedPorts,
    /// Another service asks about sources.
    Access,
    /// Another service has connection ids of QUIC.
    Quic,
    /// There is another balancer, with heartbeats.
    Cluster,
}

impl Feature {
    pub const ALL: [Self; 8] = [
        Self::Mac,
        Self::Macs,
        Self::Vlan,
        Self::Invalid,
        Self::ClosedPorts,
        Self::Access,
        Self::Quic,
        Self::Cluster,
    ];

    /// All that one balancer of its own may have.
    pub const PRODUCTION: [Self; 6] =
        [Self::Macs, Self::Vlan, Self::Invalid, Self::ClosedPorts, Self::Access, Self::Quic];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mac => "MAC address of an interface",
            Self::Macs => "of four interfaces",
            Self::Vlan => "VLAN interface",
            Self::Invalid => "headers and sources are checked",
            Self::ClosedPorts => "closed ports of another address",
            Self::Access => "access to another service",
            Self::Quic => "QUIC of another service",
            Self::Cluster => "another balancer",
        }
    }

    fn add_to(self, balancer: &mut Balancer) -> Result<(), Error> {
        let maps = &mut balancer.maps;
        let mut settings = maps.settings.get()?;
        let other = Vip { id: OTHER_SERVICE, kind: VipKind::Service as u8, ..Vip::default() };
        let alone = |choices| Vip { kind: VipKind::Address as u8, choices, ..Vip::default() };
        match self {
            Self::Mac => settings.macs[0] = mac(1),
            Self::Macs => settings.macs[..4].copy_from_slice(&[mac(4), mac(3), mac(2), mac(1)]),
            Self::Vlan => {
                let free = settings.macs.iter().position(|word| *word == 0).unwrap_or(0);
                let words = [mac(5) | 7 << MAC_VLAN_SHIFT, mac(1)];
                settings.macs[free..free + 2].copy_from_slice(&words);
                let target = Target { vlan: 7, ..maps.targets.get(1)? };
                maps.targets.set(BACKENDS + 2, &target)?;
            }
            Self::Invalid => {
                settings.forwards_invalid = 0;
                for address in [VIP4, VIP6, OTHERS] {
                    settings.service_bits |= Settings::source_bit(address.into());
                    maps.vips.insert(&key(address, 0, 0), &alone(0))?;
                }
            }
            Self::ClosedPorts => {
                settings.closes_ports = 1;
                maps.vips.insert(&key(OTHERS, 0, 0), &alone(DROPS_CLOSED as u8))?;
            }
            Self::Access => {
                let access = (ACCESS_FILTERED | ACCESS_LIMITED) as u8;
                maps.vips.insert(&key(OTHERS, PORT, 6), &Vip { access, ..other })?;
                let source = AccessSource { vip: OTHER_SERVICE, ..AccessSource::default() };
                let prefix = Prefix { bits: ACCESS_SERVICE_BITS, data: source };
                maps.access_rules.insert(prefix, &(AccessRule::Deny as u32))?;
                let limit = ServiceLimit { service: 1000, ..ServiceLimit::default() };
                maps.access_limits.set(OTHER_SERVICE, Some(limit))?;
            }
            Self::Quic => {
                let choices = Vip::quic_choices(0, SERVER_ID.len() as u8);
                maps.vips.insert(&key(OTHERS, PORT, 17), &Vip { choices, ..other })?;
                maps.quic_servers.insert(&QuicServer::new(OTHER_SERVICE, 0, &SERVER_ID), &1)?;
            }
            Self::Cluster => {
                settings.heartbeat = 600;
                maps.settings.set(&settings)?;
                return add_other_balancer(balancer);
            }
        }
        maps.settings.set(&settings)
    }
}

/// 02:00:00:00:00:`last`, as an interface's own.
fn mac(last: u64) -> u64 {
    2 | last << 40 | MAC_RECEIVED | MAC_SENT
}

fn key(address: IpAddr, port: u16, protocol: u8) -> VipKey {
    VipKey { address: address.into(), port: port.to_be(), protocol, ..VipKey::default() }
}

/// A balancer with room for so many flows and tokens, with one service.
pub fn balancer(case: &Case, flows: u32, features: &[Feature]) -> Result<Balancer, Error> {
    let sizes = Sizes { flows, tokens: flows, services: 15, maglev_tables: 2, ..Sizes::default() };
    let mut balancer = Balancer::load(&sizes, Clock::Kernel)?;
    let maps = &mut balancer.maps;
    let vip = Vip { id: 1, kind: VipKind::Service as u8, mode: case.mode as u8, ..Vip::default() };
    maps.vips.insert(&key(case.vip, PORT, 6), &vip)?;
    let quic = Vip { choices: Vip::quic_choices(0, SERVER_ID.len() as u8), ..vip };
    maps.vips.insert(&key(case.vip, PORT, 17), &quic)?;
    maps.vips.insert(&key(case.vip, UDP_PORT, 17), &vip)?;
    maps.quic_servers.insert(&QuicServer::new(1, 0, &SERVER_ID), &1)?;
    for index in 1..=BACKENDS {
        let target = Target {
            address: case.outer.into(),
            id: index,
            ifindex: 1,
            mac: [2, 0, 0, 0, 0, 2],
            source_mac: [2, 0, 0, 0, 0, 1],
            mtu: 1500,
            state: TargetState::Up as u8,
            forwarding: case.forwarding as u8,
            ..Target::default()
        };
        maps.targets.set(index, &target)?;
        maps.target_ids.insert(&index, &index)?;
    }
    let table: Vec<u32> = (0..MAGLEV_SIZE).map(|slot| 1 + slot % BACKENDS).collect();
    maps.maglev.write(0, &table)?;
    maps.settings.set(&settings())?;
    features.iter().try_for_each(|feature| feature.add_to(&mut balancer))?;
    if case.cluster {
        add_other_balancer(&mut balancer)?;
    }
    Ok(balancer)
}

fn add_other_balancer(balancer: &mut Balancer) -> Result<(), Error> {
    let (index, maps) = (BACKENDS + 1, &mut balancer.maps);
    let backend = maps.targets.get(1)?;
    let target = Target {
        address: OTHER_BALANCER.into(),
        id: 1000,
        forwarding: Forwarding::Steering as u8,
        ..backend
    };
    maps.targets.set(index, &target)?;
    maps.target_ids.insert(&target.id, &index)?;
    maps.peers.insert(&OTHER_BALANCER.into(), &index)?;
    maps.ring.write(0, &[index; RING_SIZE])?;
    let key = key(OWN, STEERING_PORT, 17);
    let vip = Vip { kind: VipKind::Steering as u8, ..Vip::default() };
    maps.vips.insert(&key, &vip)?;
    let all = Limit { per_tick: u32::MAX / 2, burst: u32::MAX / 2 };
    let settings = maps.settings.get()?;
    maps.settings.set(&Settings { peers: 1, query: all, ..settings })
}

fn settings() -> Settings {
    Settings {
        seed: [0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211],
        maglev_seed: 7,
        own4: OWN.into(),
        own6: IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1)).into(),
        steering_keys: [KEY, [0; 2]],
        steering_port: STEERING_PORT.to_be(),
        gue_port: 6080_u16.to_be(),
        syn_timeout: 60_000,
        flow_timeout: 60_000,
        closing_timeout: 60_000,
        udp_timeout: 60_000,
        provisional_timeout: 60_000,
        token_timeout: 60_000,
        refresh: 20_000,
        learning: 60_000,
        forwards_invalid: 1,
        ..Settings::default()
    }
}
