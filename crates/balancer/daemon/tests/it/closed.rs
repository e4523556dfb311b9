//! Closed ports and ICMP echo of a service's address, as clients' kernels see them.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::common::{LIMIT, PORT, ask, setup};
use heddle_lab::{Daemons, Lab, Transport};
use heddle_testing::{Need, require_program, skip_without};
use heddled::admin::{Reply, Request};

/// Reloads with lines more in each service.
fn reload(daemons: &Daemons<'_>, lines: &str) {
    let port = format!("port = {PORT}\n");
    let text = daemons.config(0).replace(&port, &format!("{port}{lines}"));
    daemons.write_config(0, &text).unwrap();
    assert!(matches!(ask(daemons, 0, &Request::Reload), Reply::Reloaded(_)));
}

fn ping(lab: &Lab, address: IpAddr, seconds: u32) -> bool {
    lab.client().run(&format!("ping -c 1 -W {seconds} {address}")).is_ok()
}

/// The error of a TCP connection and of a datagram to the port behind the service's.
fn refusals(lab: &Lab, address: IpAddr, patience: Duration) -> [ErrorKind; 2] {
    let closed = SocketAddr::new(address, PORT + 1);
    let try_both = || {
        let connected = TcpStream::connect_timeout(&closed, patience).map(drop);
        [connected, exchange(closed, patience)].map(|result| result.unwrap_err().kind())
    };
    lab.client().enter(try_both).unwrap()
}

/// A datagram, and the answer to it.
fn exchange(to: SocketAddr, patience: Duration) -> io::Result<()> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(patience))?;
    socket.send(b"anyone?")?;
    socket.recv(&mut [0; 16]).map(drop)
}

#[test]
fn a_clients_kernel_takes_refusals_and_echo_replies() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("ping", "iputils-ping");
    let lab = Lab::builder().build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    reload(&daemons, "closed_ports = \"refuse\"\necho = \"answer\"\n");
    for vip in lab.vips() {
        assert!(ping(&lab, vip, 60), "{vip}");
        let large = lab.client().run(&format!("ping -c 1 -W 60 -s 3000 {vip}")).unwrap();
        assert!(large.contains("3008 bytes from"), "{large}");
        assert_eq!(refusals(&lab, vip, LIMIT), [ErrorKind::ConnectionRefused; 2], "{vip}");
        let open = SocketAddr::new(vip, PORT);
        lab.connect(Transport::Tcp, open).unwrap().ping().unwrap();
    }
    reload(&daemons, "closed_ports = \"drop\"\necho = \"drop\"\n");
    for vip in lab.vips() {
        assert!(!ping(&lab, vip, 1), "{vip}");
        let [tcp, udp] = refusals(&lab, vip, Duration::from_millis(500));
        assert_eq!((tcp, udp), (ErrorKind::TimedOut, ErrorKind::WouldBlock), "{vip}");
    }
}
