//! Random parameters of Shuttle, and the load of a switch's ports.

use super::{association, hula};
use crate::config::{ChoiceRule, ShuttleParameters, SubflowsRule};
use crate::draw::Draw;
use crate::input::{Input, PortLoad};

pub(super) fn parameters(draw: &mut impl Draw) -> ShuttleParameters {
    ShuttleParameters {
        association: association(draw),
        hula: hula(draw),
        best_k: draw.choose(&[2, 1, 3, 4, 8]),
        mapping_rows: draw.choose(&[2, 1, 8]),
        full_queue_shift: draw.choose(&[16, 12, 0, 31, 40]),
        range_shift: draw.choose(&[1, 0, 2, 8, 9]),
        draws: draw.choose(&[1, 2, 0, 3]),
        choice: draw.choose(&[ChoiceRule::Weighted, ChoiceRule::Weighted, ChoiceRule::Least]),
        subflows: draw.choose(&[SubflowsRule::Apart, SubflowsRule::FirstFree, SubflowsRule::Alike]),
    }
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
