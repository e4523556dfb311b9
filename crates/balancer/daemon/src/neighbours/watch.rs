//! Keeps the next hops of many addresses up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{Changes, NextHop, Resolver};

/// How often what is missing, or ageing, is asked for again.
const AGAIN: Duration = Duration::from_secs(1);
/// Changes come in crowds: how long to wait for the rest of one.
const CROWD: Duration = Duration::from_millis(20);

/// Next hops by address; an address without one has the reason instead.
pub type NextHops = BTreeMap<IpAddr, Result<NextHop, String>>;

/// Tells of the next hops of `addresses` whenever one changes, until either end is dropped. In the network namespace of the calling thread.
///
/// # Errors
/// If the kernel's sockets fail.
pub async fn watch(
    mut addresses: watch::Receiver<BTreeSet<IpAddr>>,
    to: watch::Sender<NextHops>,
) -> io::Result<()> {
    let (mut resolver, mut changes) = (Resolver::open()?, Changes::open()?);
    let mut again = interval(AGAIN);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = again.tick() => {}
            changed = changes.next() => {
                changed?;
                sleep(CROWD).await;
            }
            changed = addresses.changed() => if changed.is_err() { return Ok(()) },
            () = to.closed() => return Ok(()),
        }
        let resolve = |address: &IpAddr| (*address, resolver.resolve(*address));
        let all: Vec<_> = addresses.borrow_and_update().iter().map(resolve).collect();
        let said = all.into_iter().map(|(address, hop)| (address, hop.map_err(|e| e.to_string())));
        tell(&to, said.collect());
    }
}

fn tell(to: &watch::Sender<NextHops>, found: NextHops) {
    to.send_if_modified(|told| {
        let changed = *told != found;
        *told = found;
        changed
    });
}
