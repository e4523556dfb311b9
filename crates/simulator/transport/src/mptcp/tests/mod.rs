//! Two-ended connections over links of their own, on a virtual clock.

mod fairness;
mod full_window;
mod handshakes;
mod net;
mod properties;
mod transfers;

use heddle_units::{Bytes, Rate, Time};

use super::{Coupling, FullWindow, JoinTime, MptcpConfig, Scheduler};
use crate::TcpConfig;
use heddle_wire::Version;
use net::Link;

/// Two subflows without coupling; changed by each test as it needs.
fn config() -> MptcpConfig {
    MptcpConfig {
        tcp: TcpConfig { receive_window: Bytes::mb(4), ..TcpConfig::default() },
        version: Version::V1,
        subflows: 2,
        coupling: Coupling::Uncoupled,
        scheduler: Scheduler::LowestRtt,
        join: JoinTime::AfterData,
        full_window: FullWindow::Wait,
        subflow_window: None,
    }
}

/// A link of 100 Mbps and 100 us one way, with room for two round trips.
fn link() -> Link {
    Link::new(Rate::mbps(100), Time::micros(100), Bytes(64_000))
}
