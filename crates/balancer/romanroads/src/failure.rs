//! R3: connections broken by the death of one of several balancers (figure 6c).
//!
//! Connections of two subflows over 100 backends; the router sends the dead one's flows to the
//! others, and leaves the others'. Each subflow then sends to its backend. Once all have, each
//! connection opens another subflow.

use serde::Serialize;

use crate::system::System;
use crate::testbed::{Session, Testbed, percent};
use heddle_harness::Error;

const BACKENDS: usize = 100;

/// One point of figure 6c, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Point {
    /// The system.
    pub(crate) system: System,
    /// Balancers before one of them dies.
    pub(crate) balancers: usize,
    /// Connections whose first subflow no longer reaches its backend.
    pub(crate) connections: f64,
    /// Second subflows that do not.
    pub(crate) secondaries: f64,
    /// Connections that no new subflow can join.
    pub(crate) affected: f64,
}

/// All points: 2 to 8 balancers.
///
/// # Errors
/// Those of the kernel: root is needed.
pub(crate) fn run(connections: u32, seed: u64) -> Result<Vec<Point>, Error> {
    let systems = [System::Published, System::Learn];
    let each = systems.into_iter().flat_map(|system| (2..=8).map(move |n| (system, n)));
    each.map(|(system, balancers)| point(system, balancers, connections, seed)).collect()
}

fn point(system: System, balancers: usize, connections: u32, seed: u64) -> Result<Point, Error> {
    let mut testbed = Testbed::new(system, balancers, BACKENDS, connections, seed)?;
    let mut sessions = opened(&mut testbed, connections)?;
    testbed.cluster.advance(crate::testbed::SECOND)?;
    testbed.cluster.kill(balancers - 1)?;
    for session in &mut sessions {
        testbed.send_segments(session)?;
    }
    // Registrations that are due are sent with the next packet or two.
    for session in &mut sessions {
        testbed.send_segments(session)?;
    }
    let mut affected = 0;
    for (client, session) in sessions.iter().enumerate() {
        let subflow = testbed.flow(client as u32);
        affected += u64::from(!testbed.join_arrives(session, &subflow, None)?);
    }
    let broken = |subflow: usize| {
        let dead = sessions.iter().filter(|session| !session.alive[subflow]).count();
        percent(dead as u64, sessions.len() as u64)
    };
    let affected = percent(affected, sessions.len() as u64);
    Ok(Point { system, balancers, connections: broken(0), secondaries: broken(1), affected })
}

fn opened(testbed: &mut Testbed, connections: u32) -> Result<Vec<Session>, Error> {
    let mut sessions = Vec::new();
    for client in 0..connections {
        let Some(mut session) = testbed.open(client, None)? else { continue };
        testbed.join_second(&mut session)?;
        testbed.send_segments(&mut session)?;
        if session.alive == [true; 2] {
            sessions.push(session);
        }
    }
    Ok(sessions)
}
