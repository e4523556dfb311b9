//! `[transport]`.

use std::ops::RangeInclusive;

use heddle_config::Problem;
use heddle_transport::mptcp::{Coupling, FullWindow, MptcpConfig, Scheduler};
use heddle_transport::{Control, LossDetection, Pacing, Recovery, ReorderingWindow, TcpConfig};
use heddle_units::Bytes;
use heddle_wire::Subflow;

use super::times::{bounded, positive};
use super::uet;
use crate::{Transport, raw};

/// The smallest MSS: IPv4's least MTU of 68 bytes (RFC 791) without headers of 40.
const LEAST_MSS: u16 = 28;

/// The largest MSS: a jumbo frame of 9000 bytes without headers of 40.
const MOST_MSS: u16 = 8960;

/// The largest receive window: 30 bits (RFC 7323 section 2.3).
const MOST_WINDOW: u64 = 1 << 30;

/// Pacing ratios in percent: the bounds of Linux's `tcp_pacing_ss_ratio`, without 0, which turns
/// pacing off there.
const PACING_RATIOS: RangeInclusive<u16> = 1..=1000;

pub(super) fn resolve(transport: &raw::Transport) -> Result<Transport, Problem> {
    match transport {
        raw::Transport::Tcp(tcp) => config(tcp).map(Transport::Tcp),
        raw::Transport::Mptcp(mptcp) => multipath(mptcp).map(Transport::Mptcp),
        raw::Transport::Uet(uet) => {
            check_mss(uet.mss).and_then(|()| uet::check(uet)).map(Transport::Uet)
        }
    }
    .map_err(|problem| problem.inside("transport"))
}

fn multipath(mptcp: &MptcpConfig) -> Result<MptcpConfig, Problem> {
    check_control(mptcp.coupling, mptcp.tcp.control)?;
    let tcp = config(&mptcp.tcp)?;
    check_subflows(mptcp.subflows)?;
    check_full_window(mptcp.full_window, mptcp.scheduler)?;
    if let Some(size) = mptcp.subflow_window {
        check_window("subflow_window", size, &mptcp.tcp)?;
    }
    Ok(MptcpConfig { tcp, ..*mptcp })
}

/// A coupling is a controller of its own.
fn check_control(coupling: Coupling, control: Control) -> Result<(), Problem> {
    if coupling == Coupling::Uncoupled || control == Control::NewReno {
        return Ok(());
    }
    Err(Problem::at("control", "a coupling has its own controller")
        .help("`control` is for `coupling = \"uncoupled\"`"))
}

/// Under the redundant scheduler no subflow waits for another one's data.
fn check_full_window(full_window: FullWindow, scheduler: Scheduler) -> Result<(), Problem> {
    if full_window != FullWindow::Wait && scheduler == Scheduler::Redundant {
        let message = "the redundant scheduler sends everything on every subflow already";
        return Err(Problem::at("full_window", message)
            .help("`scheduler = \"lowest-rtt\"`, or `full_window = \"wait\"`"));
    }
    Ok(())
}

fn check_subflows(subflows: u8) -> Result<(), Problem> {
    let message = match subflows {
        0 => "a connection has at least its first subflow".to_owned(),
        1..=Subflow::MAX => return Ok(()),
        _ => format!(
            "{subflows} subflows cannot be told apart by the 4-bit subflow number of MP-HULA's shim"
        ),
    };
    Err(Problem::at("subflows", message).help(format!("from 1 to {}", Subflow::MAX)))
}

/// The parameters with every default.
fn config(tcp: &TcpConfig) -> Result<TcpConfig, Problem> {
    check(tcp)?;
    let max_rto = bounded("max_rto", tcp.max_rto)?;
    let min_rto = positive("min_rto", tcp.min_rto)?;
    let initial_rto = positive("initial_rto", tcp.initial_rto())?;
    for (key, rto) in [("min_rto", min_rto), ("initial_rto", initial_rto)] {
        if rto > max_rto {
            return Err(Problem::at(key, format!("{rto} is more than `max_rto`, {max_rto}")));
        }
    }
    if let Some(delay) = tcp.delayed_ack {
        positive("delayed_ack", delay)?;
    }
    if tcp.output_limit == Some(Bytes(0)) {
        return Err(Problem::at("output_limit", "no data would be sent")
            .help("at least 1B, which is a segment at a time; leave it out for no limit"));
    }
    if let Some(ratios) = tcp.pacing {
        check_pacing(ratios)?;
    }
    if let Some(window) = tcp.reordering_window {
        check_reordering_window(window, tcp.loss_detection)?;
    }
    Ok(TcpConfig { initial_rto: Some(initial_rto), ..*tcp })
}

fn check_reordering_window(
    window: ReorderingWindow,
    loss_detection: LossDetection,
) -> Result<(), Problem> {
    let key = "reordering_window";
    if loss_detection != LossDetection::Rack {
        return Err(Problem::at(key, "duplicate acknowledgements have none")
            .help("`loss_detection = \"rack\"`; or `dup_threshold`"));
    }
    match window {
        ReorderingWindow::Fixed(time) => bounded(key, time).map(drop),
        ReorderingWindow::Measured(_) => Ok(()),
    }
}

fn check_pacing(ratios: Pacing) -> Result<(), Problem> {
    let Pacing { slow_start_ratio, avoidance_ratio } = ratios;
    for (key, ratio) in
        [("slow_start_ratio", slow_start_ratio), ("avoidance_ratio", avoidance_ratio)]
    {
        if !PACING_RATIOS.contains(&ratio) {
            let message = format!("{ratio} percent is not a pacing ratio");
            let (least, most) = PACING_RATIOS.into_inner();
            let help = format!("from {least} to {most}; Linux has 200 in slow start, 120 after it");
            return Err(Problem::at(key, message).help(help).inside("pacing"));
        }
    }
    Ok(())
}

fn check_mss(mss: u16) -> Result<(), Problem> {
    if (LEAST_MSS..=MOST_MSS).contains(&mss) {
        return Ok(());
    }
    Err(Problem::at("mss", format!("{mss} is not a segment's payload"))
        .help(format!("from {LEAST_MSS} to {MOST_MSS} bytes; 1460 fills an MTU of 1500")))
}

fn check(tcp: &TcpConfig) -> Result<(), Problem> {
    check_mss(tcp.mss)?;
    for (key, count) in
        [("initial_window", tcp.initial_window), ("dup_threshold", tcp.dup_threshold)]
    {
        if count == 0 {
            return Err(Problem::at(key, "must be at least 1"));
        }
    }
    if let (LossDetection::Rack, Recovery::NewReno) = (tcp.loss_detection, tcp.recovery) {
        return Err(Problem::at("loss_detection", "RACK needs selective acknowledgements")
            .help("`recovery = \"sack\"`"));
    }
    if let Some(segments @ 0..2) = tcp.initial_ssthresh {
        return Err(Problem::at("initial_ssthresh", format!("{segments} segments are too few"))
            .help("at least 2 (RFC 5681 section 3.1)"));
    }
    check_window("receive_window", tcp.receive_window, tcp)
}

/// A window that the initial one fits.
fn check_window(key: &str, size: Bytes, tcp: &TcpConfig) -> Result<(), Problem> {
    let least = u64::from(tcp.mss) * u64::from(tcp.initial_window);
    if (least..=MOST_WINDOW).contains(&size.0) {
        return Ok(());
    }
    Err(Problem::at(key, format!("{size} is not a window"))
        .help(format!("from {least}B (the initial window) to {MOST_WINDOW}B (RFC 7323)")))
}
