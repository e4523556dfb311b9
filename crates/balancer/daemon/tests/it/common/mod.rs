//! Shared parts of the tests of the whole balancer.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use heddle_balancer_maps::{Decap, Link, Mode, Room, Sources, Translate, interface_index};
use heddle_lab::{Connection, Daemons, Lab, Setup, equal, eventually};
use heddled::admin::{BackendStatus, Client, Reply, Request, Selection, Status};
use rustix::net::{AddressFamily, Protocol, RawProtocol, SendFlags, SocketType, sendto, socket};

pub const PORT: u16 = 8080;
pub const FILE: u64 = 100_000_000;
/// Limit on waits for an event that must come, however busy the machine is.
pub const LIMIT: Duration = Duration::from_secs(60);
/// Limit on joins: those that are refused end the wait before.
pub const JOIN_LIMIT: Duration = LIMIT;
const GUE: u16 = 6080;

pub fn setup(mptcp: &'static str, forwarding: &'static str) -> Setup {
    let program = env!("CARGO_BIN_EXE_heddled").into();
    Setup { program, mptcp, forwarding, port: PORT, etcd: None, extra_config: String::new() }
}

pub fn soon() -> Instant {
    Instant::now() + LIMIT
}

/// Downloads; `event` happens after a third.
pub fn download_with(connection: &mut Connection, bytes: u64, event: impl FnOnce()) {
    let mut event = Some(event);
    let progress = |so_far| {
        if so_far > bytes / 3
            && let Some(event) = event.take()
        {
            event();
        }
    };
    connection.download(bytes, 7, progress).unwrap();
    assert!(event.is_none());
}

/// Backends that take off outer headers, for the forwarding kinds that put some on.
pub fn untunnel(lab: &Lab, forwarding: &str) -> Vec<Decap> {
    let backends = if forwarding == "l2" { &[] } else { lab.backends() };
    let attach = |node: &heddle_lab::Node| {
        node.enter(|| {
            let mut decap = Decap::load(GUE, Sources::Listed).unwrap();
            for address in [node.v4().into(), node.v6().into()] {
                decap.own.insert(&std::net::IpAddr::into(address), &1).unwrap();
            }
            for balancer in lab.balancers() {
                let addresses: [std::net::IpAddr; 2] = [balancer.v4().into(), balancer.v6().into()];
                addresses
                    .into_iter()
                    .for_each(|address| decap.allowed.insert(&address.into(), &1).unwrap());
            }
            let eth0 = interface_index("eth0").unwrap();
            // A program that was dropped leaves its interface only when no child that another test
            // is about to start still holds its file descriptor: between fork and exec it does.
            let probe =
                || decap.program.attach(eth0, Mode::Native).map_err(|error| error.to_string());
            eventually(LIMIT, probe).unwrap();
            decap
        })
        .unwrap()
    };
    backends.iter().map(attach).collect()
}

/// Backends that put the assigned keys in place of the kernel's.
pub fn translate(lab: &Lab) -> Vec<Translate> {
    let attach = |node: &heddle_lab::Node| {
        node.enter(|| {
            let mut translate = Translate::load(Link::Ethernet, &Room::default()).unwrap();
            translate.attach("eth0").unwrap();
            translate
        })
        .unwrap()
    };
    lab.backends().iter().map(attach).collect()
}

/// Sends packets, with their IP headers, from the client's side.
pub fn inject(lab: &Lab, packets: &[Vec<u8>], service: SocketAddrV4) {
    lab.client()
        .enter(|| {
            // With a header of its own (raw(7)).
            let raw = Protocol::from_raw(RawProtocol::new(255).unwrap());
            let socket = socket(AddressFamily::INET, SocketType::RAW, Some(raw)).unwrap();
            for packet in packets {
                let to = SocketAddrV4::new(*service.ip(), 0);
                assert_eq!(sendto(&socket, packet, SendFlags::empty(), &to).unwrap(), packet.len());
            }
        })
        .unwrap();
}

/// The effective capabilities of a process.
pub fn kernel_capabilities(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

/// The reply of a daemon.
pub fn ask(daemons: &Daemons<'_>, index: usize, request: &Request) -> Reply {
    Client::connect(&daemons.socket(index)).unwrap().ask(request).unwrap()
}

/// Waits until the balancers `at` have just the balancers `alive` as members. A daemon's maps are
/// in step with its reply.
pub fn wait_for_members(daemons: &Daemons<'_>, at: &[usize], alive: &[usize], limit: Duration) {
    let expected = alive.iter().map(|index| format!("balancer-{index}")).collect();
    let probe = || at.iter().try_for_each(|&index| equal(&members(daemons, index), &expected));
    eventually(limit, probe).unwrap();
}

fn members(daemons: &Daemons<'_>, index: usize) -> BTreeSet<String> {
    let Reply::Members(members) = ask(daemons, index, &Request::Members) else { panic!() };
    members.members.into_iter().filter(|member| member.alive).map(|member| member.name).collect()
}

/// Waits until the first `balancers` balancers have a backend in some state, in all services.
pub fn wait_for_backend(
    daemons: &Daemons<'_>,
    balancers: usize,
    name: &str,
    state: impl Fn(&BackendStatus) -> bool,
) {
    let probe = || {
        let at = (0..balancers).flat_map(|index| backends(daemons, index));
        let differs = |status: &BackendStatus| status.name == name && !state(status);
        at.into_iter().find(differs).map_or(Ok(()), |status| Err(format!("{status:?}")))
    };
    eventually(LIMIT, probe).unwrap();
}

fn backends(daemons: &Daemons<'_>, index: usize) -> Vec<BackendStatus> {
    let request = Request::Backends(Selection::default());
    let Reply::Backends(backends) = ask(daemons, index, &request) else { panic!() };
    backends.backends
}

/// A daemon's status.
pub fn status(daemons: &Daemons<'_>, index: usize) -> Status {
    let Reply::Status(status) = ask(daemons, index, &Request::Status) else { panic!() };
    status
}

/// Fails unless a daemon warns of this.
pub fn said(daemons: &Daemons<'_>, index: usize, warning: &str) -> Result<(), String> {
    let status = status(daemons, index);
    let found = status.warnings.iter().any(|line| line.contains(warning));
    if found { Ok(()) } else { Err(format!("{status:?}")) }
}

/// Fails unless all is well at a daemon.
pub fn is_well(daemons: &Daemons<'_>, index: usize) -> Result<(), String> {
    let status = status(daemons, index);
    if status.ready && status.warnings.is_empty() { Ok(()) } else { Err(format!("{status:?}")) }
}
