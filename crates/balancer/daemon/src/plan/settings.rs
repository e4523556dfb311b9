//! The data plane's settings.

use std::fmt;
use std::net::IpAddr;

use heddle_balancer_maps::abi::{self, Address, Limit, VipKind};
use sha2::{Digest, Sha256};

use super::{Maps, macs, ticks};
use crate::config::{ClosedPorts, Config, Service};
use crate::service::in_maps;

/// ICMP errors a second and processor: Linux's own limit for all hosts together
/// (`net.ipv4.icmp_msgs_per_sec`).
const ICMP_ERRORS: u32 = 1000;

/// Ticks of silence after which another balancer is suspect: 34 ms, in which one heartbeat and
/// mostly two come.
const SUSPECT_TICKS: u32 = 2;

/// The secrets of the data plane. Never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    /// Of this balancer's own tables: 128 random bits, the same as long as its pinned tables live.
    pub seed: [u64; 2],
    /// [`Secret::maglev_seed`](crate::config::Secret::maglev_seed), or 0 without a secret.
    pub maglev_seed: u64,
    /// [`Secret::steering_key`](crate::config::Secret::steering_key) of the secret that signs, and
    /// of one that is accepted beside it; 0: there is none.
    pub steering: [[u64; 2]; 2],
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}

/// The settings for these maps.
pub fn settings(config: &Config, keys: &Keys, maps: &Maps) -> abi::Settings {
    let time = &config.timeouts;
    let address = |address: Option<IpAddr>| address.map(Address::from).unwrap_or_default();
    maps.derived().on(abi::Settings {
        seed: keys.seed,
        maglev_seed: keys.maglev_seed,
        steering_keys: keys.steering,
        own4: address(config.balancer.ipv4.map(IpAddr::V4)),
        own6: address(config.balancer.ipv6.map(IpAddr::V6)),
        steering_port: config.steering.as_ref().map_or(0, |steering| steering.port).to_be(),
        gue_port: config.gue_port.to_be(),
        most_joins: config.limits.joins,
        most_source_joins: config.limits.source_joins,
        syn_timeout: ticks(time.syn),
        flow_timeout: ticks(time.established),
        closing_timeout: ticks(time.closing),
        udp_timeout: ticks(time.udp),
        provisional_timeout: ticks(time.provisional),
        token_timeout: ticks(time.token),
        refresh: ticks(time.refresh),
        learning: ticks(time.learning),
        learn: limit(config.limits.midstream_keys),
        query: limit(config.limits.queries),
        errors: limit(ICMP_ERRORS),
        macs: macs::words(&maps.macs),
        heartbeat: if maps.peers.is_empty() { 0 } else { SUSPECT_TICKS },
        fingerprint: fingerprint(config, keys),
        service_bits: service_bits(maps),
        forwards_invalid: config.balancer.forwards_invalid.into(),
        closes_ports: config.services.iter().any(closes_ports).into(),
        abi: abi::HEDDLE_ABI,
        ..abi::Settings::default()
    })
}

/// The bits of all addresses that are services'.
fn service_bits(maps: &Maps) -> u64 {
    let alone = maps.vips.iter().filter(|(_, vip)| vip.kind == VipKind::Address as u8);
    alone.fold(0, |bits, (name, _)| bits | abi::Settings::source_bit(name.address.into()))
}

/// True if packets to ports without a service are not passed at the service's address.
fn closes_ports(service: &Service) -> bool {
    matches!(service.closed_ports, Some(ClosedPorts::Drop | ClosedPorts::Refuse))
}

/// A number that balancers have in common if they place flows alike: made of the seed, the services
/// and their backends.
fn fingerprint(config: &Config, keys: &Keys) -> u32 {
    let mut services: Vec<_> =
        config.services.iter().map(|service| (service.key(), service)).collect();
    services.sort_by_key(|(key, _)| (key.address, key.port, key.protocol));
    let mut digest = Sha256::new().chain_update(keys.maglev_seed.to_be_bytes());
    for (key, service) in services {
        digest.update(key.address.octets());
        digest.update([key.protocol, in_maps(service.mptcp) as u8]);
        digest.update(key.port.to_be_bytes());
        digest.update(service.ports.each().end().to_be_bytes());
        digest.update(service.quic.map(super::quic::choices).as_slice());
        let mut backends: Vec<_> = service.backends.iter().collect();
        backends.sort_by_key(|backend| backend.id);
        digest.update((backends.len() as u64).to_be_bytes());
        for backend in backends {
            digest.update(backend.id.get().to_be_bytes());
            digest.update(backend.weight.to_be_bytes());
            let flags = [backend.drained, backend.in_maintenance, backend.sorry];
            let flags = flags.iter().rev().fold(0, |all, &flag| all << 1 | u8::from(flag));
            digest.update([flags]);
            digest.update(backend.address.to_string());
            digest.update([0]);
            digest.update(backend.server_id.as_deref().unwrap_or_default());
        }
    }
    digest.finalize().iter().take(4).fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// A rate per second as one per tick, rounded up, with a second's worth at once.
fn limit(per_second: u32) -> Limit {
    let per_tick = (u64::from(per_second) << abi::TICK_SHIFT).div_ceil(1_000_000_000);
    Limit { per_tick: per_tick as u32, burst: per_second }
}
