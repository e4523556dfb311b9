//! Profiles of MP-HULA's evaluation. The paper contradicts itself on the number of hosts, and
//! everything depends on it.

use heddle_claims::{Basis, Profile, Setting};

/// The profiles; the first is the scenario files as they are.
pub(super) const PROFILES: &[Profile] = &[
    Profile {
        name: "8-hosts",
        title: "8 hosts a ToR: 16 clients and 16 servers, one interface each",
        basis: Basis::Reading,
        settings: &[],
    },
    Profile {
        name: "text",
        title: "16 hosts a ToR, one interface each",
        basis: Basis::Text,
        settings: &[Setting { key: "fabric.hosts_per_tor", value: "16", source: SIXTEEN }],
    },
    Profile {
        name: "ns-2",
        title: "16 hosts a ToR; two interfaces for an MPTCP host and one for a TCP host; no flow waits for another",
        basis: Basis::Inference,
        settings: &[
            Setting { key: "fabric.hosts_per_tor", value: "16", source: SIXTEEN },
            Setting {
                key: "fabric.interfaces",
                value: "2",
                source: "of MPTCP hosts: ns-2's only MPTCP (Nishida's) needs an interface node for each subflow, with a link of its own. Nothing shows that the authors did so, and it gives MPTCP twice TCP's access rate",
            },
            Setting {
                key: "workload.connections",
                value: "pool",
                source: "ns-2's flow generators of that time keep connections, and open another when none is idle",
            },
            Setting {
                key: "scheme",
                value: "ecmp-ns2",
                source: "of ECMP's switches: ns-2 has no ECMP by flow of its own; the patch of its classifier-mpath that came with DCTCP's and pFabric's simulations hashes so. With two next hops it is a parity, and the subflows of a connection of two interfaces share every hop",
            },
        ],
    },
];

const SIXTEEN: &str = "section 3: \"16 compute nodes are connected to each ToR using 10Gbps links\"; the talk's slides say the same";

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::point::Point as _;

    use super::*;
    use crate::mp_hula::claims::{MP_HULA, web};
    use crate::mp_hula::points::{Coupling, Routing, System};

    /// The default profile changes nothing, so that its runs are those of the scenario files; each
    /// other setting changes a scenario, and so is a key that scenarios have.
    #[test]
    fn every_setting_but_the_defaults_changes_the_scenario() {
        let ecmp = System::Mptcp(Coupling::Coupled, Routing::Ecmp);
        assert!(PROFILES[0].settings.is_empty());
        for setting in PROFILES.iter().flat_map(|profile| profile.settings) {
            let changes = |system| {
                let point = web(system, 50);
                let changes = [(setting.key, setting.value)];
                point.changed(Effort::Quick, &changes) != point.scenario(Effort::Quick)
            };
            assert!([MP_HULA, ecmp].into_iter().any(changes), "{}", setting.key);
            assert_ne!(changes(MP_HULA), setting.key == "scheme", "{}", setting.key);
            assert!(!setting.source.is_empty(), "{}", setting.key);
        }
    }

    /// Section 3 with 16 hosts a ToR: hosts offer a ToR twice what its uplinks carry.
    #[test]
    fn with_16_hosts_a_tor_the_uplinks_are_the_bottleneck() {
        let text = &PROFILES[1];
        let scenario = web(MP_HULA, 50).changed(Effort::Quick, &text.changes()).unwrap();
        let hosts = scenario.fabric.graph.nodes.iter().filter(|node| node.tier == 0).count();
        assert_eq!(hosts, 4 * 16);
    }
}
