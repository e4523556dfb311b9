//! `[transport]`.

use heddle_transport::{Control, Recovery, TcpConfig};

use super::times::{bounded, positive};
use crate::error::Problem;
use crate::raw::{self, Tcp, Transport};

/// The smallest MSS: IPv4's least MTU of 68 bytes (RFC 791) without headers of 40.
const LEAST_MSS: u16 = 28;

/// The largest MSS: a jumbo frame of 9000 bytes without headers of 40.
const MOST_MSS: u16 = 8960;

/// The largest receive window: 30 bits (RFC 7323 section 2.3).
const MOST_WINDOW: u64 = 1 << 30;

pub(super) fn resolve(transport: &Transport) -> Result<TcpConfig, Problem> {
    let Transport::Tcp(tcp) = transport;
    check(tcp).and_then(|()| config(tcp)).map_err(|problem| problem.inside("transport"))
}

fn config(tcp: &Tcp) -> Result<TcpConfig, Problem> {
    let max_rto = bounded("max_rto", tcp.max_rto)?;
    let min_rto = positive("min_rto", tcp.min_rto)?;
    let initial_rto = positive("initial_rto", tcp.initial_rto.unwrap_or(min_rto))?;
    for (key, rto) in [("min_rto", min_rto), ("initial_rto", initial_rto)] {
        if rto > max_rto {
            return Err(Problem::at(key, format!("{rto} is more than `max_rto`, {max_rto}")));
        }
    }
    Ok(TcpConfig {
        mss: tcp.mss,
        initial_window: tcp.initial_window,
        control: control(tcp.control),
        recovery: match tcp.recovery {
            raw::Recovery::Sack => Recovery::Sack,
            raw::Recovery::NewReno => Recovery::NewReno,
        },
        min_rto,
        max_rto,
        initial_rto,
        receive_window: tcp.receive_window,
        delayed_ack: tcp.delayed_ack.map(|delay| positive("delayed_ack", delay)).transpose()?,
        idle_restart: tcp.idle_restart,
        dup_threshold: tcp.dup_threshold,
    })
}

fn control(control: raw::Control) -> Control {
    match control {
        raw::Control::NewReno => Control::NewReno,
        raw::Control::Cubic => Control::Cubic,
        raw::Control::Dctcp => Control::Dctcp,
    }
}

fn check(tcp: &Tcp) -> Result<(), Problem> {
    if !(LEAST_MSS..=MOST_MSS).contains(&tcp.mss) {
        return Err(Problem::at("mss", format!("{} is not a segment's payload", tcp.mss))
            .help(format!("from {LEAST_MSS} to {MOST_MSS} bytes; 1460 fills an MTU of 1500")));
    }
    for (key, count) in
        [("initial_window", tcp.initial_window), ("dup_threshold", tcp.dup_threshold)]
    {
        if count == 0 {
            return Err(Problem::at(key, "must be at least 1"));
        }
    }
    let least = u64::from(tcp.mss) * u64::from(tcp.initial_window);
    if tcp.receive_window.0 < least || tcp.receive_window.0 > MOST_WINDOW {
        return Err(Problem::at(
            "receive_window",
            format!("{} is not a window", tcp.receive_window),
        )
        .help(format!("from {least}B (the initial window) to {MOST_WINDOW}B (RFC 7323)")));
    }
    Ok(())
}
