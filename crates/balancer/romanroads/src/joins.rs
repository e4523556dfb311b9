//! R1: joins that reach the backend of their connection (figure 6a, and "Steady State" of section
//! V-A2).
//!
//! A connection, then 100 joins from the same address and random ports. The paper opens one
//! connection; here it is fifty, so that shares mean something.

use serde::Serialize;

use crate::system::System;
use crate::testbed::{Testbed, percent};
use heddle_harness::Error;

const CONNECTIONS: u32 = 50;
const JOINS: u32 = 100;

/// One point of figure 6a.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Point {
    /// The system.
    pub(crate) system: System,
    /// One; or two, where connections are opened at one and joined at the other.
    pub(crate) balancers: usize,
    /// Backends.
    pub(crate) backends: usize,
    /// Joins that reached their connection's backend, in percent.
    pub(crate) right: f64,
}

/// All points.
///
/// # Errors
/// Those of the kernel: root is needed.
pub(crate) fn run(seed: u64) -> Result<Vec<Point>, Error> {
    let one = [System::Tcp, System::Published, System::Learn].map(|system| (system, 1));
    let two = [System::Alone, System::Published, System::Learn].map(|system| (system, 2));
    let points = one.into_iter().chain(two);
    let each = points.flat_map(|(system, balancers)| (1..=4).map(move |b| (system, balancers, b)));
    each.map(|(system, balancers, backends)| point(system, balancers, backends, seed)).collect()
}

fn point(system: System, balancers: usize, backends: usize, seed: u64) -> Result<Point, Error> {
    let mut testbed = Testbed::new(system, balancers, backends, CONNECTIONS * JOINS, seed)?;
    let mut right = 0;
    for client in 0..CONNECTIONS {
        let Some(session) = testbed.open(client, Some(0))? else { continue };
        for _ in 0..JOINS {
            let subflow = testbed.flow(client);
            right += u64::from(testbed.join_arrives(&session, &subflow, Some(balancers - 1))?);
        }
    }
    let right = percent(right, u64::from(CONNECTIONS * JOINS));
    Ok(Point { system, balancers, backends, right })
}
