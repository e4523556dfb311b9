//! Random constants of CFLB, and packets: steered ones, and any.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_policy::cflb::{Cipher, Field, PortRange, RouterChoice, Rules};

use crate::config::CflbConstants;
use crate::draw::Draw;
use crate::input::Fields;

/// Constants that make a codec.
pub fn constants(draw: &mut impl Draw) -> CflbConstants {
    let field = draw.choose(&[
        Field::Ports,
        Field::SourcePort(PortRange { low: 0, high: u16::MAX }),
        Field::SourcePort(PortRange { low: 32_768, high: 60_999 }),
        Field::FlowLabel,
        Field::SourcePort(PortRange { low: 50_000, high: 50_099 }),
    ]);
    let cipher = match field {
        Field::Ports => draw.choose(&[Cipher::Rc5, Cipher::Skip32, Cipher::Feistel]),
        _ => Cipher::Feistel,
    };
    let bytes = if cipher == Cipher::Skip32 { 10 } else { 16 };
    let key = (0..bytes).map(|_| draw.number(1) as u8).collect();
    let rules = draw.choose(&[Rules::Even, Rules::AsPublished]);
    CflbConstants { field, cipher, radix: draw.choose(&[4, 2, 3, 7, 16, 100]), rules, key }
}

/// Fields of a packet, in three of four cases steered to a path of three routers.
pub fn fields(constants: &CflbConstants, draw: &mut impl Draw) -> Fields {
    let fields = any(draw);
    if draw.chance(1, 4) {
        return fields;
    }
    steered(constants, &fields, draw).unwrap_or(fields)
}

/// The fields that a sender writes; `None` if it cannot.
fn steered(constants: &CflbConstants, fields: &Fields, draw: &mut impl Draw) -> Option<Fields> {
    let next_hops = constants.radix.min(4);
    let choice = |hop| {
        let next_hop = draw.below(next_hops.into()) as u16;
        RouterChoice { hop, next_hop, next_hops }
    };
    let choices: Vec<RouterChoice> = [0, 1, 2].map(choice).into();
    let sent = constants.policy().ok()?.encode(&choices, &fields.policy()?, draw.number(4)).ok()?;
    let ports = sent.ports.map(|ports| (ports.source, ports.destination));
    let ttl = sent.ttl.wrapping_sub(draw.below(3) as u8);
    Some(Fields { ports, flow_label: sent.flow_label, ttl, ..*fields })
}

fn any(draw: &mut impl Draw) -> Fields {
    let (source, destination) = addresses(draw);
    let ports = draw.chance(7, 8).then(|| (draw.number(2) as u16, draw.number(2) as u16));
    Fields {
        source,
        destination,
        protocol: draw.choose(&[6, 17, 1]),
        ports,
        flow_label: draw.number(4) >> 12,
        ttl: draw.choose(&[64, 63, 62, 255, 1, 0]),
    }
}

fn addresses(draw: &mut impl Draw) -> (IpAddr, IpAddr) {
    let mut host = || (draw.number(4), draw.number(4));
    let ((a, b), (c, d)) = (host(), host());
    if draw.chance(1, 2) {
        return (Ipv4Addr::from_bits(a).into(), Ipv4Addr::from_bits(c).into());
    }
    let v6 = |high: u32, low: u32| Ipv6Addr::from_bits(u128::from(high) << 96 | u128::from(low));
    (v6(a, b).into(), v6(c, d).into())
}
