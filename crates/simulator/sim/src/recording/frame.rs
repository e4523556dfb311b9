//! A simulated packet as a frame on the wire: Ethernet, IPv4, TCP and its options, those of MPTCP
//! included, without the payload.
//!
//! Addresses, ports and sequence numbers follow from the simulation's numbers. A host's interface
//! has the address 10.0.0.1 plus its number, a port the MAC address 02:00 and its number; initial
//! sequence numbers are the hashes of the 5-tuples. The simulation counts no TCP options in the
//! sizes of packets (as ns-2), so that a frame is longer here by its options. Of time stamps only
//! those exist that a sender reads: clients' own ones and servers' echoes; the others are 0.
//! Selective acknowledgements that leave no room are cut off.

use heddle_fabric::Fabric;
use heddle_policy::cflb::Ports;
use heddle_transport::{Agreed, Kind, Options, Recovery, SackBlock, Segment};
use heddle_wire::ip::{Ipv4Header, TCP};
use heddle_wire::mptcp::{DataSeq, Dss, Mapping};
use heddle_wire::probe::TorId;
use heddle_wire::tcp::{self, CommonOption, MAX_OPTION_BYTES};
use heddle_wire::{
    EmitError, EtherType, EthernetHeader, MptcpOption, Probe, Shim, TcpFlags, TcpHeader,
};

use crate::five_tuple::{FiveTuple, address};
use crate::hosts::Hosts;
use crate::network::{PacketKind, Packets};

/// Headers of the longest frame: Ethernet, MP-HULA's shim, IPv4, TCP with all options.
const MOST_BYTES: usize = EthernetHeader::BYTES + Shim::BYTES + Ipv4Header::BYTES + 60;

/// Bytes of the shortest frame, without the check sequence.
const LEAST_BYTES: usize = 60;

/// TTL of packets whose routers read none: Linux's default.
const TTL: u8 = 64;

/// ECN field of data: ECT(0), and congestion experienced.
const ECT: u8 = 2;
const CE: u8 = 3;

/// A frame: its headers, and its length with its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    bytes: [u8; MOST_BYTES],
    len: usize,
    payload: usize,
}

impl Frame {
    /// The headers, from Ethernet's on. All bytes of the payload are 0.
    pub fn headers(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Bytes of the whole frame, its payload included, without the check sequence.
    pub fn wire_len(&self) -> usize {
        (self.len + self.payload).max(LEAST_BYTES)
    }

    fn empty() -> Frame {
        Frame { bytes: [0; MOST_BYTES], len: 0, payload: 0 }
    }

    /// Appends a header.
    fn put(
        &mut self,
        emit: impl FnOnce(&mut [u8]) -> Result<usize, EmitError>,
    ) -> Result<(), EmitError> {
        self.len += emit(&mut self.bytes[self.len..])?;
        Ok(())
    }
}

/// Makes frames of packets.
pub(super) struct FrameBuilder {
    /// True if hosts' data is ECN-capable: some ports mark.
    pub(super) ecn: bool,
}

impl FrameBuilder {
    /// The frame of a packet on the link of `port`.
    pub(super) fn build(
        &self,
        (fabric, port): (&Fabric, u32),
        (packets, packet): (&Packets, u32),
        hosts: &Hosts,
    ) -> Option<Frame> {
        let hot = &packets.hot[packet as usize];
        let info = &fabric.ports[port as usize];
        let ethernet = |ether_type| EthernetHeader {
            destination: mac(info.peer),
            source: mac(port),
            ether_type,
        };
        if hot.kind == PacketKind::Probe {
            let tor = TorId::new(hot.dst_tor.0.into())?;
            let probe = Probe { tor, path_util: hot.tag.min(u16::from(u8::MAX)) as u8 };
            return probe_frame(&ethernet(EtherType::PROBE), &probe).ok();
        }
        let body = &packets.body[packet as usize];
        let tuple = body.five_tuple(hot.dst_host);
        let (option_area, len) = hosts.options(&body.segment);
        let segment = SegmentHeaders {
            segment: &body.segment,
            is_reverse: hot.kind == PacketKind::Reverse,
            tuple,
            agreed: hosts.agreed(hot.connection),
            handshake: &option_area[..len],
            ecn: self.ecn,
        };
        let header = packets.ports_and_ttl(packet);
        let ports = header.map_or_else(|| segment.ports(), |header| header.ports);
        let ttl = header.map_or(TTL, |header| header.ttl);
        tcp_frame(&ethernet, packets.shim(packet), &segment, (ports, ttl)).ok()
    }
}

/// A locally administered address: that of a port.
fn mac(port: u32) -> [u8; 6] {
    let [a, b, c, d] = port.to_be_bytes();
    [2, 0, a, b, c, d]
}

fn probe_frame(ethernet: &EthernetHeader, probe: &Probe) -> Result<Frame, EmitError> {
    let mut frame = Frame::empty();
    frame.put(|out| ethernet.emit(out))?;
    frame.put(|out| probe.emit(out))?;
    frame.len = LEAST_BYTES;
    Ok(frame)
}

fn tcp_frame(
    ethernet: &dyn Fn(EtherType) -> EthernetHeader,
    shim: Option<Shim>,
    segment: &SegmentHeaders<'_>,
    (ports, ttl): (Ports, u8),
) -> Result<Frame, EmitError> {
    let mut area = [0; MAX_OPTION_BYTES];
    let options = segment.options(&mut area)?;
    let header = segment.header(ports, &area[..options]);
    let payload = usize::from(segment.segment.len);
    let (source, destination) = (address(segment.tuple.from), address(segment.tuple.to));
    let payload_len = (header.len() + payload) as u16;
    let ecn = segment.ip_ecn();
    let mut frame = Frame { payload, ..Frame::empty() };
    frame.put(|out| {
        let first = if shim.is_some() { EtherType::SHIM } else { EtherType::IPV4 };
        ethernet(first).emit(out)
    })?;
    if let Some(shim) = shim {
        frame.put(|out| shim.emit(EtherType::IPV4, out))?;
    }
    let ip = Ipv4Header { source, destination, protocol: TCP, ttl, ecn, payload_len };
    frame.put(|out| ip.emit(out))?;
    frame.put(|out| header.emit((source, destination), payload, out))?;
    Ok(frame)
}

/// A segment, and what its headers need beside it.
struct SegmentHeaders<'a> {
    segment: &'a Segment,
    /// True if the server sends it.
    is_reverse: bool,
    tuple: FiveTuple,
    agreed: Agreed,
    /// MPTCP's option of a handshake; empty without.
    handshake: &'a [u8],
    ecn: bool,
}

impl SegmentHeaders<'_> {
    /// Initial sequence numbers of its sender and of its receiver.
    fn initial_seqs(&self) -> (u32, u32) {
        (self.tuple.hash(), self.tuple.reversed().hash())
    }

    /// Ports of a subflow that is not steered.
    fn ports(&self) -> Ports {
        let Ports { source, destination } = self.tuple.ports();
        match self.is_reverse {
            true => Ports { source: destination, destination: source },
            false => Ports { source, destination },
        }
    }

    fn header<'o>(&self, ports: Ports, options: &'o [u8]) -> TcpHeader<'o> {
        let (own, other) = self.initial_seqs();
        let number = self.segment.seq as u32;
        let (seq, ack) = match self.segment.kind {
            Kind::Syn => (own, 0),
            Kind::SynAck => (own, other.wrapping_add(1)),
            Kind::Data | Kind::HandshakeAck | Kind::Trimmed | Kind::Request => {
                (own.wrapping_add(1).wrapping_add(number), other.wrapping_add(1))
            }
            Kind::Ack | Kind::Nack | Kind::Credit => {
                (own.wrapping_add(1), other.wrapping_add(1).wrapping_add(number))
            }
        };
        TcpHeader {
            source_port: ports.source,
            destination_port: ports.destination,
            seq,
            ack,
            flags: self.flags(),
            window: self.window(),
            options,
        }
    }

    /// Flags; of ECN those of RFC 3168 section 6.1.
    fn flags(&self) -> TcpFlags {
        let when = |is_set: bool, flags| if is_set { flags } else { TcpFlags::default() };
        let ecn = self.segment.ecn;
        match self.segment.kind {
            Kind::Syn => TcpFlags::SYN | when(self.ecn, TcpFlags::ECE | TcpFlags::CWR),
            Kind::SynAck => TcpFlags::SYN | TcpFlags::ACK | when(self.ecn, TcpFlags::ECE),
            Kind::Data | Kind::Trimmed | Kind::Request => {
                TcpFlags::ACK | when(ecn.is_cwr(), TcpFlags::CWR)
            }
            Kind::Ack | Kind::Nack | Kind::Credit => {
                TcpFlags::ACK | when(ecn.is_marked(), TcpFlags::ECE)
            }
            Kind::HandshakeAck => TcpFlags::ACK,
        }
    }

    fn ip_ecn(&self) -> u8 {
        match (self.segment.kind, self.segment.ecn.is_marked()) {
            (Kind::Data, true) => CE,
            (Kind::Data, false) if self.ecn => ECT,
            _ => 0,
        }
    }

    /// The window field: scaled, except in a SYN (RFC 7323 section 2.2).
    fn window(&self) -> u16 {
        let configured = self.agreed.tcp.receive_window.0.min(u64::from(u32::MAX)) as u32;
        let (bytes, shift) = match self.segment.kind {
            Kind::Syn | Kind::SynAck => (configured, 0),
            Kind::Ack | Kind::Nack | Kind::Credit => (self.segment.window, self.window_scale()),
            Kind::Data | Kind::HandshakeAck | Kind::Trimmed | Kind::Request => {
                (configured, self.window_scale())
            }
        };
        (bytes >> shift).min(u32::from(u16::MAX)) as u16
    }

    /// The least shift with which the field holds the receive window, at most 14.
    fn window_scale(&self) -> u8 {
        let bytes = self.agreed.tcp.receive_window.0;
        (0..14).find(|shift| bytes >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    /// Writes the options; returns their length.
    fn options(&self, area: &mut [u8; MAX_OPTION_BYTES]) -> Result<usize, EmitError> {
        let mut len = 0;
        for option in self.first_options().into_iter().flatten() {
            len += option.emit(&mut area[len..])?;
        }
        if !self.handshake.is_empty() {
            area.get_mut(len..len + self.handshake.len())
                .ok_or(EmitError::NoRoom)?
                .copy_from_slice(self.handshake);
            len += self.handshake.len();
        } else if let Some(dss) = self.dss() {
            len += dss.emit(&mut area[len..])?;
        }
        len += self.sack(&mut area[len..])?;
        tcp::pad(area, len)
    }

    /// Options in front of MPTCP's.
    fn first_options(&self) -> [Option<CommonOption<'static>>; 4] {
        let (stamp, tcp) = (self.segment.timestamp.0, &self.agreed.tcp);
        let (value, echo) = if self.is_reverse { (0, stamp) } else { (stamp, 0) };
        let stamps = Some(CommonOption::Timestamps { value, echo });
        if !matches!(self.segment.kind, Kind::Syn | Kind::SynAck) {
            return [stamps, None, None, None];
        }
        let sack = (tcp.recovery == Recovery::Sack).then_some(CommonOption::SackPermitted);
        let mss = Some(CommonOption::MaxSegmentSize(tcp.mss));
        [mss, sack, stamps, Some(CommonOption::WindowScale(self.window_scale()))]
    }

    /// MPTCP's data sequence signal (RFC 8684 section 3.3): the mapping of data, the
    /// acknowledgement.
    fn dss(&self) -> Option<MptcpOption> {
        let (client, server) = self.agreed.data_seqs?;
        let number = self.segment.data_seq;
        let first = |initial: u64| initial.wrapping_add(1);
        let (ack, mapping) = match self.segment.kind {
            Kind::Data => {
                let data_seq = DataSeq::Long(first(client).wrapping_add(number));
                let subflow_seq = (self.segment.seq as u32).wrapping_add(1);
                let len = self.segment.len;
                (first(server), Some(Mapping { data_seq, subflow_seq, len, checksum: None }))
            }
            Kind::Ack => (first(client).wrapping_add(number), None),
            _ => return None,
        };
        Some(MptcpOption::Dss(Dss { fin: false, ack: Some(DataSeq::Long(ack)), mapping }))
    }

    /// Writes as many selective acknowledgements as `area` has room for.
    fn sack(&self, area: &mut [u8]) -> Result<usize, EmitError> {
        // A duplicate comes first (RFC 2883 section 4).
        let blocks = match self.segment.options {
            Options::Sack(blocks) | Options::DuplicateSack(blocks) => blocks,
            Options::None | Options::Mptcp(_) | Options::Received(_) | Options::Demand(_) => {
                return Ok(0);
            }
        };
        let (_, other) = self.initial_seqs();
        let acked = other.wrapping_add(1).wrapping_add(self.segment.seq as u32);
        let range = |block: SackBlock| {
            let first = acked.wrapping_add(block.offset);
            (first, first.wrapping_add(block.len))
        };
        let room = area.len().saturating_sub(2) / 8;
        let used = blocks.into_iter().filter(|block| block.len > 0);
        let ranges: Vec<(u32, u32)> = used.take(room).map(range).collect();
        if ranges.is_empty() {
            return Ok(0);
        }
        CommonOption::Sack(&ranges).emit(area)
    }
}
