//! Servers that grant credit ([`Connection::grant`](heddle_transport::Connection::grant)): each host
//! to its connections in turn, a little below the rate of its link.

use heddle_units::{Bytes, Rate, Time};

use super::entropy::At;
use super::turns::{Turns, Waiting};
use super::{HostContext, Hosts};
use crate::engine::Event;
use crate::network::PacketKind;

/// Share of its link's rate at which a host grants credit, in percent: less than all, so that a
/// queue before it empties (uet-htsim, NDP).
const PACE: u64 = 99;

/// Connections that wait for credit at each interface.
#[derive(Default)]
pub(super) struct Pacers {
    turns: Turns,
    /// Time from which each interface may grant again.
    free_at: Vec<Time>,
}

/// The next turn to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// A connection, now.
    Of(u32),
    /// The next one at a time for which no event is pending.
    At(Time),
}

impl Pacers {
    /// The next turn of an interface.
    fn turn(&mut self, interface: u32, now: Time) -> Option<Turn> {
        let free_at = self.free_at.get(interface as usize).copied().unwrap_or_default();
        match free_at > now {
            true => self.turns.awaits_event(interface, now, free_at).then_some(Turn::At(free_at)),
            false => self.turns.next(interface).map(|next| Turn::Of(next.connection)),
        }
    }

    /// An interface has granted bytes, whose time on its link is to pass.
    fn granted(&mut self, interface: u32, now: Time, (bytes, rate): (Bytes, Rate)) {
        let interface = interface as usize;
        if interface >= self.free_at.len() {
            self.free_at.resize(interface + 1, Time::ZERO);
        }
        self.free_at[interface] = now + Time(rate.time_for(bytes).0 * 100 / PACE);
    }

    /// Forgets a connection that closes.
    pub(super) fn forget(&mut self, id: u32) {
        self.turns.forget(id);
    }
}

impl Hosts {
    /// Grants credit to a connection in its turn, if it wants any.
    pub(super) fn wait_for_credit(&mut self, cx: &mut HostContext, id: u32) {
        if !self.connections[id as usize].transport.wants_credit() {
            return;
        }
        let at = At { now: cx.now, connection: id, path: 0 };
        let interface = self.five_tuple(cx, at, PacketKind::Reverse, None).from.into();
        if let Some(pacers) = &mut self.pacers {
            pacers.turns.join(interface, Waiting::on_one(id));
        }
        self.grant_in_turn(cx, interface);
    }

    /// Handles the event of a host that may grant credit.
    pub(crate) fn credit_due(&mut self, cx: &mut HostContext, interface: u32) {
        self.grant_in_turn(cx, interface);
    }

    /// Grants credit to the next connection while the host may.
    fn grant_in_turn(&mut self, cx: &mut HostContext, interface: u32) {
        while let Some(pacers) = &mut self.pacers {
            let id = match pacers.turn(interface, cx.now) {
                Some(Turn::Of(id)) => id,
                Some(Turn::At(at)) => {
                    return cx.network.events.schedule(at, Event::Credit(interface));
                }
                None => return,
            };
            let transport = &mut self.connections[id as usize].transport;
            let Some((segment, bytes)) = transport.grant(&self.groups) else { continue };
            if transport.wants_credit() {
                pacers.turns.join(interface, Waiting::on_one(id));
            }
            // An interface has the number of its port.
            let rate = cx.fabric.rate_of(&cx.fabric.ports[interface as usize]);
            pacers.granted(interface, cx.now, (bytes, rate));
            self.transmit(cx, id, (0, segment), PacketKind::Reverse);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::gbps(100);

    /// The interface.
    const HOST: u32 = 3;

    /// A full packet of 4154 bytes takes 332.32 ns at 100 Gbps, and a hundredth more between grants:
    /// 335.68 ns.
    const PACKET: u64 = 4154;

    /// Serves demands of connections, in full packets, four at a time: time in picoseconds,
    /// connection and packets of each grant.
    fn served(mut demands: [u64; 2]) -> Vec<(u64, u32, u64)> {
        let (mut pacers, mut now, mut grants) = (Pacers::default(), Time::ZERO, Vec::new());
        [0, 1].into_iter().for_each(|id| pacers.turns.join(HOST, Waiting::on_one(id)));
        while let Some(turn) = pacers.turn(HOST, now) {
            match turn {
                Turn::At(at) => now = at,
                Turn::Of(id) => {
                    let left = &mut demands[id as usize];
                    let packets = 4.min(*left);
                    *left -= packets;
                    if *left > 0 {
                        pacers.turns.join(HOST, Waiting::on_one(id));
                    }
                    pacers.granted(HOST, now, (Bytes(packets * PACKET), RATE));
                    grants.push((now.0, id, packets));
                }
            }
        }
        grants
    }

    #[test]
    fn two_connections_share_a_link_in_turn() {
        let expected =
            [(0, 0, 4), (1_342_707, 1, 4), (2_685_414, 0, 2), (3_356_767, 1, 4), (4_699_474, 1, 2)];
        assert_eq!(served([6, 10]), expected, "1,342,707 ps for four packets, 671,353 for two");
    }

    #[test]
    fn a_grant_without_bytes_takes_no_time_and_each_interface_has_its_own() {
        let mut pacers = Pacers::default();
        pacers.turns.join(HOST, Waiting::on_one(0));
        pacers.turns.join(HOST + 1, Waiting::on_one(1));
        pacers.granted(HOST, Time::micros(5), (Bytes(4 * PACKET), RATE));
        assert_eq!(pacers.turn(HOST, Time::micros(5)), Some(Turn::At(Time(6_342_707))));
        assert_eq!(pacers.turn(HOST, Time::micros(6)), None, "its event is pending");
        assert_eq!(pacers.turn(HOST + 1, Time::micros(5)), Some(Turn::Of(1)));
        pacers.granted(HOST, Time::micros(7), (Bytes(0), RATE));
        assert_eq!(pacers.turn(HOST, Time::micros(7)), Some(Turn::Of(0)));
    }
}
