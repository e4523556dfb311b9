//! In two network namespaces: this machine's, and a neighbour's that is also a gateway.

use super::*;

use std::collections::BTreeSet;
use std::fs::File;
use std::future::Future;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use heddle_testing::{Need, skip_without};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::time::{sleep, timeout};

use crate::netlink;

const LONG: Duration = Duration::from_secs(300);
const OWN: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 2];

fn ip(arguments: &str) {
    let run = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(run.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&run.stderr));
}

/// `own` and `peer`, joined by a veth pair called `eth` in both.
struct Veth {
    own: String,
    peer: String,
}

impl Veth {
    fn create() -> Veth {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let id = format!("{}-{}", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let veth = Veth { own: format!("ops-own-{id}"), peer: format!("ops-peer-{id}") };
        ip(&format!("netns add {}", veth.own));
        ip(&format!("netns add {}", veth.peer));
        let Veth { own, peer } = &veth;
        ip(&format!(
            "-n {own} link add eth address 02:00:00:00:00:01 mtu 1400 type veth peer name eth address 02:00:00:00:00:02 netns {peer}"
        ));
        for (name, last) in [(own, 1), (peer, 2)] {
            ip(&format!("-n {name} addr add 10.9.0.{last}/24 dev eth"));
            ip(&format!("-n {name} addr add fd09::{last}/64 dev eth nodad"));
            ip(&format!("-n {name} link set eth up"));
            ip(&format!("-n {name} link set lo up"));
        }
        veth
    }

    fn own(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.own));
    }

    fn peer(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.peer));
    }

    /// Runs a future to its end in a thread of its own inside the namespace `own`.
    fn inside<T: Send, F: Future<Output = T>>(&self, work: impl FnOnce() -> F + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.own)).unwrap();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(std::os::fd::AsFd::as_fd(&namespace), kind).unwrap();
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(work())
            });
            thread.join().unwrap()
        })
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        for name in [&self.own, &self.peer] {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

fn resolver() -> Resolver {
    Resolver::new(netlink::open(&[]).unwrap().0)
}

/// Resolves until the neighbour is there.
async fn resolved(resolver: &Resolver, address: &str) -> NextHop {
    let (start, address) = (Instant::now(), address.parse().unwrap());
    loop {
        match resolver.resolve(address).await {
            Ok(hop) => return hop,
            Err(Unreachable::Unresolved { .. }) if start.elapsed() < LONG => {
                sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("{address}: {error}"),
        }
    }
}

#[test]
fn a_missing_neighbour_is_resolved_and_then_known() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.inside(|| async {
        let resolver = resolver();
        let first = resolver.resolve("10.9.0.2".parse().unwrap()).await;
        assert!(matches!(first, Err(Unreachable::Unresolved { .. })), "{first:?}");
        let hop = resolved(&resolver, "10.9.0.2").await;
        assert_eq!((hop.mac, hop.source_mac, hop.mtu), (PEER, OWN, 1400));
        assert_eq!(hop.source, "10.9.0.1".parse::<IpAddr>().unwrap());
        let hop6 = resolved(&resolver, "fd09::2").await;
        assert_eq!((hop6.mac, hop6.source_mac, hop6.ifindex), (PEER, OWN, hop.ifindex));
        assert_eq!(hop6.source, "fd09::1".parse::<IpAddr>().unwrap());
    });
}

#[test]
fn behind_a_gateway_the_gateway_is_the_neighbour() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.own("route add 192.0.2.0/24 via 10.9.0.2 mtu 1300");
    veth.own("route add 2001:db8::/32 via fd09::2");
    // IPv4 through an IPv6 neighbour (RFC 5549).
    veth.own("route add 198.51.100.0/24 via inet6 fd09::2");
    veth.inside(|| async {
        let resolver = resolver();
        let hop = resolved(&resolver, "192.0.2.7").await;
        assert_eq!((hop.mac, hop.mtu), (PEER, 1300));
        assert_eq!(resolved(&resolver, "2001:db8::7").await.mac, PEER);
        let hop = resolved(&resolver, "198.51.100.7").await;
        assert_eq!((hop.mac, hop.source), (PEER, "10.9.0.1".parse().unwrap()));
    });
}

#[test]
fn an_unreachable_address_has_its_reason() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.own("route add blackhole 203.0.113.1");
    veth.own("route add unreachable 203.0.113.2");
    veth.own("route add prohibit 203.0.113.3");
    veth.own("route add 203.0.113.4 dev lo");
    let why = |address: &str| {
        let address = address.parse().unwrap();
        veth.inside(move || async move { resolver().resolve(address).await.unwrap_err() })
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
    assert_eq!(why("203.0.113.4").to_string(), "interface lo is not Ethernet");
    let silent = why("10.9.0.77");
    assert_eq!(silent.to_string(), "10.9.0.77 does not answer on interface eth");
    veth.peer("link set eth down");
    assert_eq!(why("10.9.0.2").to_string(), "interface eth is down");
}

#[test]
fn a_neighbours_new_address_is_followed() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.inside(|| async {
        let address: IpAddr = "10.9.0.2".parse().unwrap();
        let (_wanted, addresses) = tokio::sync::watch::channel(BTreeSet::from([address]));
        let (to, mut hops) = tokio::sync::watch::channel(NextHops::new());
        let mac_is = |mac: [u8; 6]| {
            move |hops: &NextHops| matches!(hops.get(&address), Some(Ok(hop)) if hop.mac == mac)
        };
        let follow = async {
            timeout(LONG, hops.wait_for(mac_is(PEER))).await.unwrap().unwrap();
            veth.peer("link set eth address 02:00:00:00:00:03");
            veth.own("neigh flush dev eth");
            let new = [2, 0, 0, 0, 0, 3];
            timeout(LONG, hops.wait_for(mac_is(new))).await.unwrap().unwrap();
            veth.own("link set eth down");
            let gone = |hops: &NextHops| matches!(hops.get(&address), Some(Err(_)));
            timeout(LONG, hops.wait_for(gone)).await.unwrap().unwrap();
        };
        tokio::select! {
            ended = watch(addresses, to) => panic!("{ended:?}"),
            () = follow => {}
        }
    });
}

/// The watcher needs no poll to see a change: a notification comes at once, long before the next
/// retry.
#[test]
fn a_change_is_notified_and_without_one_there_is_no_notification() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.inside(|| async {
        let groups = [rtnetlink::MulticastGroup::Ipv4Route];
        let (_netlink, mut notifications) = netlink::open(&groups).unwrap();
        veth.own("route add 192.0.2.0/24 via 10.9.0.2");
        veth.own("route add 198.51.100.0/24 via 10.9.0.2");
        timeout(LONG, notifications.next()).await.unwrap().unwrap();
        notifications.discard().await.unwrap();
        assert!(timeout(Duration::from_millis(100), notifications.next()).await.is_err());
    });
}

#[test]
fn a_connection_that_ends_is_an_error() {
    if skip_without(Need::Root) {
        return;
    }
    let veth = Veth::create();
    veth.inside(|| async {
        let (netlink, mut notifications) = netlink::open(&[]).unwrap();
        drop(netlink);
        let error = timeout(LONG, notifications.next()).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    });
}
