//! Switches without a network, for tests on single frames.

use std::net::IpAddr;
use std::time::Duration;

use heddle_bpf_loader::Action;
use heddle_switch::frames::{MptcpOption, Tcp};
use heddle_switch::rig::Rig;
use heddle_switch_maps::abi::{CflbCipher, CflbConstants, HulaConfig, MpHulaConfig, ShuttleConfig};
use heddle_switch_maps::{Hook, Scheme};

/// Long enough that no two frames of a test are so far apart, however busy the machine is.
pub const GAP: Duration = Duration::from_secs(3);

pub fn hula() -> HulaConfig {
    HulaConfig {
        probe_period: 200_000,
        fail_after: 60_000_000_000,
        flowlet_gap: GAP.as_nanos() as u64,
        salt: 1,
        flowlet_slots: 1024,
        tors: 2,
        is_tor: 1,
        util_bits: 8,
        ..HulaConfig::default()
    }
}

pub fn mp_hula() -> MpHulaConfig {
    MpHulaConfig {
        hula: hula(),
        idle_after: 60_000_000_000,
        best_k: 2,
        mapping_rows: 1024,
        association_slots: 1024,
        shuttle: ShuttleConfig {
            full_queue_shift: 16,
            range_shift: 1,
            draws: 1,
            ..ShuttleConfig::default()
        },
        ..MpHulaConfig::default()
    }
}

pub const CFLB: CflbConstants = CflbConstants {
    key: [7; 16],
    low: 0,
    high: 0,
    radix: 8,
    field: 0,
    cipher: CflbCipher::Rc5 as u8,
    rules: 0,
    pad: [0; 7],
};

/// IP addresses of the host and of one behind the other ToR, and a packet between them.
pub fn packet(v6: bool, option: MptcpOption) -> Tcp {
    let (source, destination) = if v6 { ("fd00::1", "fd00::2") } else { ("10.0.0.1", "10.0.1.1") };
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    Tcp::new(address(source), address(destination), (4000, 5000)).with(option)
}

/// A VLAN tag in a frame.
pub fn tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, 42], &frame[12..]].concat()
}

/// A shim between the link header and IP.
pub fn shimmed(frame: &[u8], subflow: u8) -> Vec<u8> {
    let shim = [0x88, 0xb5, 0, 0, 0, 1, 0, 0, 0, 2, subflow << 4, 0];
    [&frame[..12], &shim, &frame[12..]].concat()
}

/// A packet that left a host's ToR, without the shim that CONGA adds to all.
pub fn without_shim(scheme: Scheme, frame: Vec<u8>) -> Vec<u8> {
    if scheme != Scheme::Conga {
        return frame;
    }
    assert_eq!(frame[12..14], [0x88, 0xb5], "a shim");
    [&frame[..12], &frame[24..]].concat()
}

/// The hooks at which frames can be run.
pub const HOOKS: [Hook; 2] = [Hook::Xdp, Hook::Tc];

pub fn rig(scheme: Scheme) -> Rig {
    rig_at(Hook::Xdp, scheme)
}

pub fn rig_at(hook: Hook, scheme: Scheme) -> Rig {
    Rig::at(hook, scheme, mp_hula(), (scheme == Scheme::Cflb).then_some(&CFLB)).unwrap()
}

pub fn run(rig: &Rig, frame: &[u8]) -> (Action, Vec<u8>) {
    let run = rig.switch.run(frame).unwrap();
    (run.action, run.data)
}

/// The same, with the check that the frame was in exactly one verdict.
pub fn judged(rig: &Rig, frame: &[u8], name: &str) -> (Action, Vec<u8>) {
    let before = rig.verdicts().unwrap();
    let (action, data) = run(rig, frame);
    assert_eq!(rig.verdicts().unwrap(), before + 1, "{name}: one verdict");
    assert!(
        matches!(action, Action::Drop | Action::Pass | Action::Tx | Action::Redirect),
        "{name}: {action:?}"
    );
    (action, data)
}
