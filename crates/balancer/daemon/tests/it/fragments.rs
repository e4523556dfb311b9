//! Datagrams in fragments that come to several balancers, whose MTU has no room for a steering header:
//! the backends' kernels put them together.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use crate::common::{LIMIT, inject, setup, wait_for_members};
use heddle_lab::{Daemons, Lab, NextHop, Setup, eventually};
use heddle_testing::{Need, skip_without};

const PORT: u16 = 5060;
const MTU: u16 = 1500;
/// Bytes of a full fragment behind its IP header.
const FULL: usize = 1480;
/// The time in which a datagram arrives or is lost; a fragment waits for 52 ms at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// A UDP service of all backends at the first VIP.
fn service(lab: &Lab) -> String {
    let vip = lab.vips()[0];
    let mut text = format!(
        "[[service]]\nname = \"datagrams\"\naddress = \"{vip}\"\nport = {PORT}\nprotocol = \"udp\"\n"
    );
    for (number, backend) in lab.backends().iter().enumerate() {
        let address = backend.v4();
        text +=
            &format!("[[service.backend]]\nname = \"backend-{number}\"\naddress = \"{address}\"\n");
    }
    text
}

/// A datagram's fragments, as packets with their IP headers; the kernel fills in the checksums.
fn fragments(from: SocketAddrV4, to: SocketAddrV4, payload: &[u8], id: u16) -> Vec<Vec<u8>> {
    let length = (8 + payload.len()) as u16;
    let udp = [from.port(), to.port(), length, 0].map(u16::to_be_bytes).concat();
    let whole = [&udp, payload].concat();
    let parts: Vec<&[u8]> = whole.chunks(FULL).collect();
    let last = parts.len() - 1;
    let part = |(number, part): (usize, &&[u8])| {
        let place = (number * FULL / 8) as u16 | if number == last { 0 } else { 0x2000 };
        let length = (20 + part.len()) as u16;
        let words = [0x4500, length, id, place, 64 << 8 | 17, 0].map(u16::to_be_bytes).concat();
        [&words, &from.ip().octets()[..], &to.ip().octets(), part].concat()
    };
    parts.iter().enumerate().map(part).collect()
}

/// The backends' sockets, and a client of them.
struct World<'a> {
    lab: &'a Lab,
    servers: Vec<UdpSocket>,
    client: Ipv4Addr,
    service: SocketAddrV4,
    sent: u16,
}

impl World<'_> {
    /// Sends a datagram's fragments in this order, each by the balancer that `hop` says. True if it
    /// arrived whole.
    fn arrives(&mut self, bytes: usize, order: &[usize], hop: impl Fn(usize) -> usize) -> bool {
        self.sent += 1;
        let payload: Vec<u8> = (0..bytes).map(|at| (at as u16 ^ self.sent) as u8).collect();
        let from = SocketAddrV4::new(self.client, 20_000 + self.sent);
        let parts = fragments(from, self.service, &payload, self.sent);
        let mut before = None;
        for &number in order {
            let hop = hop(number);
            if before.replace(hop) != Some(hop) {
                self.lab.route_vip(&[NextHop::Balancer(hop)]).unwrap();
            }
            inject(self.lab, &parts[number..=number], self.service);
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.received(&payload) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }

    fn received(&self, payload: &[u8]) -> bool {
        let mut room = [0; 9000];
        self.servers.iter().any(|server| match server.recv(&mut room) {
            Ok(length) => &room[..length] == payload,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        })
    }
}

/// Datagrams arrive whole, by one balancer or by two in turn, in order or with the first one last. On a busy
/// machine a fragment may wait in vain: the next datagram arrives.
#[test]
fn datagrams_in_fragments_arrive_with_an_mtu_of_1500() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).balancers(2).backends(2).lan_mtu(MTU).build().unwrap();
    let setup = Setup { extra_config: service(&lab), ..setup("learn", "l2") };
    let daemons = Daemons::start(&lab, setup).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    let vip = lab.vips()[0];
    let servers = lab.backends().iter().map(|node| {
        let socket = node.enter(|| UdpSocket::bind((vip, PORT))).unwrap().unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    });
    let (std::net::IpAddr::V4(client), std::net::IpAddr::V4(address)) =
        (lab.client_addresses(vip)[0], vip)
    else {
        panic!("the first VIP is of IPv4")
    };
    let service = SocketAddrV4::new(address, PORT);
    let mut world = World { lab: &lab, servers: servers.collect(), client, service, sent: 0 };
    let mut first_time = 0;
    for round in 0..4 {
        for (bytes, order) in
            [(2000, &[0, 1][..]), (2000, &[1, 0]), (4000, &[0, 1, 2]), (4000, &[2, 1, 0])]
        {
            for in_turn in [false, true] {
                // A route takes its time to change: what is out of order comes to one balancer.
                if in_turn && order[0] != 0 {
                    continue;
                }
                let hop = |number: usize| if in_turn { (number + round) % 2 } else { round % 2 };
                let mut tries = 0;
                let probe = || {
                    tries += 1;
                    let arrived = world.arrives(bytes, order, hop);
                    arrived.then_some(()).ok_or_else(|| format!("{bytes}, {order:?}, {in_turn}"))
                };
                eventually(LIMIT, probe).unwrap();
                first_time += usize::from(tries == 1);
            }
        }
    }
    println!("{first_time} of 24 datagrams arrived when they were first sent");
}
