//! A configuration, its plan and its names, for tests.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use super::names::{Former, Names};
use crate::config::{self, Backend, Config, Member};
use crate::ids::WireId;
use crate::neighbours::NextHop;
use crate::plan::{self, Plan};

const FILE: &str = "
    balancer = { name = 'lb1', interfaces = ['eth0'] }
    balancers = [{ name = 'lb1', address = '10.0.0.1' }, { name = 'lb2', address = '10.0.0.2' }]
    steering = { secret_file = 's' }
    [[service]]
    name = 'web'
    address = '192.0.2.10'
    port = 443
    backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be2', address = '10.0.1.2' }]
";

/// The next hop of an address in the tests.
pub(super) fn hop(source: IpAddr) -> NextHop {
    let mac = [2, 0, 0, 0, 0, 1];
    NextHop { ifindex: 2, vlan: 0, mac, source_mac: mac, mtu: 1500, source }
}

/// Two balancers, of which this one is lb1, and a service with two backends.
pub(super) struct World {
    pub(super) config: Config,
    plan: Plan,
    members: Vec<Member>,
    pub(super) former: BTreeMap<WireId, Former>,
}

impl World {
    pub(super) fn start() -> World {
        World::of(FILE)
    }

    /// The service is QUIC's, and be2 is server 00a2.
    pub(super) fn with_quic() -> World {
        let quic = "protocol = 'udp'\n    quic = { server_id_length = 2 }\n    backend = ";
        let mut file = FILE.replace("backend = ", quic);
        for number in ["1", "2"] {
            let address = format!("'10.0.1.{number}'");
            file = file.replace(&address, &format!("{address}, server_id = '00a{number}'"));
        }
        World::of(&file)
    }

    fn of(file: &str) -> World {
        let config = config::load("lb.toml", file).unwrap();
        let members = config.members().to_vec();
        let backends = config.services[0].backends.iter().map(|backend| backend.address);
        let addresses = backends.chain(members.iter().map(|member| member.address));
        let world = plan::World {
            now: Duration::ZERO,
            tick: 1,
            own: config.balancer.member.as_ref().map(|member| member.id),
            balancers: &members,
            listed: &members,
            health: &BTreeMap::new(),
            drained: &BTreeMap::new(),
            next_hops: &addresses.map(|address| (address, hop(address))).collect(),
            down_since: &BTreeMap::new(),
            drained_since: &BTreeMap::new(),
            up_since: &BTreeMap::new(),
            has_placed_flows: true,
            peer_tables_changed: false,
            peer_flows_unexplained: false,
            macs: &BTreeMap::new(),
        };
        let plan = Plan::default().next(&config, &world).unwrap();
        World { config, plan, members, former: BTreeMap::new() }
    }

    pub(super) fn names(&self) -> Names<'_> {
        let World { config, plan, members, former } = self;
        Names { config, plan, members, former }
    }

    /// The index of a backend or a balancer.
    pub(super) fn index(&self, name: &str) -> u16 {
        let targets = &self.plan.maps.targets;
        *targets.keys().find(|index| self.names().target(**index) == name).unwrap()
    }
}

/// A backend of the service.
pub(super) fn backend<'a>(world: &'a World, name: &str) -> &'a Backend {
    world.config.services[0].backends.iter().find(|backend| backend.name == name).unwrap()
}

/// The first token that is in a balancer's part of the token space.
pub(super) fn token_of(world: &World, name: &str) -> u32 {
    let index = world.index(name);
    let slot = world.plan.maps.ring.iter().position(|owner| *owner == index).unwrap();
    (slot as u32) << heddle_balancer_maps::abi::RING_SHIFT
}
