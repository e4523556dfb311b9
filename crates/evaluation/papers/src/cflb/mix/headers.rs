//! The headers of a mix's flows.

use std::net::Ipv4Addr;

use heddle_policy::cflb::{Addresses, Fields, Ports};
use heddle_policy::mix as scramble;

use super::Mix;
use super::random::Random;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Server ports and protocols, with their shares in percent: web, its TLS, mail, names. The rest
/// are peers, with any port.
const SERVICES: [(u32, u16, u8); 4] = [(50, 80, TCP), (8, 443, TCP), (4, 25, TCP), (13, 53, UDP)];

/// A data centre's: web, a cache, a database, a file system's data nodes.
const INNER_SERVICES: [u16; 4] = [80, 11_211, 3306, 50_010];

/// Draws the headers of new flows.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    mix: Mix,
    /// Flows so far.
    drawn: u32,
}

impl Headers {
    pub(super) fn new(mix: Mix) -> Headers {
        Headers { mix, drawn: 0 }
    }

    pub(super) fn draw(&mut self, random: &mut Random) -> Fields {
        self.drawn = self.drawn.wrapping_add(1);
        match self.mix {
            Mix::Backbone => backbone(random),
            Mix::DataCentre => data_centre(random),
            Mix::OnePair => one_pair(self.drawn),
            Mix::Random => any(random),
        }
    }
}

fn fields(source: u32, destination: u32, protocol: u8, ports: [u16; 2], ttl: u8) -> Fields {
    let [source, destination] = [source, destination].map(Ipv4Addr::from_bits);
    let ports = Some(Ports { source: ports[0], destination: ports[1] });
    Fields { addresses: Addresses::V4(source, destination), protocol, ports, flow_label: 0, ttl }
}

/// A client of one of 32 768 networks of 256, a server of 8192, popular ones first; either may be
/// the sender.
fn backbone(random: &mut Random) -> Fields {
    let client = scramble(random.below(1 << 15), 1) & !0xff | random.below(256);
    let server = scramble(random.popular(1 << 13), 2);
    let (port, protocol) = service(random);
    let ephemeral = ephemeral(random);
    match random.below(2) {
        0 => fields(client, server, protocol, [ephemeral, port], ttl_from(client)),
        _ => fields(server, client, protocol, [port, ephemeral], ttl_from(server)),
    }
}

fn service(random: &mut Random) -> (u16, u8) {
    let mut drawn = random.below(100);
    for (share, port, protocol) in SERVICES {
        if drawn < share {
            return (port, protocol);
        }
        drawn -= share;
    }
    (1024 + random.below(64_512) as u16, if drawn.is_multiple_of(3) { UDP } else { TCP })
}

/// Windows until XP takes ports from 1024 to 5000, Linux from 32768 to 60999, and IANA says 49152
/// to 65535.
fn ephemeral(random: &mut Random) -> u16 {
    let (first, ports) =
        [(1024, 3977), (1024, 3977), (32_768, 28_232), (49_152, 16_384)][random.below(4) as usize];
    first + random.below(ports) as u16
}

/// TTLs after 4 to 27 routers, from the 64, 128 or 255 that systems begin with.
fn ttl_from(source: u32) -> u8 {
    let bits = scramble(source, 3);
    let first = [64, 64, 128, 255][(bits >> 30) as usize];
    first - 4 - (bits % 24) as u8
}

/// Eight racks of 32 hosts; the first router is the sender's ToR, or a switch above it.
fn data_centre(random: &mut Random) -> Fields {
    let host = |random: &mut Random| 0x0a00_0002 + random.below(8) * 256 + random.below(32);
    let (client, server) = (host(random), host(random));
    let service = INNER_SERVICES[random.below(4) as usize];
    let port = 32_768 + random.below(28_232) as u16;
    let ttl = |source| 64 - (scramble(source, 3) % 3) as u8;
    match random.below(2) {
        0 => fields(client, server, TCP, [port, service], ttl(client)),
        _ => fields(server, client, TCP, [service, port], ttl(server)),
    }
}

/// Source ports from 1024 on, then from 1024 again.
fn one_pair(drawn: u32) -> Fields {
    let port = 1024 + (drawn % 64_512) as u16;
    fields(0x0a00_0001, 0x0a00_0102, TCP, [port, 5001], 59)
}

fn any(random: &mut Random) -> Fields {
    let [source, destination, ports] = [(); 3].map(|()| random.bits());
    let protocol = if random.below(2) == 0 { TCP } else { UDP };
    let Ports { source: from, destination: to } = Ports::from_bits(ports);
    fields(source, destination, protocol, [from, to], 8 + random.below(248) as u8)
}
