//! What the tests of the whole balancer share.
#![allow(dead_code, clippy::unwrap_used)] // Not every test file has use for all of it.

use std::time::{Duration, Instant};

use heddle_balancer_maps::{Decap, Mode, Sources, interface_index};
use heddle_lab::{Connection, Lab, Setup};
use heddled::admin::{Client, Reply, Request};

pub const PORT: u16 = 8080;
pub const FILE: u64 = 100_000_000;
pub const PATIENCE: Duration = Duration::from_secs(2);
const GUE: u16 = 6080;

pub fn setup(mptcp: &'static str, forwarding: &'static str) -> Setup {
    let program = env!("CARGO_BIN_EXE_heddled").into();
    Setup { program, mptcp, forwarding, port: PORT, etcd: None, more: String::new() }
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
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
                let own: [std::net::IpAddr; 2] = [balancer.v4().into(), balancer.v6().into()];
                own.into_iter().for_each(|own| decap.allowed.insert(&own.into(), &1).unwrap());
            }
            decap.program.attach(interface_index("eth0").unwrap(), Mode::Native).unwrap();
            decap
        })
        .unwrap()
    };
    backends.iter().map(attach).collect()
}

/// The effective capabilities of a process.
pub fn kernel_capabilities(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

/// What a daemon answers.
pub fn ask(daemons: &heddle_lab::Daemons<'_>, index: usize, request: &Request) -> Reply {
    Client::connect(&daemons.socket(index)).unwrap().ask(request).unwrap()
}
