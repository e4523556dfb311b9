//! The control plane: writes the state of the cluster into the balancers' maps.
//!
//! A target has another index on each balancer, as it would in life: only names may pass between
//! balancers.

use std::collections::BTreeSet;
use std::net::IpAddr;

use heddle_balancer_maps::abi::{
    DROPS_CLOSED, Forwarding, MAGLEV_SIZE, MAGLEV_STRIDE, MptcpMode, NO_TARGET, PeerState,
    QuicServer, REFUSES_CLOSED, RING_SIZE, STAMP_SHIFT, Settings, Target, TargetState, Vip, VipKey,
    VipKind,
};
use heddle_balancer_maps::{Balancer, Error};
use heddle_hashing::{maglev, ring::Ring};
use heddle_wire::quic::ServerIds;

use crate::cluster::{Member, Peers};
use crate::frames::heartbeat;
use crate::network::{
    self, GUE_PORT, OTHER_PORT, PORT, SERVICE_OTHER, SERVICE_TCP, SERVICE_UDP, SERVICES,
    STEERING_PORT,
};
use crate::{Cluster, Random, server_id};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Ids of the first backend and of the first balancer, the same at all balancers.
const BACKEND_IDS: u32 = 1000;
const BALANCER_IDS: u32 = 100;
/// Index of the first other balancer among the targets.
const PEERS: u32 = 256;
/// Distance of the other service's targets, and of their ids, from those of the first one.
const OTHERS: u32 = 128;

/// The device that BPF_PROG_RUN says frames come by: loopback.
const CAME_BY: u32 = 1;

/// Index of a backend among a balancer's targets.
fn has_slots(state: TargetState) -> bool {
    matches!(state, TargetState::Up | TargetState::Failing)
}

pub(crate) fn backend_index(balancer: usize, backend: usize) -> u32 {
    (1 + balancer + backend) as u32
}

fn peer_index(balancer: usize, peer: usize) -> u32 {
    PEERS + (balancer + peer) as u32
}

fn backend_id(backend: usize) -> u32 {
    BACKEND_IDS + backend as u32
}

fn balancer_id(balancer: usize) -> u32 {
    BALANCER_IDS + balancer as u32
}

impl Cluster {
    /// Writes the state of the cluster into the balancers' maps: backends, weights, each other. It
    /// is a new epoch.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn publish(&mut self) -> Result<(), Error> {
        let alive: Vec<usize> = self.alive().collect();
        self.ring = ring_of(&alive);
        alive.iter().try_for_each(|&balancer| self.publish_to(balancer, &alive))
    }

    /// Writes the state of the backends, and the cluster as this balancer alone sees it, into its
    /// maps: `view` are the balancers that it takes for alive, itself included. It is a new epoch
    /// of this balancer.
    ///
    /// # Errors
    /// Those of the kernel.
    ///
    /// # Panics
    /// If the balancer is dead.
    pub fn publish_to(&mut self, balancer: usize, view: &[usize]) -> Result<(), Error> {
        let mut member = self.balancers[balancer].take().expect("a dead balancer sees nothing");
        let written = self.write_maps(balancer, &mut member, view);
        self.balancers[balancer] = Some(member);
        written
    }

    /// Has each balancer's daemon send a heartbeat to each other balancer, dead ones included,
    /// which do not answer.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn beat(&mut self) -> Result<(), Error> {
        let all: Vec<usize> = self.alive().collect();
        for (&from, &to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            let (asker, asked) = (network::balancer_address(from), network::balancer_address(to));
            if from != to {
                self.send(to, &heartbeat(asker, asked, network::KEY, self.now, 0))?;
            }
        }
        Ok(())
    }

    /// A balancer's state of another one.
    ///
    /// # Panics
    /// If the balancer is dead.
    pub fn peer_state(&self, balancer: usize, peer: usize) -> PeerState {
        let at = self.balancer(balancer).expect("a dead balancer knows nothing");
        at.maps.peer_states.get(peer_index(balancer, peer))
    }

    /// The balancer that owns a token, as was published last; none where none was alive.
    pub fn owner(&self, token: u32) -> Option<usize> {
        Some((self.ring.owner(token)? - BALANCER_IDS) as usize)
    }

    /// The balancer that keeps a token beside its owner, as was published last; none where there
    /// were not two.
    pub fn second(&self, token: u32) -> Option<usize> {
        Some((self.ring.second(token)? - BALANCER_IDS) as usize)
    }

    /// The backend behind a target of a balancer.
    pub fn backend_of(&self, balancer: usize, target: u16) -> Option<usize> {
        usize::from(target)
            .checked_sub(1 + balancer)
            .filter(|&backend| backend < self.backends.len())
    }

    fn write_maps(&self, at: usize, member: &mut Member, view: &[usize]) -> Result<(), Error> {
        self.write_targets(at, &mut member.balancer)?;
        self.write_peers(at, &mut member.balancer, view)?;
        write_ring(at, member, &ring_of(view))?;
        let table = maglev::table(&self.weighted(at));
        let mut words = maglev::stamped(&table, member.table.as_deref(), self.stamp());
        let failing = self.failing(at);
        let anew = |target| failing.contains(&target) != member.failing.contains(&target);
        maglev::stamp_targets(&mut words, anew, self.stamp());
        member.failing = failing;
        let balancer = &mut member.balancer;
        balancer.maps.maglev.write(0, &words)?;
        member.table = Some(words);
        self.write_services(at, balancer)?;
        if self.setup.grouped {
            self.write_other_service(at, balancer)?;
        }
        member.epoch = member.epoch.wrapping_add(1);
        let peers = view.len() > 1 && self.setup.peers == Peers::Known;
        let settings = Settings { epoch: member.epoch, ..self.settings_of(at, peers) };
        balancer.maps.settings.set(&settings)
    }

    fn failing(&self, at: usize) -> BTreeSet<u32> {
        let all = self.backends.iter().enumerate();
        let failing = all.filter(|(_, backend)| backend.state == TargetState::Failing);
        failing.map(|(number, _)| backend_index(at, number)).collect()
    }

    fn stamp(&self) -> u16 {
        (self.now >> STAMP_SHIFT) as u16
    }

    fn write_targets(&self, at: usize, balancer: &mut Balancer) -> Result<(), Error> {
        for backend in 0..self.backends.len() {
            let index = backend_index(at, backend);
            balancer.maps.targets.set(index, &self.backend_target(backend))?;
            balancer.maps.target_ids.insert(&backend_id(backend), &index)?;
            if let Some(ids) = self.setup.quic {
                let id = server_id(ids, backend);
                let server = QuicServer::new(SERVICE_UDP, ids.rotation(), &id);
                balancer.maps.quic_servers.insert(&server, &index)?;
            }
        }
        Ok(())
    }

    /// Writes the other balancers. Those that are taken for dead are down; what they send is heard.
    fn write_peers(
        &self,
        at: usize,
        balancer: &mut Balancer,
        alive: &[usize],
    ) -> Result<(), Error> {
        for peer in (0..self.setup.balancers).filter(|&peer| peer != at) {
            let (index, address) = (peer_index(at, peer), network::balancer_address(peer).ip());
            let up = alive.contains(&peer);
            let target = Target {
                address: address.into(),
                id: balancer_id(peer),
                forwarding: Forwarding::Steering as u8,
                ..self.target(if up { TargetState::Up } else { TargetState::Down })
            };
            balancer.maps.targets.set(index, &target)?;
            balancer.maps.target_ids.insert(&balancer_id(peer), &index)?;
            balancer.maps.peers.insert(&address.into(), &index)?;
        }
        Ok(())
    }

    fn target(&self, state: TargetState) -> Target {
        let (mtu, vlan) = (self.setup.mtu, self.setup.vlan);
        Target { ifindex: CAME_BY, mtu, vlan, state: state as u8, ..Target::default() }
    }

    fn backend_target(&self, backend: usize) -> Target {
        Target {
            address: network::backend_address(backend).into(),
            id: backend_id(backend),
            mac: network::backend_mac(backend),
            forwarding: self.setup.forwarding as u8,
            ..self.target(self.backends[backend].state)
        }
    }

    /// Backends with their weights, as a balancer's Maglev table names them.
    fn weighted(&self, at: usize) -> Vec<maglev::Weighted> {
        let weighted = |(number, backend): (usize, &crate::Backend)| maglev::Weighted {
            id: backend_id(number),
            weight: if has_slots(backend.state) { backend.weight } else { 0 },
            target: backend_index(at, number),
        };
        self.backends.iter().enumerate().map(weighted).collect()
    }

    fn write_services(&self, at: usize, balancer: &mut Balancer) -> Result<(), Error> {
        let group = if self.setup.grouped { SERVICE_TCP } else { 0 };
        let choices = |ids: ServerIds| Vip::quic_choices(ids.rotation(), ids.length());
        let choices = self.setup.quic.map_or(0, choices);
        let service = |id, mode| Vip {
            id,
            kind: VipKind::Service as u8,
            mode: mode as u8,
            group: if id == SERVICE_TCP { group } else { 0 },
            choices: if id == SERVICE_UDP { choices } else { 0 },
            access: self.setup.access as u8,
            several_ports: (self.setup.ports > 1).into(),
            first_port: PORT.to_be(),
            ..Vip::default()
        };
        let of_kind = |kind| Vip { kind: kind as u8, ..Vip::default() };
        let vips = &mut balancer.maps.vips;
        for address in SERVICES {
            for port in PORT..PORT + self.setup.ports {
                vips.insert(&key(address, port, TCP), &service(SERVICE_TCP, self.setup.mode))?;
                vips.insert(&key(address, port, UDP), &service(SERVICE_UDP, MptcpMode::Off))?;
            }
            let choices = self.setup.choices as u8;
            let alone = Vip { choices, ..of_kind(VipKind::Address) };
            vips.insert(&key(address, 0, 0), &alone)?;
        }
        if self.setup.mode == MptcpMode::Off {
            for backend in 0..self.backends.len() {
                let (address, target) =
                    (network::join_address(backend), backend_index(at, backend));
                let direct =
                    Vip { id: SERVICE_TCP, target: target as u16, ..of_kind(VipKind::Direct) };
                vips.insert(&key(address, PORT, TCP), &direct)?;
            }
        }
        let address = network::balancer_address(at);
        vips.insert(&key(address.ip(), address.port(), UDP), &of_kind(VipKind::Steering))
    }

    /// The other service of the group, whose backends have targets of its own.
    fn write_other_service(&self, at: usize, balancer: &mut Balancer) -> Result<(), Error> {
        let maps = &mut balancer.maps;
        let mut weighted = self.weighted(at);
        for (backend, taker) in weighted.iter_mut().enumerate() {
            let (shared, own) = (taker.target, taker.target + OTHERS);
            taker.target = own;
            let id = backend_id(backend) + OTHERS;
            maps.targets.set(own, &Target { id, ..self.backend_target(backend) })?;
            maps.target_ids.insert(&id, &own)?;
            let key = |target: u32| u32::from(SERVICE_OTHER) << 16 | target;
            maps.group_targets.insert(&key(own), &shared)?;
            maps.group_targets.insert(&key(shared), &own)?;
        }
        maps.maglev.write(MAGLEV_STRIDE as usize, &maglev::table(&weighted))?;
        let vip = Vip {
            id: SERVICE_OTHER,
            kind: VipKind::Service as u8,
            mode: self.setup.mode as u8,
            table: MAGLEV_STRIDE,
            group: SERVICE_TCP,
            ..Vip::default()
        };
        SERVICES.into_iter().try_for_each(|at| maps.vips.insert(&key(at, OTHER_PORT, TCP), &vip))
    }

    fn settings_of(&self, at: usize, peers: bool) -> Settings {
        let mut random = Random::new(at as u64);
        Settings {
            seed: [random.bits(), random.bits()],
            own4: network::balancer_address(at).ip().into(),
            steering_port: STEERING_PORT.to_be(),
            gue_port: GUE_PORT.to_be(),
            peers: peers.into(),
            closes_ports: (self.setup.choices & (DROPS_CLOSED | REFUSES_CLOSED) != 0).into(),
            service_bits: SERVICES
                .into_iter()
                .fold(0, |bits, at| bits | Settings::source_bit(at.into())),
            now: self.now,
            ..self.setup.settings
        }
    }
}

fn ring_of(balancers: &[usize]) -> Ring {
    Ring::new(&balancers.iter().map(|&balancer| balancer_id(balancer)).collect::<Vec<u32>>())
}

/// Writes a balancer's ring, with the owners before where they have changed. A balancer that has
/// only just come was none of them.
fn write_ring(at: usize, member: &mut Member, ring: &Ring) -> Result<(), Error> {
    let (first, second) = (targets(at, ring.owners()), targets(at, ring.seconds()));
    if member.ring.is_empty() {
        let before = first.iter().zip(&second);
        member.former = before
            .map(|(&first, &second)| if first == NO_TARGET { second } else { first })
            .collect();
    } else if member.ring != first {
        member.former = std::mem::take(&mut member.ring);
    }
    member.ring = first;
    for (part, owners) in [&member.ring, &member.former, &second].into_iter().enumerate() {
        member.balancer.maps.ring.write(part * RING_SIZE as usize, owners)?;
    }
    Ok(())
}

/// Balancers' ids, as a balancer's targets; all its own if there are none.
fn targets(at: usize, ids: &[u32]) -> Vec<u32> {
    let owner = |&id: &u32| match (id - BALANCER_IDS) as usize {
        own if own == at => NO_TARGET,
        peer => peer_index(at, peer),
    };
    match ids {
        [] => vec![NO_TARGET; RING_SIZE as usize],
        ids => ids.iter().map(owner).collect(),
    }
}

pub(crate) fn key(address: IpAddr, port: u16, protocol: u8) -> VipKey {
    VipKey { address: address.into(), port: port.to_be(), protocol, ..VipKey::default() }
}

const _: () = assert!(MAGLEV_SIZE as usize == maglev::SLOTS);
