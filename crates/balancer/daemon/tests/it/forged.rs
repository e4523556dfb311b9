//! Packets in a client's name, from somebody who sees no answer, at the subflows of the kernel's
//! own MPTCP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use etherparse::{PacketBuilder, TcpHeader};

use crate::common::{LIMIT, PORT, inject, setup, soon};
use heddle_lab::{Connection, Daemons, Lab, Setup, Transport, equal, eventually};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;

#[derive(Clone, Copy, Debug)]
enum Flag {
    Fin,
    Syn,
    Rst,
}

/// Timeouts of half a second, where the defaults have ten: what is silent for longer would be
/// forgotten.
const TIMEOUTS: &str = "[timeouts]\nsyn = \"500ms\"\nclosing = \"500ms\"\n";
const SILENCE: Duration = Duration::from_millis(1500);

/// A TCP segment with these flags, of a sequence number out of the blue.
fn segment(from: SocketAddrV4, to: SocketAddrV4, flag: Flag) -> Vec<u8> {
    let mut tcp = TcpHeader::new(from.port(), to.port(), 0x1234_5678, 1000);
    match flag {
        Flag::Fin => tcp.fin = true,
        Flag::Syn => tcp.syn = true,
        Flag::Rst => tcp.rst = true,
    }
    let mut packet = Vec::new();
    let ip = PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), 64);
    ip.tcp_header(tcp).write(&mut packet, &[]).unwrap();
    packet
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match (address.ip(), address.port()) {
        (IpAddr::V4(v4), port) => SocketAddrV4::new(v4, port),
        _ => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
    }
}

/// Data goes over each subflow still, both ways.
fn goes_on_everywhere(connection: &mut Connection, what: &str) {
    let before = connection.status().unwrap();
    let carried = |connection: &mut Connection| {
        connection.upload(2_000_000, 2, |_| ()).map_err(|error| error.to_string())?;
        connection.download(2_000_000, 3, |_| ()).map_err(|error| error.to_string())?;
        let now = connection.status().map_err(|error| error.to_string())?;
        equal(&now.established(), &before.established())?;
        let still = |old: &heddle_lab::Subflow| {
            let new = now.subflows.iter().find(|new| new.local == old.local);
            new.is_some_and(|new| new.bytes_acked > old.bytes_acked)
        };
        let silent = before.subflows.iter().find(|old| !still(old));
        silent.map_or(Ok(()), |subflow| Err(format!("nothing more from {subflow:?}")))
    };
    eventually(LIMIT, || carried(connection)).unwrap_or_else(|error| panic!("{what}: {error}"));
}

#[test]
fn forged_packets_kill_no_subflow() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(4).client_rate(Rate::mbps(100)).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let setup = Setup { extra_config: TIMEOUTS.into(), ..setup("learn", "l2") };
    let _daemons = Daemons::start(&lab, setup).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connections: Vec<Connection> =
        (0..4).map(|_| lab.connect(Transport::Mptcp, service).unwrap()).collect();
    for connection in &connections {
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    }
    for flag in [Flag::Rst, Flag::Fin, Flag::Syn] {
        for connection in &mut connections {
            goes_on_everywhere(connection, "before");
        }
        std::thread::sleep(SILENCE);
        for connection in &connections {
            let subflows = connection.status().unwrap().subflows;
            let forged =
                |subflow: &heddle_lab::Subflow| segment(v4(subflow.local), v4(service), flag);
            inject(&lab, &subflows.iter().map(forged).collect::<Vec<_>>(), v4(service));
        }
        std::thread::sleep(SILENCE);
        for connection in &mut connections {
            connection.ping().unwrap();
            goes_on_everywhere(connection, &format!("{flag:?}"));
        }
    }
}
