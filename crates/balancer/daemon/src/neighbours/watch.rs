//! The next hops of many addresses, kept up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use rtnetlink::MulticastGroup;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{NextHop, Resolver};
use crate::netlink;

/// The notifications after which next hops may be others.
const GROUPS: [MulticastGroup; 4] = [
    MulticastGroup::Link,
    MulticastGroup::Neigh,
    MulticastGroup::Ipv4Route,
    MulticastGroup::Ipv6Route,
];
/// The time after which missing and stale neighbours are resolved again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// The wait for further notifications after the first one: they come in bursts.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Next hops by address; an address without one has the reason instead.
pub type NextHops = BTreeMap<IpAddr, Result<NextHop, String>>;

/// Sends the next hops of `addresses` whenever one changes, until either end is dropped. In the
/// network namespace of the calling thread.
///
/// # Errors
/// If the connection to the kernel fails.
pub async fn watch(
    mut addresses: watch::Receiver<BTreeSet<IpAddr>>,
    to: watch::Sender<NextHops>,
) -> io::Result<()> {
    let (netlink, mut notifications) = netlink::open(&GROUPS)?;
    let resolver = Resolver::new(netlink);
    let mut retry = interval(RETRY_INTERVAL);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = retry.tick() => {}
            changed = notifications.next() => {
                changed?;
                sleep(DEBOUNCE).await;
                notifications.discard().await?;
            }
            changed = addresses.changed() => if changed.is_err() { return Ok(()) },
            () = to.closed() => return Ok(()),
        }
        let wanted = addresses.borrow_and_update().clone();
        send(&to, resolve_all(&resolver, wanted).await);
    }
}

async fn resolve_all(resolver: &Resolver, addresses: BTreeSet<IpAddr>) -> NextHops {
    let mut found = NextHops::new();
    for address in addresses {
        let hop = resolver.resolve(address).await;
        found.insert(address, hop.map_err(|error| error.to_string()));
    }
    found
}

fn send(to: &watch::Sender<NextHops>, found: NextHops) {
    to.send_if_modified(|sent| {
        let changed = *sent != found;
        *sent = found;
        changed
    });
}
