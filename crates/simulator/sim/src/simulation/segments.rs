//! Inspection of TCP's sequence numbers at the ToRs of senders.

use heddle_policy::{ReceiveWindow, Scheme, Segment, SequenceNumbers, Tor};
use heddle_transport::{Connection, Kind};

use super::Simulation;
use crate::network::{Hot, PacketKind};

impl<S: Scheme> Simulation<'_, S> {
    /// Passes a segment to the scheme of `switch`, if it is the ToR of the host that sends the
    /// data. A host whose receive window the scheme closes sends nothing new before the next
    /// acknowledgement. Under MPTCP windows stay as they are: they are those of connections, not of
    /// subflows.
    #[inline]
    pub(super) fn inspect_segment(&mut self, switch: u32, packet: u32) {
        let Hot { src_tor, dst_tor, kind, .. } = self.network.packets.hot[packet as usize];
        let here = Tor(switch as u16);
        let host_tor = if kind == PacketKind::Forward { src_tor } else { dst_tor };
        if switch >= self.fabric.tors || host_tor != here || src_tor == dst_tor {
            return;
        }
        let Some(segment) = self.segment_of(packet) else { return };
        let window = self.switching.segment(self.now, switch, &segment);
        if window == ReceiveWindow::Closed && Connection::paths(self.hosts.groups()) == 1 {
            self.network.packets.body[packet as usize].segment.window = 0;
        }
    }

    /// Sequence numbers of a packet as TCP numbers them: a SYN is number 0, and the first byte of
    /// data number 1. `None` of a packet that neither carries data nor acknowledges any.
    fn segment_of(&self, packet: u32) -> Option<Segment> {
        let hot = &self.network.packets.hot[packet as usize];
        let body = &self.network.packets.body[packet as usize];
        let tuple = body.five_tuple(hot.dst_host);
        let segment = &body.segment;
        let next = (segment.seq as u32).wrapping_add(1);
        let (tuple, numbers) = match (hot.kind, segment.kind) {
            (PacketKind::Forward, Kind::Syn) => {
                (tuple, SequenceNumbers::Sent { seq: 0, bytes: 1, is_syn: true })
            }
            (PacketKind::Forward, Kind::Data) => {
                let bytes = segment.len.into();
                (tuple, SequenceNumbers::Sent { seq: next, bytes, is_syn: false })
            }
            (PacketKind::Reverse, Kind::SynAck) => {
                (tuple.reversed(), SequenceNumbers::Acknowledged { ack: 1 })
            }
            (PacketKind::Reverse, Kind::Ack) => {
                (tuple.reversed(), SequenceNumbers::Acknowledged { ack: next })
            }
            _ => return None,
        };
        Some(Segment { out_hash: tuple.hash(), numbers })
    }
}
