//! The kernel's settings that stand for a scenario's transport, and those of a router.

use heddle_scenario::Transport;
use heddle_transport::mptcp::MptcpConfig;
use heddle_transport::{Control, LossDetection, Recovery, TcpConfig};
use heddle_units::Time;

/// IPv4's and TCP's headers without options; MPTCP's options come out of the payload.
pub(crate) const HEADERS: u32 = 40;

/// The kernel's bounds of its timeouts.
const MIN_RTO: Time = Time::micros(1000);
/// The kernel's largest retransmission timeout; `tcp_rto_max_ms` lowers it to a second at most.
const MAX_RTO: Time = Time::secs(120);

/// `fib_multipath_hash_fields` for addresses, protocol and ports as the packet has them, not as the
/// sending socket hashed them.
const FIVE_TUPLE: u32 = 0x37;

/// Settings of a host, as `sysctl` takes them. Loss detection is the simulator's: that of RFC 6675
/// (no RACK, no tail loss probe, no adaptive threshold), or RACK-TLP with DSACK. Nothing is
/// remembered of a peer from one connection to the next.
pub(crate) fn of_host(transport: &Transport) -> Vec<String> {
    let tcp = transport.tcp();
    let window = tcp.receive_window.0;
    let sack = u8::from(tcp.recovery == Recovery::Sack);
    let (rack, probes) = match tcp.loss_detection {
        LossDetection::DupAck => (0, 0),
        LossDetection::Rack => (1, 3),
    };
    let mut settings = vec![
        format!("net.ipv4.tcp_congestion_control={}", control(tcp.control)),
        format!("net.ipv4.tcp_sack={sack}"),
        format!("net.ipv4.tcp_dsack={rack}"),
        format!("net.ipv4.tcp_recovery={rack}"),
        format!("net.ipv4.tcp_early_retrans={probes}"),
        "net.ipv4.tcp_frto=0".into(),
        "net.ipv4.tcp_timestamps=0".into(),
        "net.ipv4.tcp_no_metrics_save=1".into(),
        "net.ipv4.tcp_moderate_rcvbuf=0".into(),
        // Half of a receive buffer is window; the other half is for the kernel's own structures.
        format!("net.ipv4.tcp_rmem=4096 {0} {0}", 2 * window),
        // Send buffers grow with the congestion window. A large one from the start would let the
        // first subflow take all of a flow into its queue before another has joined.
        format!("net.ipv4.tcp_wmem=4096 16384 {}", 4 * window.max(1 << 20)),
        format!("net.ipv4.tcp_reordering={}", tcp.dup_threshold),
        format!("net.ipv4.tcp_max_reordering={}", tcp.dup_threshold),
        format!("net.ipv4.tcp_slow_start_after_idle={}", u8::from(tcp.idle_restart)),
        format!("net.ipv4.tcp_rto_min_us={}", min_rto(&tcp).as_nanos() / 1000),
        format!("net.ipv4.tcp_rto_max_ms={}", max_rto(&tcp).as_nanos() / 1_000_000),
        "net.ipv4.tcp_max_syn_backlog=4096".into(),
        "net.core.somaxconn=4096".into(),
        "net.ipv4.ip_local_port_range=10000 65000".into(),
        "net.ipv4.tcp_tw_reuse=1".into(),
        "net.ipv4.conf.all.rp_filter=0".into(),
        "net.ipv4.conf.default.rp_filter=0".into(),
        "net.ipv6.conf.all.disable_ipv6=1".into(),
        "net.ipv6.conf.default.disable_ipv6=1".into(),
    ];
    if matches!(transport, Transport::Mptcp(MptcpConfig { .. })) {
        // A client that lost a few SYNs would give MPTCP up for an hour, as behind a middlebox.
        settings.push("net.mptcp.blackhole_timeout=0".into());
    }
    settings
}

/// Settings of a switch: it routes, and hashes what the packet has, each with a seed of its own.
pub(crate) fn of_switch(node: u32) -> Vec<String> {
    [
        "net.ipv4.ip_forward=1".to_owned(),
        "net.ipv4.fib_multipath_hash_policy=3".into(),
        format!("net.ipv4.fib_multipath_hash_fields={FIVE_TUPLE}"),
        format!("net.ipv4.fib_multipath_hash_seed={}", 0x9e37_79b9_u32.wrapping_mul(node + 1)),
        "net.ipv4.conf.all.rp_filter=0".into(),
        "net.ipv4.conf.default.rp_filter=0".into(),
        "net.ipv4.conf.all.send_redirects=0".into(),
        "net.ipv4.conf.default.send_redirects=0".into(),
        "net.ipv6.conf.all.disable_ipv6=1".into(),
        "net.ipv6.conf.default.disable_ipv6=1".into(),
    ]
    .into()
}

/// Options of a host's route: the initial window, and acknowledgements of every segment.
pub(crate) fn route_metrics(tcp: &TcpConfig) -> String {
    let quick = if tcp.delayed_ack.is_none() { " quickack 1" } else { "" };
    format!("initcwnd {}{quick}", tcp.initial_window)
}

/// The least retransmission timeout that hosts have.
pub(crate) fn min_rto(tcp: &TcpConfig) -> Time {
    tcp.min_rto.max(MIN_RTO).min(MAX_RTO)
}

/// The largest.
pub(crate) fn max_rto(tcp: &TcpConfig) -> Time {
    tcp.max_rto.max(min_rto(tcp)).max(Time::secs(1)).min(MAX_RTO)
}

/// The kernel's name of a congestion controller.
pub(crate) fn control(control: Control) -> &'static str {
    match control {
        Control::Cubic => "cubic",
        Control::NewReno | Control::Dctcp | Control::Coupled => "reno",
    }
}
