//! R3: what breaks when one of several balancers dies (figure 6c).
//!
//! Connections of two subflows over 100 backends; the router sends the dead one's flows to the others, and leaves the others'. Each
//! subflow then sends: does it reach its backend? Once all have, each connection opens another subflow.

use serde::Serialize;

use super::System;
use super::session::{Rig, Session, percent};
use crate::Error;

const BACKENDS: usize = 100;

/// One point of figure 6c, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// What spreads them.
    pub system: System,
    /// Balancers before one of them dies.
    pub balancers: usize,
    /// Connections whose first subflow no longer reaches its backend.
    pub connections: f64,
    /// Second subflows that do not.
    pub secondaries: f64,
    /// Connections that no new subflow can join.
    pub affected: f64,
}

/// All points: 2 to 8 balancers.
///
/// # Errors
/// What the kernel says: root is needed.
pub fn run(connections: u32, seed: u64) -> Result<Vec<Point>, Error> {
    let systems = [System::Published, System::Learn];
    let each = systems.into_iter().flat_map(|system| (2..=8).map(move |n| (system, n)));
    each.map(|(system, balancers)| point(system, balancers, connections, seed)).collect()
}

fn point(system: System, balancers: usize, connections: u32, seed: u64) -> Result<Point, Error> {
    let mut rig = Rig::new(system, balancers, BACKENDS, connections, seed)?;
    let mut sessions = opened(&mut rig, connections)?;
    rig.cluster.advance(super::session::SECOND)?;
    rig.cluster.kill(balancers - 1)?;
    for session in &mut sessions {
        rig.talk(session)?;
    }
    // What was due is paid within a packet or two.
    for session in &mut sessions {
        rig.talk(session)?;
    }
    let mut affected = 0;
    for (client, session) in sessions.iter().enumerate() {
        let subflow = rig.flow(client as u32);
        affected += u64::from(!rig.joins(session, &subflow, None)?);
    }
    let broken = |subflow: usize| {
        let dead = sessions.iter().filter(|session| !session.alive[subflow]).count();
        percent(dead as u64, sessions.len() as u64)
    };
    let affected = percent(affected, sessions.len() as u64);
    Ok(Point { system, balancers, connections: broken(0), secondaries: broken(1), affected })
}

fn opened(rig: &mut Rig, connections: u32) -> Result<Vec<Session>, Error> {
    let mut sessions = Vec::new();
    for client in 0..connections {
        let Some(mut session) = rig.open(client, None)? else { continue };
        rig.join_second(&mut session)?;
        rig.talk(&mut session)?;
        if session.alive == [true; 2] {
            sessions.push(session);
        }
    }
    Ok(sessions)
}
