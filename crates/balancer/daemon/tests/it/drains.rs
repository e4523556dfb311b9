//! Drained backends, with the kernel's own TCP and MPTCP: clients that use ports again, and the end of
//! a drain.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{LIMIT, PORT, ask, setup, soon, wait_for_backend};
use heddle_lab::{Connection, Daemons, Lab, Setup, Transport, eventually};
use heddle_testing::{Need, require_built, skip_without};
use heddled::admin::{BackendChange, Reply, Request};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};

const HEDDLED: &str = env!("CARGO_BIN_EXE_heddled");
const DRAINED: &str = "backend-0";
/// Source ports that the client uses again and again; none at the drained backend once in a billion runs.
const PORTS: std::ops::Range<u16> = 21_000..21_030;
/// A connection of a lab is open or fails within that time.
const OPEN: Duration = Duration::from_secs(20);

/// The way in which the client's connections end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Fin,
    Rst,
}

/// On each backend a server that tells its number, and ends a connection at a byte of the client's.
fn serve(lab: &Lab) {
    for (number, node) in lab.backends().iter().enumerate() {
        let listener = node.enter(|| TcpListener::bind(("0.0.0.0", PORT))).unwrap().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                std::thread::spawn(move || {
                    let _ = stream.write_all(&[number as u8]);
                    let _ = stream.read(&mut [0]);
                });
            }
        });
    }
}

/// A connection from this port, and the number of its backend.
fn open(lab: &Lab, port: u16) -> io::Result<(usize, TcpStream)> {
    let (IpAddr::V4(client), IpAddr::V4(vip)) =
        (lab.client_addresses(lab.vips()[0])[0], lab.vips()[0])
    else {
        panic!("the first VIP is of IPv4")
    };
    let connected = || -> io::Result<TcpStream> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(OPEN))?;
        bind(&socket, &SocketAddrV4::new(client, port))?;
        connect(&socket, &SocketAddrV4::new(vip, PORT))?;
        Ok(socket.into())
    };
    let mut stream = lab.client().enter(connected).map_err(io::Error::other)??;
    stream.set_read_timeout(Some(OPEN))?;
    let mut number = [0];
    stream.read_exact(&mut number)?;
    Ok((number[0].into(), stream))
}

/// As soon as the client's kernel has forgotten the port's connection before.
fn open_again(lab: &Lab, port: u16) -> (usize, TcpStream) {
    let is_taken = |error: &io::Error| {
        matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable)
    };
    let tried = || match open(lab, port) {
        Err(error) if is_taken(&error) => Err(error.to_string()),
        opened => Ok(opened),
    };
    eventually(LIMIT, tried).unwrap().unwrap_or_else(|error| panic!("from {port}: {error}"))
}

/// The server's end comes first, so that the client's port is free at once; a reset frees it, too.
fn close(mut stream: TcpStream, end: End) {
    match end {
        End::Fin => {
            stream.write_all(&[1]).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the server has ended");
        }
        End::Rst => sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap(),
    }
}

fn drain(daemons: &Daemons<'_>, draining: bool) {
    let change = BackendChange { weight: None, draining: Some(draining) };
    let request = Request::Change { service: None, backend: DRAINED.into(), change };
    assert!(matches!(ask(daemons, 0, &request), Reply::Backends(_)));
    wait_for_backend(daemons, 1, DRAINED, |backend| backend.draining == draining);
}

/// A proxy in front has few source ports. Its connections from before the drain end in both ways, and
/// some never do for the balancer: their client was gone without a word.
#[test]
fn a_drained_backend_gets_no_connection_from_a_used_port() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).balancers(1).backends(2).build().unwrap();
    serve(&lab);
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    for end in [End::Fin, End::Rst] {
        let before: Vec<_> = PORTS.map(|port| open_again(&lab, port)).collect();
        assert!(before.iter().any(|(backend, _)| *backend == 0), "{end:?}");
        drain(&daemons, true);
        before.into_iter().for_each(|(_, stream)| close(stream, end));
        for round in 0..3 {
            for port in PORTS {
                let (backend, stream) = open_again(&lab, port);
                assert_eq!(backend, 1, "port {port}, round {round} after {end:?}");
                close(stream, end);
            }
        }
        drain(&daemons, false);
    }
}

/// `heddle-lb drain --wait` at a balancer.
fn waiting(daemons: &Daemons<'_>, index: usize) -> Child {
    let mut command = Command::new(Path::new(HEDDLED).with_file_name("heddle-lb"));
    command.arg("--socket").arg(daemons.socket(index));
    command.args(["drain", DRAINED, "--wait", "--timeout", "10m"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The kernel's MPTCP: flows with tokens, registered with other balancers. They are counted for
/// `closing` behind their end.
#[test]
fn a_drain_ends_with_the_backends_last_connection() {
    if skip_without(Need::Root) {
        return;
    }
    require_built(HEDDLED, "heddle-lb");
    let lab = Lab::builder().balancers(2).backends(2).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let extra_config = "[timeouts]\nclosing = \"1s\"\n".into();
    let daemons = Daemons::start(&lab, Setup { extra_config, ..setup("learn", "l2") }).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connections: Vec<Connection> =
        (0..16).map(|_| lab.connect(Transport::Mptcp, service).unwrap()).collect();
    for connection in &mut connections {
        assert!(connection.wait_for_subflows(2, soon()).unwrap() >= 2);
        connection.ping().unwrap();
    }
    let (leaving, staying): (Vec<_>, Vec<_>) =
        connections.into_iter().partition(|connection| connection.backend() == DRAINED);
    assert!(!leaving.is_empty(), "of so many one has none once in 65536 runs");
    let mut drains: Vec<Child> = (0..2).map(|index| waiting(&daemons, index)).collect();
    wait_for_backend(&daemons, 2, DRAINED, |backend| backend.draining);
    assert!(drains.iter_mut().any(|drain| drain.try_wait().unwrap().is_none()), "connections live");
    drop(leaving);
    for drain in &mut drains {
        let ended = || drain.try_wait().unwrap().ok_or_else(|| "the drain waits".to_owned());
        assert!(eventually(LIMIT, ended).unwrap().success());
    }
    drop(staying);
}
