//! The balancer that the corpus is for, as vectors/balancer/README.md describes it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use heddle_balancer_maps::abi::{
    Address, Forwarding, MAGLEV_SIZE, MAGLEV_STRIDE, MptcpMode, RING_SIZE, Settings, Target,
    TargetState, Vip, VipKey, VipKind,
};
use heddle_balancer_maps::{Balancer, Clock, Explainer, Sizes};

use crate::corpus::cases::{Block, from_hex};

pub const SERVICES: u16 = 9;
/// Longer than anything is remembered.
const ERA: u32 = 100_000;
const TCP: u8 = 6;
const UDP: u8 = 17;
const OTHER: u32 = 32;

pub fn address(text: &str) -> Address {
    text.parse::<IpAddr>().unwrap().into()
}

/// Service: port, protocol, what it does for MPTCP, its Maglev table and whom that names first.
const fn services() -> [(u16, u16, u8, MptcpMode, u32, u32); SERVICES as usize] {
    use MptcpMode::{Learn, Off, SourceIp};
    [
        (1, 443, TCP, Learn, 0, 1),
        (2, 443, UDP, Off, 1, 1),
        (3, 80, TCP, Off, 2, 3),
        (4, 8443, TCP, Learn, 3, 4),
        (5, 8080, TCP, Off, 4, 5),
        (6, 8081, TCP, Off, 5, 6),
        (7, 9000, TCP, Off, 6, 0),
        (8, 81, TCP, Off, 7, 7),
        (9, 8088, TCP, SourceIp, 0, 1),
    ]
}

/// A target's index, which is also the last byte of its MAC address; its id, how packets reach it,
/// its address.
const TARGETS: [(u32, u32, Forwarding, &str); 8] = [
    (1, 1001, Forwarding::Ipip, "10.1.0.1"),
    (2, 1002, Forwarding::Ipip, "10.1.0.2"),
    (3, 1003, Forwarding::L2, "10.1.0.3"),
    (4, 1004, Forwarding::Gue, "10.1.0.4"),
    (5, 1005, Forwarding::Ipip, "fd00:1::5"),
    (6, 1006, Forwarding::Gue, "fd00:1::6"),
    (7, 1007, Forwarding::L2, "10.1.0.7"),
    (OTHER, 102, Forwarding::Steering, "10.0.0.2"),
];

pub struct World {
    pub balancer: Balancer,
    explainer: Explainer,
    now: u32,
    /// Names of states whose frames were explained: they are the same each time.
    explained: BTreeSet<String>,
}

impl World {
    pub fn new() -> World {
        let (services, targets) = (SERVICES.into(), 2 * OTHER);
        let sizes = Sizes { services, targets, maglev_tables: 8, ..Sizes::small() };
        let balancer = Balancer::load(&sizes, Clock::Settings).unwrap();
        let explainer = balancer.explainer().unwrap();
        let mut world = World { balancer, explainer, now: 1000, explained: BTreeSet::new() };
        world.set_services();
        world.balancer.maps.peers.insert(&address("10.0.0.2"), &OTHER).unwrap();
        world
    }

    /// Nothing is known any more, and all is set as at first.
    pub fn forget(&mut self) {
        self.now += ERA;
        self.balancer.maps.settings.set(&settings(self.now)).unwrap();
        self.balancer.maps.ring.write(0, &vec![0; 3 * RING_SIZE as usize]).unwrap();
        (0..8).for_each(|index| self.set_target(index, TargetState::Up));
        self.hash(0, 1);
        self.hash(1, 1);
    }

    /// Brings a state about. Its frames are explained the first time.
    pub fn enter(&mut self, state: &Block) {
        let explains = self.explained.insert(state.name.clone());
        state.steps().for_each(|(word, value)| self.step(word, value, explains));
    }

    fn step(&mut self, word: &str, value: &str, explains: bool) {
        match word {
            "frame" => {
                let frame = from_hex(value);
                if explains {
                    self.explain(&frame).unwrap();
                }
                self.balancer.program.run(&frame, 1).unwrap();
            }
            "hash" => self.hash(0, target_named(value)),
            "datagrams" => self.hash(1, target_named(value)),
            "wait" => {
                let ticks: u32 = value.parse().unwrap();
                self.now += ticks;
                self.balancer.maps.settings.set_now(self.now).unwrap();
            }
            "down" => self.set_target(target_named(value) as usize - 1, TargetState::Down),
            "joins" => self.change(|settings| settings.most_joins = value.parse().unwrap()),
            "ring" => {
                let owner = if value == "other" { OTHER } else { 0 };
                for part in [0, 2] {
                    let owners = vec![owner; RING_SIZE as usize];
                    self.balancer.maps.ring.write(part * RING_SIZE as usize, &owners).unwrap();
                }
                self.change(|settings| settings.peers = 1);
            }
            _ => panic!("no such step: {word}"),
        }
    }

    /// Explains a frame: no map may change by that.
    pub fn explain(&mut self, frame: &[u8]) -> Result<(), String> {
        match self.explainer.changed_by(frame).unwrap() {
            Some(map) => Err(format!("{map} was changed by explaining {frame:02x?}")),
            None => Ok(()),
        }
    }

    pub fn now(&self) -> u32 {
        self.now
    }

    fn change(&mut self, how: impl FnOnce(&mut Settings)) {
        let mut settings = self.balancer.maps.settings.get().unwrap();
        how(&mut settings);
        self.balancer.maps.settings.set(&settings).unwrap();
    }

    fn hash(&mut self, table: u32, target: u32) {
        let slots = [target; MAGLEV_SIZE as usize];
        self.balancer.maps.maglev.write((table * MAGLEV_STRIDE) as usize, &slots).unwrap();
    }

    fn set_target(&mut self, at: usize, state: TargetState) {
        let (index, id, forwarding, at) = TARGETS[at];
        let target = Target {
            address: address(at),
            id,
            ifindex: if index == 7 { 2 } else { 1 },
            mac: [2, 0, 0, 1, 0, index as u8],
            source_mac: [2, 0, 0, 0, 0, 0xb],
            mtu: 1500,
            state: state as u8,
            forwarding: forwarding as u8,
            ..Target::default()
        };
        self.balancer.maps.targets.set(index, &target).unwrap();
        self.balancer.maps.target_ids.insert(&id, &index).unwrap();
    }

    fn set_services(&mut self) {
        for (id, port, protocol, mode, table, target) in services() {
            self.hash(table, target);
            let table = table * MAGLEV_STRIDE;
            let vip =
                Vip { id, kind: VipKind::Service as u8, mode: mode as u8, table, ..Vip::default() };
            for at in ["192.0.2.80", "2001:db8::80"] {
                self.set_vip(at, port, protocol, vip);
                let alone = Vip { kind: VipKind::Address as u8, ..Vip::default() };
                self.set_vip(at, 0, 0, alone);
            }
        }
        let direct = Vip { id: 1, kind: VipKind::Direct as u8, target: 2, ..Vip::default() };
        self.set_vip("203.0.113.7", 443, TCP, direct);
        let steering = Vip { kind: VipKind::Steering as u8, ..Vip::default() };
        self.set_vip("10.0.0.1", 7000, UDP, steering);
    }

    fn set_vip(&mut self, at: &str, port: u16, protocol: u8, vip: Vip) {
        let key =
            VipKey { address: address(at), port: port.to_be(), protocol, ..VipKey::default() };
        self.balancer.maps.vips.insert(&key, &vip).unwrap();
    }
}

fn target_named(name: &str) -> u32 {
    match name {
        "b1" => 1,
        "b2" => 2,
        _ => panic!("no such target: {name}"),
    }
}

fn settings(now: u32) -> Settings {
    Settings {
        seed: [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210],
        maglev_seed: 9,
        steering_keys: [[0x1122_3344_4433_2211, 0x5566_7788_8877_6655], [0; 2]],
        own4: address("10.0.0.1"),
        own6: address("fd00::1"),
        steering_port: 7000_u16.to_be(),
        gue_port: 6080_u16.to_be(),
        syn_timeout: 600,
        flow_timeout: 18_000,
        closing_timeout: 300,
        udp_timeout: 1200,
        provisional_timeout: 600,
        token_timeout: 7200,
        learning: 300,
        // The corpus has one flaw a packet, and not always a checksum.
        forwards_invalid: 1,
        now,
        ..Settings::default()
    }
}
