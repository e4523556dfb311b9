//! Inspection of handshakes at ToRs.

use heddle_policy::{Handshake, Ingress, Scheme, TcpFlags, Tor};
use heddle_transport::{Connection, Kind};

use super::Simulation;

impl<S: Scheme> Simulation<'_, S> {
    /// Passes a handshake packet to the scheme of `switch`, if it is the ToR of either end. TCP is
    /// parsed at these ToRs only.
    #[cold]
    pub(super) fn inspect_handshake(&mut self, switch: u32, packet: u32) {
        let hot = &self.network.packets.hot[packet as usize];
        let body = &self.network.packets.body[packet as usize];
        let here = (switch < self.fabric.tors).then_some(Tor(switch as u16));
        let tuple = body.five_tuple(hot.dst_host);
        let (ingress, out) = if here == Some(hot.src_tor) {
            (Ingress::Host, tuple)
        } else if here == Some(hot.dst_tor) {
            (Ingress::Fabric, tuple.reversed())
        } else {
            return;
        };
        let mut area = [0; 40];
        let len = Connection::options(self.hosts.groups(), &body.segment, &mut area);
        let flags = flags(body.segment.kind);
        let seen = Handshake { out_hash: out.hash(), ingress, flags, options: &area[..len] };
        self.switching.handshake(self.now, switch, &seen);
    }
}

/// TCP flags of a segment. There is no FIN: a finished connection sends nothing more.
fn flags(kind: Kind) -> TcpFlags {
    match kind {
        Kind::Syn => TcpFlags::SYN,
        Kind::SynAck => TcpFlags::SYN | TcpFlags::ACK,
        Kind::Data
        | Kind::Ack
        | Kind::HandshakeAck
        | Kind::Trimmed
        | Kind::Nack
        | Kind::Request
        | Kind::Credit => TcpFlags::ACK,
    }
}
