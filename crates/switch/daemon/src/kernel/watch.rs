//! The kernel's tables, read again whenever they change.

use std::io;
use std::time::Duration;

use heddle_daemon::links;
use heddle_daemon::netlink::{self, Netlink};
use netlink_packet_route::link::{InfoData, InfoVrf, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::neighbour::NeighbourMessage;
use netlink_packet_route::route::RouteMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rtnetlink::MulticastGroup;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_stream::StreamExt as _;

use super::fib::Fib;
use super::nexthops::{self, NextHops};
use crate::config::{KernelRoutes, Table};

/// Notifications after which the table may be another, beside those of nexthop objects.
const GROUPS: [MulticastGroup; 4] = [
    MulticastGroup::Link,
    MulticastGroup::Neigh,
    MulticastGroup::Ipv4Route,
    MulticastGroup::Ipv6Route,
];
/// The least wait for further notifications after the first one: they come in bursts.
const DEBOUNCE: Duration = Duration::from_millis(10);
/// The wait in times of what the last reading took: large tables that change all the time take a
/// fifth of a processor at most.
const SHARE: u32 = 4;
/// The time between two readings without a notification.
const INTERVAL: Duration = Duration::from_secs(10);
/// The longest wait for the kernel's answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The reasons why the kernel's routes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// There is no such VRF.
    #[error("there is no VRF {0} here\nhelp: `ip link show type vrf` lists them")]
    NoVrf(String),
    /// The kernel does not answer, or with an error.
    #[error("the kernel does not tell its routes: {0}")]
    Kernel(#[from] io::Error),
}

/// A connection by which all of it is read.
struct Reader {
    netlink: Netlink,
    objects: NextHops,
}

/// The table now, in the network namespace of the calling thread.
///
/// # Errors
/// [`KernelError`].
pub async fn read(routes: &KernelRoutes) -> Result<Fib, KernelError> {
    let (reader, _) = Reader::open()?;
    reader.read(routes).await
}

/// Sends the table whenever it changes, until the receiver is dropped. In the network namespace of
/// the calling thread.
///
/// # Errors
/// [`KernelError`].
pub async fn watch(routes: KernelRoutes, to: Sender<Fib>) -> Result<(), KernelError> {
    // A connection of its own: what is not read in time costs no answer.
    let (_netlink, mut notifications) = netlink::open(&GROUPS)?;
    let (reader, mut objects) = Reader::open()?;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut took = Duration::ZERO;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            changed = notifications.next() => changed?,
            changed = objects.next() => changed.ok_or(io::ErrorKind::BrokenPipe).map_err(io::Error::from)?,
            () = to.closed() => return Ok(()),
        }
        sleep(DEBOUNCE.max(took * SHARE)).await;
        notifications.discard().await?;
        while let Ok(Some(())) = timeout(Duration::ZERO, objects.next()).await {}
        let started = Instant::now();
        let found = reader.read(&routes).await?;
        took = started.elapsed();
        to.send_if_modified(|sent| {
            let changed = *sent != found;
            *sent = found;
            changed
        });
    }
}

impl Reader {
    fn open() -> io::Result<(Reader, nexthops::Changes)> {
        let (netlink, _) = netlink::open(&[])?;
        let (objects, changes) = nexthops::open()?;
        Ok((Reader { netlink, objects }, changes))
    }

    async fn read(&self, routes: &KernelRoutes) -> Result<Fib, KernelError> {
        let table = self.table(&routes.table).await?;
        let objects = timeout(TIMEOUT, self.objects.all());
        let objects = objects.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let (mut all, mut neighbours) = (Vec::new(), Vec::new());
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            all.extend(self.routes(family).await?);
            neighbours.extend(self.neighbours(family).await?);
        }
        Ok(Fib::new(table, &all, &objects, &neighbours))
    }

    async fn table(&self, table: &Table) -> Result<u32, KernelError> {
        match table {
            Table::Number(number) => Ok(*number),
            Table::Vrf(name) => {
                let link = links::by_name(&self.netlink, name).await?;
                link.as_ref().and_then(table_of).ok_or_else(|| KernelError::NoVrf(name.clone()))
            }
        }
    }

    async fn routes(&self, family: AddressFamily) -> io::Result<Vec<RouteMessage>> {
        let mut request = RouteMessage::default();
        request.header.address_family = family;
        let answers = self.netlink.dump(RouteNetlinkMessage::GetRoute(request)).await?;
        let route = |answer| match answer {
            RouteNetlinkMessage::NewRoute(route) => Some(route),
            _ => None,
        };
        Ok(answers.into_iter().filter_map(route).collect())
    }

    async fn neighbours(&self, family: AddressFamily) -> io::Result<Vec<NeighbourMessage>> {
        let mut request = NeighbourMessage::default();
        request.header.family = family;
        let answers = self.netlink.dump(RouteNetlinkMessage::GetNeighbour(request)).await?;
        let neighbour = |answer| match answer {
            RouteNetlinkMessage::NewNeighbour(neighbour) => Some(neighbour),
            _ => None,
        };
        Ok(answers.into_iter().filter_map(neighbour).collect())
    }
}

/// The routing table of a VRF's device.
fn table_of(link: &LinkMessage) -> Option<u32> {
    let infos = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => Some(infos),
        _ => None,
    })?;
    let data = infos.iter().find_map(|info| match info {
        LinkInfo::Data(InfoData::Vrf(data)) => Some(data),
        _ => None,
    })?;
    data.iter().find_map(|one| match one {
        InfoVrf::TableId(number) => Some(*number),
        _ => None,
    })
}
