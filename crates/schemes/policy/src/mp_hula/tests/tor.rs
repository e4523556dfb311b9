//! From the handshake to the shim and back, at the ToRs of both ends.

use heddle_wire::{
    Key, Version,
    mptcp::{CapableFlags, CapableKeys, MpCapable, MpJoin, MptcpOption},
};

use super::*;
use crate::{TcpFlags, testing::tor_info};

const A: Key = Key([1; 8]);
const B: Key = Key([2; 8]);

/// The ToR of the client (ToR 0) or of the server (ToR 3), with one path known to the other.
fn tor(number: u16) -> MpHula {
    let mut tor = MpHula::new(&config(2), &tor_info(number));
    let probe = Probe { tor: Tor(3 - number), util: 10 };
    let arrival = ProbeArrival { port: Port(2), probe, is_next_hop: true };
    tor.probe(at(0), &arrival, &mut FakePorts::default());
    tor
}

fn show(tor: &mut MpHula, out_hash: u32, ingress: Ingress, flags: TcpFlags, option: MptcpOption) {
    let mut area = [0; 40];
    let len = option.emit(&mut area).unwrap();
    tor.handshake(at(0), &Handshake { out_hash, ingress, flags, options: &area[..len] });
}

/// The ToRs after the handshakes of a connection with two subflows. Flows 11 and 12 are from the
/// client, 21 and 22 from the server.
fn two_subflows() -> [MpHula; 2] {
    let [mut client, mut server] = [tor(0), tor(3)];
    let keys = CapableKeys::Both { sender: A, receiver: B };
    let ack = MpCapable { version: Version::V1, flags: CapableFlags::HMAC, keys };
    let token = Version::V1.token(B);
    let join = MpJoin::Syn { backup: false, address: 2, token, nonce: 1 };
    let packets = [
        (1, TcpFlags::ACK, MptcpOption::Capable(ack)),
        (2, TcpFlags::SYN, MptcpOption::Join(join)),
    ];
    for (subflow, flags, option) in packets {
        show(&mut client, 10 + subflow, Ingress::Host, flags, option);
        show(&mut server, 20 + subflow, Ingress::Fabric, flags, option);
    }
    [client, server]
}

/// Header of a packet of `flow` from a host of the ToR to ToR `dst`, after forwarding.
fn leave(tor: &mut MpHula, flow: u32, dst: u16) -> Header {
    let mut header = packet(flow, dst);
    tor.forward(at(1), &mut header, &UP, &mut FakePorts::default());
    header
}

#[test]
fn both_tors_add_the_shim_and_take_it_away() {
    let [mut client, mut server] = two_subflows();
    let id = u64::from(Version::V1.token(A).0) << 32 | u64::from(Version::V1.token(B).0);
    for (tor, peer, first_flow, dst) in [(0, 1, 11, 3), (1, 0, 21, 0)] {
        let tors = [&mut client, &mut server];
        for subflow in 0..2 {
            let mut header = leave(tors[tor], first_flow + u32::from(subflow), dst);
            assert_eq!(header.shim, shim(id, 1 + subflow));
            header.ingress = Ingress::Fabric;
            tors[peer].egress(at(2), &mut header);
            assert_eq!(header.shim, None);
        }
    }
    assert_eq!([client.counters().shims, server.counters().shims], [2, 2]);
    let association =
        [client, server].map(|tor| tor.counters()).into_iter().sum::<Counters>().association;
    assert_eq!((association.connections, association.joins), (2, 2));
}

#[test]
fn other_flows_get_none() {
    let [mut client, _] = two_subflows();
    assert_eq!(leave(&mut client, 13, 3).shim, None);
    assert_eq!(client.counters().shims, 0);
}

#[test]
fn a_switch_above_the_tors_reads_no_handshakes() {
    let mut switch = Rig::new(&config(2)).mp_hula;
    let forwarding = switch.state_bytes();
    assert!(tor(0).state_bytes() > forwarding, "nor has it tables for them");
    let token = Version::V1.token(B);
    let join = MptcpOption::Join(MpJoin::Syn { backup: false, address: 2, token, nonce: 1 });
    show(&mut switch, 11, Ingress::Host, TcpFlags::SYN, join);
    assert_eq!(switch.counters(), Counters::default());
}
