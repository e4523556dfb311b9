//! Another hop for a running flowlet whose packets wait.
//!
//! At a ToR, which its own hosts fill, a flowlet of an MPTCP subflow leaves a hop whose queue is
//! longer than another's by more than `reroute_above`. Queues alone count: the switch's own now,
//! and of the path behind it what the remote figure tells above a full link, which is a queue.
//! Utilisation does not: it is old, and running flowlets would follow it all at once. Hops of the
//! connection's other subflows are not taken.
//!
//! Packets that were sent before may arrive after those that follow. Flowlets without a shim (TCP)
//! stay: they lose more by reordering than they gain.

use super::{Shuttle, choice::FULL};
use crate::{Header, Port, Ports, Step, mptcp_tables::owner};

impl Shuttle {
    /// The hop to which a packet's running flowlet moves from `current`; `None` if it stays.
    #[inline]
    pub(super) fn reroute(
        &self,
        step: Step,
        current: Port,
        packet: &Header,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Option<Port> {
        let above = self.config.rules.reroute_above.0;
        let waits = above > 0 && self.tor.is_some() && packet.shim.is_some();
        if !waits || u64::from(ports.queue_bytes(current)) <= above {
            return None;
        }
        let remote = self.hops.known(packet.dst_tor).find(|&(port, _)| port == current);
        let queue = self.path_queue(current, remote.map_or(0, |(_, remote)| remote), ports);
        let (least, port) = self.shortest(step, current, packet, hops, ports)?;
        (queue > least.saturating_add(above)).then_some(port)
    }

    /// The known hop but `current` with the shortest queue that the flowlet may take, after that
    /// queue; of equals the first.
    fn shortest(
        &self,
        step: Step,
        current: Port,
        packet: &Header,
        hops: &[Port],
        ports: &mut impl Ports,
    ) -> Option<(u64, Port)> {
        let avoided = self.avoided(owner(packet), step.now);
        let others = self.hops.known(packet.dst_tor).filter(|&(port, _)| port != current);
        let mut shortest = None;
        for (port, remote) in others {
            if !hops.contains(&port)
                || !self.config.hula.usable(port, ports)
                || avoided.clone().any(|other| other == port)
            {
                continue;
            }
            let queue = self.path_queue(port, remote, ports);
            if shortest.is_none_or(|(least, _)| queue < least) {
                shortest = Some((queue, port));
            }
        }
        shortest
    }

    /// Bytes that wait on a path: at the own port, and at the remote link that its figure tells of.
    fn path_queue(&self, port: Port, remote: u16, ports: &mut impl Ports) -> u64 {
        let beyond = u64::from(self.links(remote).saturating_sub(FULL));
        let remote = (beyond << self.config.rules.full_queue_shift()) >> 16;
        u64::from(ports.queue_bytes(port)) + remote
    }
}
