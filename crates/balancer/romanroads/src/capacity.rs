//! R2: entries that a table refuses, or gives up for others, when there are as many flows as places
//! in its main part (figure 6b).
//!
//! The paper's LRU table is DPDK's: buckets of four, the oldest of which gives way. That is our
//! table without extra buckets; the kernel's own LRU map is there for comparison. All flows are
//! joins, which may push out each other only.

use std::net::{IpAddr, Ipv4Addr};

use heddle_balancer_maps::abi::{AssignedKey, Counter, FlowKey};
use heddle_balancer_maps::{Balancer, Clock, Sizes};
use serde::Serialize;

use crate::testbed::percent;
use heddle_harness::{Cluster, Connection, Error, Flow, Random, Setup, service};

/// Places of the main part.
const PLACES: u32 = 1 << 16;

/// One bar of figure 6b.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The table.
    pub(crate) table: String,
    /// Extra places, in eighths of the main ones; none for the kernel's map.
    pub(crate) extra_eighths: Option<u32>,
    /// Flows that are not in it afterwards, in percent.
    pub(crate) failed: f64,
}

/// All bars.
///
/// # Errors
/// Those of the kernel: root is needed.
pub(crate) fn run(seed: u64) -> Result<Vec<Row>, Error> {
    let mut rows = vec![kernels_lru(seed)?];
    for eighths in 0..=3 {
        rows.push(row(eighths, seed)?);
    }
    Ok(rows)
}

fn row(extra_eighths: u32, seed: u64) -> Result<Row, Error> {
    let defaults = Setup::default();
    let flows = PLACES / 8 * (8 + extra_eighths);
    let sizes = Sizes { flows, extra_eighths, ..defaults.sizes };
    let mut cluster = Cluster::new(Setup { sizes, ..defaults })?;
    let mut random = Random::new(seed);
    let connection = Connection::new(flow(&mut random, 0), random.bits());
    for frame in [connection.syn(), connection.third_ack(), connection.data(0)] {
        cluster.send(0, &frame)?;
    }
    let (_, events) = cluster.watch(|cluster| {
        (0..PLACES).try_for_each(|join| {
            let subflow = flow(&mut random, join / 32_768);
            cluster.send(0, &connection.join(&subflow)).map(drop)
        })
    })?;
    let lost = events.count(Counter::FlowFull) + events.count(Counter::FlowEvicted);
    let table = match extra_eighths {
        0 => "Buckets of four, oldest gives way (LRU)".to_owned(),
        some => format!("Extendable, {some}/8 extra"),
    };
    Ok(Row { table, extra_eighths: Some(extra_eighths), failed: percent(lost, PLACES.into()) })
}

/// As many keys as the kernel's LRU map has places.
fn kernels_lru(seed: u64) -> Result<Row, Error> {
    let sizes = Sizes { assigned: PLACES, ..Setup::default().sizes };
    let mut balancer = Balancer::load(&sizes, Clock::Settings)?;
    let mut random = Random::new(seed);
    for place in 0..PLACES {
        let Flow { client, .. } = flow(&mut random, place / 32_768);
        let key = FlowKey { client: client.ip().into(), port: client.port(), ..FlowKey::default() };
        balancer.maps.assigned.insert(&key, &AssignedKey::default())?;
    }
    let kept = balancer.maps.assigned.entries()?.len() as u64;
    let failed = percent(u64::from(PLACES) - kept, PLACES.into());
    Ok(Row { table: "The kernel's LRU map".to_owned(), extra_eighths: None, failed })
}

/// From one of a few addresses, and a random port.
fn flow(random: &mut Random, client: u32) -> Flow {
    let address =
        IpAddr::V4(Ipv4Addr::from_bits(0x1400_0000 + (random.below(1 << 16) << 1) + client));
    let port = 1024 + random.below(0xffff - 1024) as u16;
    Flow { client: (address, port).into(), service: service(address) }
}
