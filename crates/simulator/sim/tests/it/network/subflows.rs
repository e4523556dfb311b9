//! MP-HULA: ToRs associate subflows by their handshakes, and assign different paths to them.

use heddle_scenario::Scenario;
use heddle_sim::{Outcome, PathUse};

use crate::network::support::{run, scenario};

/// Every flow crosses between the pods, so that each connection passes two ToRs.
const TWO_POD: &str = r#"
    [scheme]
    kind = "mp-hula"
    best_k = 2
    [fabric]
    kind = "two-pod"
    hosts_per_tor = 4
    host_buffer = "375KB"
    [transport]
    kind = "mptcp"
    subflows = 2
    [workload]
    kind = "long"
    pairs = ["host-1 host-9", "host-3 host-11", "host-5 host-13", "host-12 host-4"]
    start_within = "1ms"
    [measure]
    probe_warm_up = "2ms"
    warm_up = "10ms"
    duration = "10ms"
    sample_every = "50us"
"#;

fn long(overrides: &[(&str, &str)]) -> Scenario {
    scenario(TWO_POD, overrides)
}

#[test]
fn both_tors_know_every_subflow_of_every_connection() {
    for version in ["0", "1"] {
        for join in ["after-data", "at-once"] {
            for subflows in [2u64, 4] {
                let count = subflows.to_string();
                let overrides = [
                    ("transport.version", version),
                    ("transport.join", join),
                    ("transport.subflows", &*count),
                ];
                let known = run(&long(&overrides), 1).scheme.association;
                assert_eq!((known.connections, known.joins), (8, 8 * (subflows - 1)));
                assert_eq!((known.unknown_tokens, known.token_collisions), (0, 0));
                assert_eq!(known.table_collisions, 0, "version {version}, {join}");
            }
        }
    }
}

/// A connection with one subflow needs no shim.
#[test]
fn a_connection_of_one_path_gets_no_shim() {
    for transport in [r#"{ kind = "tcp" }"#, r#"{ kind = "mptcp", subflows = 1 }"#] {
        let outcome = run(&long(&[("transport", transport)]), 1);
        assert!(outcome.totals.delivered.0 > 1_000_000);
        assert_eq!((outcome.scheme.shims, outcome.scheme.shared), (0, 0), "{transport}");
    }
}

fn used(outcome: &Outcome) -> PathUse {
    outcome.path_use.expect("it is sampled")
}

/// Host 1's two subflows leave by different uplinks under MP-HULA, by the same one under HULA,
/// which has one best hop.
#[test]
fn subflows_leave_their_tor_by_different_links() {
    let share = |scheme: &str| {
        let outcomes = (1..=4).map(|seed| run(&long(&[("scheme", scheme)]), seed));
        let (shared, samples) = outcomes.fold((0, 0), |(shared, samples), outcome| {
            let used = used(&outcome);
            (shared + used.shared_first_hop, samples + used.samples)
        });
        assert!(samples > 500, "{scheme}: {samples}");
        shared as f64 / samples as f64
    };
    let (ecmp, mp_hula) = (share("ecmp"), share("mp-hula"));
    assert!(mp_hula < 0.1, "{mp_hula} of the samples; by ECMP {ecmp}");
}
