//! Random parameters of Shuttle, and the load of a switch's ports.

use heddle_policy::{ShuttleChoice, ShuttleConfig, ShuttleRules, ShuttleSubflows};
use heddle_units::Bytes;

use super::{association, hops, hula};
use crate::draw::Draw;
use crate::input::{Input, PortLoad};

pub(super) fn parameters(draw: &mut impl Draw) -> ShuttleConfig {
    let (association, hula) = (association(draw), hula(draw));
    let tables = hops(draw, association);
    let rules = ShuttleRules {
        full_queue: Bytes(1 << draw.choose(&[16, 12, 0, 31, 40])),
        range: 1 << draw.choose(&[1, 0, 2, 8, 9]),
        draws: draw.choose(&[1, 2, 0, 3]),
        choice: draw.choose(&[
            ShuttleChoice::Weighted,
            ShuttleChoice::Weighted,
            ShuttleChoice::Least,
        ]),
        subflows: draw.choose(&[
            ShuttleSubflows::Apart,
            ShuttleSubflows::FirstFree,
            ShuttleSubflows::Alike,
        ]),
    };
    ShuttleConfig { tables, rules, hula }
}

/// The input with a load of the ports that it may lead to, at a switch of `ports` ports.
pub(super) fn loaded(mut input: Input, ports: u16, draw: &mut impl Draw) -> Input {
    match &mut input {
        Input::Packet(packet) => packet.load = load(&packet.next_hops, draw),
        Input::Probe(probe) => {
            let ports: Vec<u16> = (0..ports.min(10)).collect();
            probe.load = load(&ports, draw);
        }
        _ => {}
    }
    input
}

/// Load of most of the ports.
fn load(ports: &[u16], draw: &mut impl Draw) -> Vec<PortLoad> {
    let mut all = Vec::new();
    for &port in ports {
        if draw.chance(3, 4) {
            let util = draw.choose(&[0, 15 << 8, 25 << 8, 1 << 15, 60_000, 65_535, 0x1234]);
            let queue = draw.choose(&[0, 1_500, 32_768, 65_536, 200_000, u32::MAX]);
            all.push(PortLoad(port, util, queue));
        }
    }
    all
}
