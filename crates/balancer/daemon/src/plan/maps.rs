//! The maps' contents.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use heddle_balancer_maps::abi::{self, MAGLEV_STRIDE, TargetState, VipKind};
use heddle_balancer_maps::maps::ServiceLimit;
use heddle_hashing::hash::ServiceKey;
use heddle_hashing::maglev::Weighted;

use super::access::{self, AccessName};
use super::keeps_flows;
use super::quic::ServerName;
use super::{Indices, Phase, Plan, Table, World};
use crate::config::{Backend, ClosedPorts, Config, Echo, Forwarding, Ports, Service, Unparsable};
use crate::ids::WireId;
use crate::links::LinkAddress;
use crate::neighbours::NextHop;
use crate::service::{Protocol, in_maps};

/// The contents of the maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maps {
    /// `vips`.
    pub vips: BTreeMap<VipName, abi::Vip>,
    /// `targets`, by index; those that are not there are empty.
    pub targets: BTreeMap<u16, abi::Target>,
    /// `target_ids`.
    pub ids: BTreeMap<WireId, u16>,
    /// `group_targets`.
    pub group_targets: BTreeMap<u32, u16>,
    /// `quic_servers`.
    pub quic_servers: BTreeMap<ServerName, u16>,
    /// `access_rules`.
    pub access_rules: BTreeMap<AccessName, u32>,
    /// `access_limits`, of services that have one.
    pub access_limits: BTreeMap<u16, ServiceLimit>,
    /// `peers`.
    pub peers: BTreeMap<IpAddr, u16>,
    /// The Maglev tables in use by number: table n begins at slot n * [`MAGLEV_STRIDE`] of `maglev`.
    pub tables: BTreeMap<u32, Table>,
    /// The first part of `ring`, of `RING_SIZE` slots: their owners; empty: not known.
    pub ring: Vec<u16>,
    /// The second part: their owners before the last change.
    pub former_ring: Vec<u16>,
    /// The third part: the second balancer of each, which would be the owner without the owner.
    pub second_ring: Vec<u16>,
    /// `settings.epoch`.
    pub epoch: u8,
    /// `settings.tables_changed`.
    pub tables_changed: bool,
    /// `settings.ask_always`.
    pub ask_always: bool,
    /// `settings.macs`: addresses with their flags; empty: frames' addresses are not compared.
    pub macs: BTreeMap<LinkAddress, u64>,
}

/// The part of the settings that follows from the maps, and is written with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// Increased with each change of ring or tables.
    pub epoch: u8,
    /// True if there are other balancers.
    pub peers: bool,
    /// True if a slot of a Maglev table has changed within `established`.
    pub tables_changed: bool,
    /// True if that is so at another balancer and not here, or that one has flows which neither hash
    /// nor stamps explain: each flow that is not known here may have another backend than the
    /// hash's.
    pub ask_always: bool,
}

impl Derived {
    /// Settings with these values.
    pub fn on(self, settings: abi::Settings) -> abi::Settings {
        abi::Settings {
            epoch: self.epoch,
            peers: self.peers.into(),
            tables_changed: self.tables_changed.into(),
            ask_always: self.ask_always.into(),
            ..settings
        }
    }
}

impl From<&abi::Settings> for Derived {
    fn from(settings: &abi::Settings) -> Derived {
        Derived {
            epoch: settings.epoch,
            peers: settings.peers != 0,
            tables_changed: settings.tables_changed != 0,
            ask_always: settings.ask_always != 0,
        }
    }
}

impl Maps {
    /// The part of the settings that follows from these maps.
    pub fn derived(&self) -> Derived {
        Derived {
            epoch: self.epoch,
            peers: !self.peers.is_empty(),
            tables_changed: self.tables_changed,
            ask_always: self.ask_always,
        }
    }
}

/// A key of `vips`, that can be put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VipName {
    /// The address.
    pub address: IpAddr,
    /// The port, in the machine's order; 0 where the address alone is meant.
    pub port: u16,
    /// Number of the IP protocol; 0 where the address alone is meant.
    pub protocol: u8,
}

impl VipName {
    /// The service of this entry.
    pub fn service_key(&self, vip: &abi::Vip) -> ServiceKey {
        let address = match self.address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let port = if vip.several_ports != 0 { u16::from_be(vip.first_port) } else { self.port };
        ServiceKey { address, port, protocol: self.protocol }
    }

    fn alone(address: IpAddr) -> VipName {
        VipName { address, port: 0, protocol: 0 }
    }
}

impl From<VipName> for abi::VipKey {
    fn from(name: VipName) -> abi::VipKey {
        let VipName { address, port, protocol } = name;
        abi::VipKey { address: address.into(), port: port.to_be(), protocol, pad: 0, pad2: 0 }
    }
}

impl From<abi::VipKey> for VipName {
    fn from(key: abi::VipKey) -> VipName {
        VipName {
            address: key.address.into(),
            port: u16::from_be(key.port),
            protocol: key.protocol,
        }
    }
}

/// All targets that have an index: as wanted, or as they were when they left.
pub(super) fn targets(
    config: &Config,
    world: &World<'_>,
    indices: &Indices<WireId>,
    before: &Maps,
) -> BTreeMap<u16, abi::Target> {
    let mut wanted = backends(config, world);
    wanted.extend(balancers(world));
    let target = |(id, index, phase): (&WireId, u16, Phase)| {
        let old = before.targets.get(&index);
        let target = match (wanted.get(id), phase) {
            (Some(wanted), _) => wanted.resolved(*id, world, old),
            (None, Phase::Closed(_)) => down(old?),
            // Nothing waits for an answer of a balancer that has gone.
            (None, _) if old?.forwarding == abi::Forwarding::Steering as u8 => down(old?),
            (None, _) => removed(old?),
        };
        Some((index, target))
    };
    indices.iter().filter_map(target).collect()
}

/// A backend that no service has any more. Its flows stay; what begins goes to others.
fn removed(target: &abi::Target) -> abi::Target {
    let state = if keeps_flows(target) { TargetState::Removed as u8 } else { target.state };
    abi::Target { state, ..*target }
}

fn down(target: &abi::Target) -> abi::Target {
    abi::Target { state: TargetState::Down as u8, ..*target }
}

/// A target but for its next hop.
struct Wanted {
    address: IpAddr,
    forwarding: abi::Forwarding,
    state: TargetState,
}

impl Wanted {
    /// Without a next hop now, the last one is kept; a target that never had one is down. So is one
    /// that fails its checks and had no flows before.
    fn resolved(&self, id: WireId, world: &World<'_>, old: Option<&abi::Target>) -> abi::Target {
        let hop = world.next_hops.get(&self.address).map(next_hop);
        let hop = hop.or(old.copied()).unwrap_or_default();
        let state = match self.state {
            _ if hop.ifindex == 0 => TargetState::Down,
            TargetState::Failing if !old.is_some_and(keeps_flows) => TargetState::Down,
            state => state,
        };
        abi::Target {
            address: self.address.into(),
            id: id.get(),
            state: state as u8,
            forwarding: self.forwarding as u8,
            ..hop
        }
    }
}

/// The part of a target that its next hop decides.
fn next_hop(hop: &NextHop) -> abi::Target {
    abi::Target {
        ifindex: hop.ifindex,
        mac: hop.mac,
        source_mac: hop.source_mac,
        vlan: hop.vlan,
        mtu: u16::try_from(hop.mtu).unwrap_or(u16::MAX),
        ..abi::Target::default()
    }
}

fn backends(config: &Config, world: &World<'_>) -> BTreeMap<WireId, Wanted> {
    let mut wanted = BTreeMap::new();
    for service in config.owners() {
        for backend in &service.backends {
            let state = world.state_of(service, backend, config.drain_udp);
            let forwarding = forwarding(service.forwarding);
            wanted.insert(backend.id, Wanted { address: backend.address, forwarding, state });
        }
    }
    wanted
}

fn balancers(world: &World<'_>) -> BTreeMap<WireId, Wanted> {
    let wanted = |address, state| Wanted { address, forwarding: abi::Forwarding::Steering, state };
    let dead =
        world.others_listed().map(|member| (member.id, wanted(member.address, TargetState::Down)));
    let alive = world.others().map(|member| (member.id, wanted(member.address, TargetState::Up)));
    dead.chain(alive).collect()
}

fn forwarding(forwarding: Forwarding) -> abi::Forwarding {
    match forwarding {
        Forwarding::L2 => abi::Forwarding::L2,
        Forwarding::Ipip => abi::Forwarding::Ipip,
        Forwarding::Gue => abi::Forwarding::Gue,
    }
}

/// The table of each service with backends of its own, in the same place if it has not changed,
/// else in the service's other place.
pub(super) fn tables(
    config: &Config,
    world: &World<'_>,
    plan: &Plan,
    targets: &BTreeMap<u16, abi::Target>,
    before: &Maps,
) -> BTreeMap<u32, Table> {
    let anew = passed_over_anew(targets, before);
    let table = |service: &Service| {
        let number = plan.tables.index(&service.key())?;
        let takers = takers(service, world, &plan.targets, targets);
        let [first, second] = places(number);
        let (old, used) = match before.tables.get(&first) {
            Some(old) => (Some(old), first),
            None => (before.tables.get(&second), second),
        };
        let stamps = takers.iter().any(|taker| anew.contains(&taker.target));
        let placed_by = old.filter(|_| world.has_placed_flows);
        let mut table = match old {
            Some(old) if old.is_of(&takers) && (placed_by.is_some() || old.is_unstamped()) => {
                old.clone()
            }
            _ => Table::of(takers, placed_by, world.stamp()),
        };
        if placed_by.is_some() && stamps {
            table = table.stamped_anew(&anew, world.stamp());
        }
        let place = match old {
            Some(old) if *old == table => used,
            Some(_) => first + second - used,
            None => first,
        };
        Some((place, table))
    };
    config.owners().filter_map(table).collect()
}

/// True if a service that was there has its flows placed by another table, whether that was written
/// now or is another service's.
pub(super) fn have_other_tables(
    vips: &BTreeMap<VipName, abi::Vip>,
    before: &BTreeMap<VipName, abi::Vip>,
) -> bool {
    vips.iter().any(|(name, vip)| before.get(name).is_some_and(|old| old.table != vip.table))
}

/// The targets that begin or cease to be passed over by new flows.
fn passed_over_anew(targets: &BTreeMap<u16, abi::Target>, before: &Maps) -> BTreeSet<u32> {
    let fails = |targets: &BTreeMap<u16, abi::Target>, index: u16| {
        targets.get(&index).is_some_and(|target| target.state == TargetState::Failing as u8)
    };
    let is_one = |index: &u16| fails(targets, *index) != fails(&before.targets, *index);
    let all = targets.keys().chain(before.targets.keys()).copied();
    all.filter(is_one).map(u32::from).collect()
}

/// The two places of a number's table.
fn places(number: u16) -> [u32; 2] {
    let first = 2 * (u32::from(number) - 1);
    [first, first + 1]
}

/// The number of the place that begins at a slot.
pub(super) fn place_number(slot: u32) -> u16 {
    u16::try_from(slot / MAGLEV_STRIDE / 2 + 1).unwrap_or(u16::MAX)
}

/// The backends of a service's table: those that keep their flows, and are not drained. The data
/// plane passes over one that fails its checks when it places a new connection, so that a short
/// failure changes no table. A backend with `sorry = true` is in the table only while no other
/// backend is up.
fn takers(
    service: &Service,
    world: &World<'_>,
    indices: &Indices<WireId>,
    targets: &BTreeMap<u16, abi::Target>,
) -> Vec<Weighted> {
    let target = |backend: &Backend| {
        let index = indices.index(&backend.id)?;
        Some((index, targets.get(&index)?))
            .filter(|_| !world.is_drained(backend) && backend.weight > 0)
    };
    let is_up = |backend: &&Backend| {
        target(backend).is_some_and(|(_, target)| target.state == TargetState::Up as u8)
    };
    let some_up =
        |sorry: bool| service.backends.iter().filter(|b| b.sorry == sorry).any(|b| is_up(&b));
    let sorry = !some_up(false) && some_up(true);
    let taker = |backend: &Backend| {
        let (index, target) = target(backend)?;
        let weight = world.weight_of(service, backend);
        let weighted = Weighted { id: backend.id.get(), weight, target: index.into() };
        (keeps_flows(target) && backend.sorry == sorry).then_some(weighted)
    };
    service.backends.iter().filter_map(taker).collect()
}

pub(super) fn vips(
    config: &Config,
    plan: &Plan,
    tables: &BTreeMap<u32, Table>,
) -> BTreeMap<VipName, abi::Vip> {
    let mut vips = BTreeMap::new();
    let places: BTreeMap<&str, u32> = config
        .owners()
        .filter_map(|owner| {
            let both = places(plan.tables.index(&owner.key())?);
            Some((owner.name.as_str(), both.into_iter().find(|at| tables.contains_key(at))?))
        })
        .collect();
    // Those with all ports first: the others take their own of them.
    let (all, some): (Vec<_>, Vec<_>) =
        config.services.iter().partition(|service| service.ports == Ports::All);
    for service in all.into_iter().chain(some) {
        let Some(number) = plan.services.index(&service.key()) else { continue };
        let name = |address, port| VipName { address, port, protocol: service.protocol.number() };
        let mode = in_maps(service.mptcp) as u8;
        let group = super::groups::number(config, plan, service);
        let access = access::flags(&service.access);
        let vip = abi::Vip { id: number, mode, group, access, ..abi::Vip::default() };
        let table = places.get(service.owner()).copied().unwrap_or(0);
        let entry = abi::Vip {
            kind: VipKind::Service as u8,
            choices: service.quic.map_or(0, super::quic::choices),
            table: table * MAGLEV_STRIDE,
            several_ports: service.ports.are_several().into(),
            first_port: if service.ports.are_several() { service.ports.first().to_be() } else { 0 },
            ..vip
        };
        vips.extend(service.ports.each().map(|port| (name(service.address, port), entry)));
        for (join, id) in service.backends.iter().filter_map(|b| Some((b.join_address?, b.id))) {
            let Some(target) = plan.targets.index(&id) else { continue };
            vips.insert(
                name(join, service.ports.first()),
                abi::Vip { kind: VipKind::Direct as u8, target, ..vip },
            );
        }
    }
    vips.extend(addresses_alone(config));
    vips.extend(steering(config));
    vips
}

/// The entries of the addresses of services, and of their backends' own, which have the choices of
/// the service's address.
fn addresses_alone(config: &Config) -> BTreeMap<VipName, abi::Vip> {
    let mut of_services = BTreeMap::new();
    for service in &config.services {
        *of_services.entry(service.address).or_insert(0) |= choices(service) as u8;
    }
    let mut vips = BTreeMap::new();
    for service in &config.services {
        let joins = service.backends.iter().filter_map(|backend| backend.join_address);
        let choices = of_services[&service.address];
        let alone = abi::Vip { kind: VipKind::Address as u8, choices, ..abi::Vip::default() };
        let addresses = joins.chain(std::iter::once(service.address));
        vips.extend(addresses.map(|address| (VipName::alone(address), alone)));
    }
    vips
}

/// The choices of a service for packets to its address that are for no service. Those of one address
/// agree on them, but for what cannot be read: one of them may drop that.
fn choices(service: &Service) -> u32 {
    let unparsable = match service.unparsable {
        Unparsable::Drop => abi::DROPS_UNPARSABLE,
        Unparsable::Pass => 0,
    };
    let closed = match service.closed_ports {
        Some(ClosedPorts::Drop) => abi::DROPS_CLOSED,
        Some(ClosedPorts::Refuse) => abi::REFUSES_CLOSED,
        Some(ClosedPorts::Pass) | None => 0,
    };
    let echo = match service.echo {
        Some(Echo::Drop) => abi::DROPS_ECHO,
        Some(Echo::Answer) => abi::ANSWERS_ECHO,
        Some(Echo::Pass) | None => 0,
    };
    unparsable | closed | echo
}

/// The entries at which other balancers reach this one.
fn steering(config: &Config) -> Vec<(VipName, abi::Vip)> {
    let Some(steering) = &config.steering else { return Vec::new() };
    let balancer = &config.balancer;
    let [v4, v6] = [balancer.ipv4.map(IpAddr::V4), balancer.ipv6.map(IpAddr::V6)];
    let addresses = [v4, v6].into_iter().flatten();
    let vip = abi::Vip { kind: VipKind::Steering as u8, ..abi::Vip::default() };
    addresses
        .map(|address| {
            (VipName { address, port: steering.port, protocol: Protocol::Udp.number() }, vip)
        })
        .collect()
}
