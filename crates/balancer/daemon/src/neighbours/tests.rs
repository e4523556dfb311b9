//! In network namespaces of their own: this machine's, and a neighbour's that is also a gateway.

use super::*;

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use heddle_testing::{Need, skip_without};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(10);
const OWN: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 2];

fn ip(arguments: &str) {
    let run = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(run.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&run.stderr));
}

/// `own` and `peer`, joined by a veth pair called `eth` in both.
struct Wire {
    own: String,
    peer: String,
}

impl Wire {
    fn lay() -> Wire {
        static LAID: AtomicU32 = AtomicU32::new(0);
        let id = format!("{}-{}", std::process::id(), LAID.fetch_add(1, Ordering::Relaxed));
        let wire = Wire { own: format!("ops-own-{id}"), peer: format!("ops-peer-{id}") };
        ip(&format!("netns add {}", wire.own));
        ip(&format!("netns add {}", wire.peer));
        let Wire { own, peer } = &wire;
        ip(&format!(
            "-n {own} link add eth address 02:00:00:00:00:01 mtu 1400 type veth peer name eth address 02:00:00:00:00:02 netns {peer}"
        ));
        for (name, last) in [(own, 1), (peer, 2)] {
            ip(&format!("-n {name} addr add 10.9.0.{last}/24 dev eth"));
            ip(&format!("-n {name} addr add fd09::{last}/64 dev eth nodad"));
            ip(&format!("-n {name} link set eth up"));
            ip(&format!("-n {name} link set lo up"));
        }
        wire
    }

    fn own(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.own));
    }

    fn peer(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.peer));
    }

    /// Runs `work` in a thread of its own inside the namespace `own`.
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.own)).unwrap();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(std::os::fd::AsFd::as_fd(&namespace), kind).unwrap();
                work()
            });
            thread.join().unwrap()
        })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for name in [&self.own, &self.peer] {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

/// Asks until the neighbour is there.
fn resolved(resolver: &mut Resolver, address: &str) -> NextHop {
    let (start, address) = (Instant::now(), address.parse().unwrap());
    loop {
        match resolver.resolve(address) {
            Ok(hop) => return hop,
            Err(Unreachable::Unresolved { .. }) if start.elapsed() < LONG => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => panic!("{address}: {error}"),
        }
    }
}

#[test]
fn a_neighbour_is_asked_for_and_then_known() {
    if skip_without(Need::Root) {
        return;
    }
    let wire = Wire::lay();
    wire.inside(|| {
        let mut resolver = Resolver::open().unwrap();
        let first = resolver.resolve("10.9.0.2".parse().unwrap());
        assert!(matches!(first, Err(Unreachable::Unresolved { .. })), "{first:?}");
        let hop = resolved(&mut resolver, "10.9.0.2");
        assert_eq!((hop.mac, hop.source_mac, hop.mtu), (PEER, OWN, 1400));
        assert_eq!(hop.source, "10.9.0.1".parse::<IpAddr>().unwrap());
        let hop6 = resolved(&mut resolver, "fd09::2");
        assert_eq!((hop6.mac, hop6.source_mac, hop6.ifindex), (PEER, OWN, hop.ifindex));
        assert_eq!(hop6.source, "fd09::1".parse::<IpAddr>().unwrap());
    });
}

#[test]
fn behind_a_gateway_the_gateway_is_the_neighbour() {
    if skip_without(Need::Root) {
        return;
    }
    let wire = Wire::lay();
    wire.own("route add 192.0.2.0/24 via 10.9.0.2 mtu 1300");
    wire.own("route add 2001:db8::/32 via fd09::2");
    // IPv4 by way of an IPv6 neighbour (RFC 5549).
    wire.own("route add 198.51.100.0/24 via inet6 fd09::2");
    wire.inside(|| {
        let mut resolver = Resolver::open().unwrap();
        let hop = resolved(&mut resolver, "192.0.2.7");
        assert_eq!((hop.mac, hop.mtu), (PEER, 1300));
        assert_eq!(resolved(&mut resolver, "2001:db8::7").mac, PEER);
        let hop = resolved(&mut resolver, "198.51.100.7");
        assert_eq!((hop.mac, hop.source), (PEER, "10.9.0.1".parse().unwrap()));
    });
}

#[test]
fn what_cannot_be_reached_says_why() {
    if skip_without(Need::Root) {
        return;
    }
    let wire = Wire::lay();
    wire.own("route add blackhole 203.0.113.1");
    wire.own("route add unreachable 203.0.113.2");
    wire.own("route add prohibit 203.0.113.3");
    wire.own("route add 203.0.113.4 dev lo");
    let why = |address: &str| {
        let address = address.parse().unwrap();
        wire.inside(move || Resolver::open().unwrap().resolve(address).unwrap_err())
    };
    for address in ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.9", "2001:db8::1"] {
        assert!(matches!(why(address), Unreachable::NoRoute), "{address}: {}", why(address));
    }
    for address in ["10.9.0.1", "fd09::1", "127.0.0.1", "10.9.0.255", "224.0.0.1"] {
        let error = why(address);
        assert!(
            matches!(error, Unreachable::NotRemote | Unreachable::NoRoute),
            "{address}: {error}"
        );
    }
    assert!(matches!(why("203.0.113.4"), Unreachable::NotEthernet(1)), "{}", why("203.0.113.4"));
    assert!(matches!(why("10.9.0.77"), Unreachable::Unresolved { .. }));
    wire.peer("link set eth down");
    assert!(matches!(why("10.9.0.2"), Unreachable::LinkDown(_)), "{}", why("10.9.0.2"));
}

#[test]
fn a_neighbours_new_address_is_told_of() {
    if skip_without(Need::Root) {
        return;
    }
    let wire = Wire::lay();
    wire.inside(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let address: IpAddr = "10.9.0.2".parse().unwrap();
            let (_wanted, addresses) = tokio::sync::watch::channel(BTreeSet::from([address]));
            let (to, mut hops) = tokio::sync::watch::channel(NextHops::new());
            let mac_is = |mac: [u8; 6]| {
                move |hops: &NextHops| {
                    matches!(hops.get(&address), Some(Ok(hop)) if hop.mac == mac)
                }
            };
            let follow = async {
                timeout(LONG, hops.wait_for(mac_is(PEER))).await.unwrap().unwrap();
                wire.peer("link set eth address 02:00:00:00:00:03");
                wire.own("neigh flush dev eth");
                let new = [2, 0, 0, 0, 0, 3];
                timeout(LONG, hops.wait_for(mac_is(new))).await.unwrap().unwrap();
                wire.own("link set eth down");
                let gone = |hops: &NextHops| matches!(hops.get(&address), Some(Err(_)));
                timeout(Duration::from_millis(900), hops.wait_for(gone)).await.unwrap().unwrap();
            };
            tokio::select! {
                ended = watch(addresses, to) => panic!("{ended:?}"),
                () = follow => {}
            }
        });
    });
}

#[test]
fn changes_come_as_one_and_then_there_are_none() {
    if skip_without(Need::Root) {
        return;
    }
    let wire = Wire::lay();
    wire.inside(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // What comes of laying the wire has settled.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut changes = Changes::open().unwrap();
            wire.own("route add 192.0.2.0/24 via 10.9.0.2");
            wire.own("neigh add 10.9.0.5 lladdr 02:00:00:00:00:05 dev eth");
            timeout(LONG, changes.next()).await.unwrap().unwrap();
            assert!(timeout(Duration::from_millis(100), changes.next()).await.is_err());
        });
    });
}
