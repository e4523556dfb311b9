//! The parts of the balancer that send packets, each as a program of its own.

use std::path::Path;
use std::sync::LazyLock;

use aya::maps::Array;
use aya::programs::{TestRun, TestRunOptions, Xdp};
use aya::{Ebpf, EbpfLoader};
use heddle_balancer_maps::abi::{Forwarding, Settings, Target};

use super::frames::{Family, Link, address};

pub const FLOW_HASH: u32 = 0x1234_5678;
pub const GUE_PORT: u16 = 6080;
pub const STEERING_PORT: u16 = 7000;

/// The ingress interface of frames in BPF_PROG_RUN: the loopback device.
pub const CAME_BY: u32 = 1;
pub const ELSEWHERE: u32 = 7;

pub const TX: i32 = 3;
pub const REDIRECT: i32 = 4;
pub const DROP: i32 = 1;
pub const PASS: i32 = 2;
pub const FAILED: i32 = -1;
pub const TOO_BIG: i32 = -2;

pub const NEXT_HOP: [u8; 6] = [2, 0, 0, 0, 0, 0x11];
pub const OUTWARD_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x22];

const OURSELVES: u8 = 1;
const TARGET: u8 = 7;

pub const fn ourselves(family: Family) -> std::net::IpAddr {
    address(family, OURSELVES)
}

pub const fn target_address(family: Family) -> std::net::IpAddr {
    address(family, TARGET)
}

/// The link that `link`'s frames leave by to a target of this VLAN; 0: of none.
pub fn outward(link: Link, vlan: u16) -> Link {
    Link { destination: NEXT_HOP, source: OUTWARD_MAC, ..link.in_vlan(vlan) }
}

pub fn settings() -> Settings {
    Settings {
        own4: ourselves(Family::V4).into(),
        own6: ourselves(Family::V6).into(),
        gue_port: GUE_PORT.to_be(),
        steering_port: STEERING_PORT.to_be(),
        ..Settings::default()
    }
}

pub fn target(family: Family, forwarding: Forwarding) -> Target {
    Target {
        address: target_address(family).into(),
        ifindex: ELSEWHERE,
        mac: NEXT_HOP,
        source_mac: OUTWARD_MAC,
        forwarding: forwarding as u8,
        ..Target::default()
    }
}

pub struct Sending {
    object: Ebpf,
}

impl Sending {
    pub fn load() -> Self {
        let mut object = EbpfLoader::new().load(&OBJECT).unwrap();
        for (_, program) in object.programs_mut() {
            <&mut Xdp>::try_from(program).unwrap().load().unwrap();
        }
        let mut this = Self { object };
        this.set("settings", settings());
        this
    }

    pub fn set<T: aya::Pod>(&mut self, map: &str, value: T) {
        let mut map: Array<_, T> = self.object.map_mut(map).unwrap().try_into().unwrap();
        map.set(0, value, 0).unwrap();
    }

    pub fn get<T: aya::Pod>(&self, map: &str) -> T {
        let map: Array<_, T> = self.object.map(map).unwrap().try_into().unwrap();
        map.get(&0, 0).unwrap()
    }

    /// The program's return code, and the frame after it.
    pub fn run(&self, program: &str, frame: &[u8]) -> (i32, Vec<u8>) {
        let program: &Xdp = self.object.program(program).unwrap().try_into().unwrap();
        let mut after = vec![0; frame.len() + 256];
        let mut options = TestRunOptions::new();
        options.data_in = Some(frame);
        options.data_out = Some(&mut after);
        let result = program.test_run(options).unwrap();
        after.truncate(result.data_size_out as usize);
        (result.return_value.cast_signed(), after)
    }
}

static OBJECT: LazyLock<Vec<u8>> = LazyLock::new(compile);

fn compile() -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sending/sending.bpf.c");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sending.o");
    heddle_bpf_build::compile_once(&source, &object).expect("clang is needed");
    std::fs::read(object).unwrap()
}
