//! The engine's version: a digest of small runs of every scheme.

use std::fmt::Write as _;
use std::sync::OnceLock;

use heddle_scenario::{Source, load};

use crate::{Next, simulate};

/// Two pods, and leaves and spines for CONGA, with buffers that fill.
const FABRICS: [&str; 2] = [
    r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", port_buffer = "15KB", convergence = "20us" }"#,
    r#"{ kind = "leaf-spine", leaves = 3, spines = 2, hosts_per_leaf = 2, spine_rate = "10Gbps", parallel_links = 1, port_buffer = "15KB", convergence = "20us" }"#,
];

const TRANSPORTS: [&str; 2] = [
    r#"{ kind = "tcp", min_rto = "1ms" }"#,
    r#"{ kind = "mptcp", subflows = 3, min_rto = "1ms", delayed_ack = "100us" }"#,
];

const SCHEMES: [&str; 13] = [
    "ecmp",
    "ecmp-ns2",
    "conga-prime",
    "conga",
    "letitflow",
    "drill",
    "flowcut",
    "spray",
    "hula",
    "mp-hula",
    "shuttle",
    "cflb",
    "ideal",
];

/// Buffers, marks, rates and paths of their own kinds, each with a transport that meets them.
const PORTS: [(&str, &str); 10] = [
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", port_buffer = "15KB", priority_bytes = "10KB", convergence = "20us" }"#,
        TRANSPORTS[1],
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", shared_buffer = { bytes = "30KB", alpha = 0.5 }, convergence = "20us" }"#,
        TRANSPORTS[0],
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", red = { min = "2KB", max = "12KB", weight = 0.1 }, convergence = "20us" }"#,
        r#"{ kind = "tcp", control = "dctcp", min_rto = "1ms" }"#,
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", red = { min = "2KB", max = "4KB", weight = 1.0, gentle = true }, convergence = "20us" }"#,
        r#"{ kind = "tcp", control = "cubic", min_rto = "1ms" }"#,
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", port_buffer = "15KB", control_first = true, trim_above = "12KB", red = { min = "2KB", max = "8KB", probability = 1.0, weight = 1.0 }, convergence = "20us" }"#,
        r#"{ kind = "uet", mss = 1460 }"#,
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", port_buffer = "15KB", control_first = true, trim_above = "12KB", convergence = "20us" }"#,
        r#"{ kind = "uet", mss = 1460, control = "rccc" }"#,
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, core_rate = "10Gbps", port_buffer = "60KB", priority_bytes = "10KB", red = { min = "2KB", max = "12KB", weight = 0.1 }, convergence = "20us" }"#,
        r#"{ kind = "tcp", control = "dctcp", min_rto = "1ms" }"#,
    ),
    (
        r#"{ kind = "two-pod", hosts_per_tor = 2, port_buffer = "15KB", link = [{ between = "core-1 agg-4", reverse_rate = "1Gbps" }], convergence = "20us" }"#,
        TRANSPORTS[0],
    ),
    (
        r#"{ kind = "dragonfly", routers = 2, port_buffer = "15KB", routing = "valiant", convergence = "20us" }"#,
        TRANSPORTS[1],
    ),
    (
        r#"{ kind = "dragonfly", routers = 2, port_buffer = "15KB", routing = "ugal-g", intermediate = "packet", convergence = "20us" }"#,
        TRANSPORTS[0],
    ),
];

/// Losses at two receivers, flows in both directions, a path that fails and recovers below them: a
/// few thousand packet-hops.
const FLOWS: &str = "at,from,to,size
0us,host-1,host-5,60KB
0us,host-2,host-5,60KB
1us,host-3,host-6,30KB
2us,host-4,host-6,45KB
5us,host-5,host-1,20KB
30us,host-6,host-2,60KB
80us,host-1,host-6,40KB
120us,host-2,host-4,25KB
";

/// A digest of golden runs, 16 hexadecimal digits: it changes with the behaviour of the engine, its
/// transports and its schemes, and not with anything else. Computed once in a process, in
/// milliseconds.
pub fn engine_digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let mut digest = 0u64;
        let mut add = |run: u64| {
            digest = digest.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run;
        };
        for run in FABRICS.iter().flat_map(|fabric| TRANSPORTS.map(|t| (*fabric, t))) {
            SCHEMES.iter().for_each(|scheme| add(golden(run, scheme)));
        }
        PORTS.iter().for_each(|run| add(golden(*run, "ecmp")));
        let mut text = String::new();
        let _ = write!(text, "{digest:016x}");
        text
    })
}

/// Digest of a run and of its flows; 0 for a scheme that does not fit the fabric.
fn golden((fabric, transport): (&str, &str), scheme: &str) -> u64 {
    let links = [("two-pod", "core-2 agg-4"), ("dragonfly", "router-2 router-5")];
    let link = links.iter().find(|(kind, _)| fabric.contains(kind));
    let event = link.map_or("leaf-2 spine-2", |(_, link)| link);
    let text = format!(
        r#"
        scheme = "{scheme}"
        fabric = {fabric}
        transport = {transport}
        workload = {{ kind = "replay", file = "flows.csv" }}
        event = [{{ at = "1050us", fail = ["{event}"] }}, {{ at = "1200us", recover = ["{event}"] }}]
        "#
    );
    let files = |_: &str| Ok(FLOWS.to_owned());
    let Ok(scenario) = load(&Source::new("golden.toml", text), &files) else { return 0 };
    let Ok(outcome) = simulate(&scenario, 1, &mut |_| Next::Continue) else { return 0 };
    let times = outcome.flows.iter().map(|flow| flow.fct.0 ^ flow.ideal_fct.0.rotate_left(32));
    times.fold(outcome.digest, |digest, time| digest.rotate_left(9) ^ time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_ports_and_paths_runs_and_differs() {
        let mut digests = PORTS.map(|run| golden(run, "ecmp"));
        assert!(digests.iter().all(|&digest| digest != 0), "{digests:x?}");
        digests.sort_unstable();
        assert!(digests.windows(2).all(|pair| pair[0] != pair[1]), "{digests:x?}");
    }

    #[test]
    fn every_scheme_runs_on_one_of_the_fabrics_and_differs() {
        let digests_of =
            |scheme| TRANSPORTS.map(|t| FABRICS.map(|fabric| golden((fabric, t), scheme)));
        let mut digests: Vec<_> = SCHEMES.iter().map(|scheme| digests_of(scheme)).collect();
        assert!(digests.iter().flatten().all(|pair| pair.iter().any(|&digest| digest != 0)));
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), SCHEMES.len());
        assert_eq!(engine_digest().len(), 16);
    }
}
