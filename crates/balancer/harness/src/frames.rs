//! Clients' frames, made by etherparse, which knows nothing of the programs.
//!
//! TCP has the options that Linux sends, in its order (tcp_output.c): MSS, SACK permitted,
//! timestamps, window scale in a SYN, timestamps in all others; MPTCP's come behind.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use etherparse::{
    Icmpv4Type, Icmpv6Type, IpFragOffset, IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel,
    Ipv6FragmentHeader, Ipv6Header, NetSlice, PacketBuilder, PacketBuilderStep, SlicedPacket,
    TcpHeader, TransportSlice, icmpv4::DestUnreachableHeader,
};
use heddle_balancer_maps::steering::{Inner, Message, SteeringKey};
use heddle_wire::{MptcpOption, TcpFlags};

/// Bytes of Ethernet in front of IP.
pub(crate) const ETHERNET: usize = 14;
const CLIENTS_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xc];
const BALANCERS_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xb];
const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
const SYN_OPTIONS: [u8; 20] = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
/// A router between the service and its clients, of both families.
const ROUTERS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1)),
];
/// Bytes that an ICMP error quotes of a packet here: its IP header and as much again.
const QUOTED: usize = 28;

/// A client's flow to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The client.
    pub client: SocketAddr,
    /// The service.
    pub service: SocketAddr,
}

impl Flow {
    /// A SYN.
    pub fn syn(&self, mptcp: &[MptcpOption]) -> Vec<u8> {
        self.segment(TcpFlags::SYN, mptcp, 0)
    }

    /// A segment with this many bytes of data.
    pub fn ack(&self, mptcp: &[MptcpOption], data: usize) -> Vec<u8> {
        self.segment(TcpFlags::ACK, mptcp, data)
    }

    /// The last one.
    pub fn fin(&self) -> Vec<u8> {
        self.segment(TcpFlags::FIN | TcpFlags::ACK, &[], 0)
    }

    /// A reset.
    pub fn rst(&self) -> Vec<u8> {
        self.segment(TcpFlags::RST, &[], 0)
    }

    /// Any segment.
    pub fn segment(&self, flags: TcpFlags, mptcp: &[MptcpOption], data: usize) -> Vec<u8> {
        // A SYN takes one number of the sequence (RFC 9293, section 3.4).
        let sequence = u32::from(!flags.contains(TcpFlags::SYN));
        let mut tcp = TcpHeader::new(self.client.port(), self.service.port(), sequence, 1000);
        tcp.syn = flags.contains(TcpFlags::SYN);
        tcp.ack = flags.contains(TcpFlags::ACK);
        tcp.fin = flags.contains(TcpFlags::FIN);
        tcp.rst = flags.contains(TcpFlags::RST);
        let options = options(tcp.syn, mptcp);
        // Forty bytes at most: a client that had more to say would leave some out.
        let _ = tcp.set_options_raw(&options);
        written(self.ip().tcp_header(tcp), &payload(data))
    }

    /// A UDP datagram with this many bytes.
    pub fn datagram(&self, bytes: usize) -> Vec<u8> {
        self.udp(&payload(bytes))
    }

    /// A UDP datagram with this payload.
    pub fn udp(&self, payload: &[u8]) -> Vec<u8> {
        written(self.ip().udp(self.client.port(), self.service.port()), payload)
    }

    /// An ICMP echo request with this many bytes.
    pub fn echo_request(&self, bytes: usize) -> Vec<u8> {
        if self.client.is_ipv6() {
            return written(self.ip().icmpv6_echo_request(1, 1), &payload(bytes));
        }
        written(self.ip().icmpv4_echo_request(1, 1), &payload(bytes))
    }

    /// ICMP error of a router on the way back to the client: the backend's segment is too big for
    /// the next link.
    pub fn too_big(&self, mtu: u16) -> Vec<u8> {
        self.too_big_for(&self.back().ack(&[], 1400), mtu)
    }

    /// The same about a datagram of the backend's.
    pub fn too_big_datagram(&self, mtu: u16) -> Vec<u8> {
        self.too_big_for(&self.back().datagram(1400), mtu)
    }

    /// The way from the backend to the client.
    fn back(&self) -> Flow {
        Flow { client: self.service, service: self.client }
    }

    fn too_big_for(&self, answer: &[u8], mtu: u16) -> Vec<u8> {
        let v6 = self.client.is_ipv6();
        let quote = &answer[ETHERNET..][..QUOTED + if v6 { 20 } else { 0 }];
        let router = SocketAddr::new(ROUTERS[usize::from(v6)], 0);
        let ip = Flow { client: router, ..*self }.ip();
        if v6 {
            return written(ip.icmpv6(Icmpv6Type::PacketTooBig { mtu: mtu.into() }), quote);
        }
        let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu };
        written(ip.icmpv4(Icmpv4Type::DestinationUnreachable(needed)), quote)
    }

    fn ip(&self) -> PacketBuilderStep<IpHeaders> {
        let ethernet = PacketBuilder::ethernet2(CLIENTS_MAC, BALANCERS_MAC);
        ethernet.ip(headers(self.client.ip(), self.service.ip()))
    }
}

/// IP headers of one family; the builder fills in the rest. Mixed families become IPv6, as no
/// client could send them.
fn headers(source: IpAddr, destination: IpAddr) -> IpHeaders {
    if let (IpAddr::V4(source), IpAddr::V4(destination)) = (source, destination) {
        let mut header = Ipv4Header {
            time_to_live: 64,
            source: source.octets(),
            destination: destination.octets(),
            ..Ipv4Header::default()
        };
        header.dont_fragment = true;
        return IpHeaders::Ipv4(header, Default::default());
    }
    let octets = |address| match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    let header = Ipv6Header {
        flow_label: Ipv6FlowLabel::ZERO,
        hop_limit: 64,
        source: octets(source),
        destination: octets(destination),
        ..Ipv6Header::default()
    };
    IpHeaders::Ipv6(header, Default::default())
}

fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|byte| byte as u8).collect()
}

/// Writing to memory fails for sizes beyond IP's alone: then there is no frame.
macro_rules! writes {
    ($($layer:ty),*) => {$(
        impl Writes for PacketBuilderStep<$layer> {
            fn frame(self, payload: &[u8]) -> Vec<u8> {
                let mut frame = Vec::with_capacity(self.size(payload.len()));
                if self.write(&mut frame, payload).is_err() {
                    frame.clear();
                }
                frame
            }
        }
    )*};
}
trait Writes {
    fn frame(self, payload: &[u8]) -> Vec<u8>;
}
writes!(TcpHeader, etherparse::UdpHeader, etherparse::Icmpv4Header, etherparse::Icmpv6Header);

fn written(packet: impl Writes, payload: &[u8]) -> Vec<u8> {
    packet.frame(payload)
}

fn options(syn: bool, mptcp: &[MptcpOption]) -> Vec<u8> {
    let mut bytes = if syn { SYN_OPTIONS.to_vec() } else { TIMESTAMPS.to_vec() };
    for option in mptcp {
        let mut room = [0; 40];
        if let Ok(length) = option.emit(&mut room) {
            bytes.extend(&room[..length]);
        }
    }
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    bytes
}

/// The frame with a VLAN tag.
pub fn tagged(frame: &[u8], tag: u16) -> Vec<u8> {
    let (macs, rest) = frame.split_at(12);
    [macs, &[0x81, 0], &tag.to_be_bytes(), rest].concat()
}

/// A frame's packet in fragments, the first with `first` bytes behind the IP header (a multiple of
/// 8), the others as long.
pub fn fragments(frame: &[u8], first: usize, id: u16) -> Vec<Vec<u8>> {
    let (ethernet, packet) = frame.split_at(ETHERNET);
    let part = |(index, bytes): (usize, &[u8]), last| {
        let offset = IpFragOffset::try_new((index * first / 8) as u16).unwrap_or_default();
        [ethernet, &fragment(packet, bytes, offset, last, id)].concat()
    };
    let header = if packet[0] >> 4 == 6 { 40 } else { 20 };
    let parts: Vec<&[u8]> = packet[header..].chunks(first).collect();
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(|(i, bytes)| part((i, bytes), i == last)).collect()
}

fn fragment(packet: &[u8], bytes: &[u8], offset: IpFragOffset, last: bool, id: u16) -> Vec<u8> {
    if let Ok((mut header, _)) = Ipv4Header::from_slice(packet) {
        header.total_len = (Ipv4Header::MIN_LEN + bytes.len()) as u16;
        header.identification = id;
        header.dont_fragment = false;
        header.more_fragments = !last;
        header.fragment_offset = offset;
        header.header_checksum = header.calc_header_checksum();
        return [&header.to_bytes(), bytes].concat();
    }
    let Ok((mut header, _)) = Ipv6Header::from_slice(packet) else { return Vec::new() };
    let part = Ipv6FragmentHeader::new(header.next_header, offset, !last, id.into());
    header.next_header = IpNumber::IPV6_FRAGMENTATION_HEADER;
    header.payload_length = (Ipv6FragmentHeader::LEN + bytes.len()) as u16;
    [&header.to_bytes()[..], &part.to_bytes(), bytes].concat()
}

/// A frame between balancers: UDP to the steering port with these bytes of a header, then a
/// client's packet.
pub fn steered(from: SocketAddr, to: SocketAddr, header: &[u8], frame: &[u8]) -> Vec<u8> {
    let flow = Flow { client: from, service: to };
    let payload = [header, &frame[ETHERNET..]].concat();
    written(flow.ip().udp(from.port(), to.port()), &payload)
}

/// The fields of a client's frame that a steering header's tag is about.
///
/// # Panics
/// If it is no frame of IP.
pub fn inner(frame: &[u8]) -> Inner {
    let packet = SlicedPacket::from_ethernet(frame).expect("a frame");
    let (source, destination, protocol) = match packet.net {
        Some(NetSlice::Ipv4(ip)) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into(), header.protocol())
        }
        Some(NetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let addresses = (header.source_addr().into(), header.destination_addr().into());
            (addresses.0, addresses.1, ip.payload().ip_number)
        }
        _ => panic!("no IP"),
    };
    let ports = match packet.transport {
        Some(TransportSlice::Tcp(tcp)) => [tcp.source_port(), tcp.destination_port()],
        Some(TransportSlice::Udp(udp)) => [udp.source_port(), udp.destination_port()],
        _ => [0; 2],
    };
    Inner { source, destination, protocol: protocol.0, ports }
}

/// A heartbeat as a balancer's daemon sends it, by a socket of its own.
pub fn heartbeat(
    from: SocketAddr,
    to: SocketAddr,
    key: SteeringKey,
    number: u32,
    fingerprint: u32,
) -> Vec<u8> {
    let message = Message::heartbeat(number, fingerprint).signed(key, from.ip(), None);
    written(Flow { client: from, service: to }.ip().udp(54_321, to.port()), &message)
}
