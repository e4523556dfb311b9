//! Profiles of HULA's evaluation: readings of its sentence on connections, and of its times.

use heddle_claims::{Basis, Profile, Setting};

/// The profiles. The first is the default: the most stable reading, chosen after results had been seen
/// (the book's page on HULA's set-up has the others).
pub(super) const PROFILES: &[Profile] = &[
    Profile {
        name: "ns2-window",
        title: "three persistent connections of each client to one server, on which flows wait for each other, with the window that ns-2's TCP has by default; chosen after results had been seen",
        basis: Basis::Inference,
        settings: &[NS2_WINDOW],
    },
    Profile {
        name: "persistent",
        title: "the scenario files as they are: three persistent connections of each client to one server, on which flows wait for each other, with windows of 128 KB",
        basis: Basis::Reading,
        settings: &[],
    },
    Profile {
        name: "pool",
        title: "as many persistent connections as needed, so that no flow waits for another",
        basis: Basis::Inference,
        settings: &[Setting {
            key: "workload.connections",
            value: "pool",
            source: "flow generators of that time open another connection when none is idle; section 6: \"initiates three persistent TCP connections\", and nothing of what a flow does when all three are busy",
        }],
    },
    Profile {
        name: "per-flow",
        title: "a connection for each flow, to a server drawn for each",
        basis: Basis::Inference,
        settings: &[
            Setting {
                key: "workload.connections",
                value: "per-flow",
                source: "as in pFabric's and CONGA's experiments, \"similar to previous work [6, 13]\" (section 6)",
            },
            Setting {
                key: "workload.pattern",
                value: "cross-pod",
                source: "\"each client chooses a server at random\" (section 6), read as for each flow",
            },
        ],
    },
    Profile {
        name: "times",
        title: "persistent connections with longer links, earlier detection, and one hash for CONGA'",
        basis: Basis::Reading,
        settings: &[
            Setting {
                key: "fabric.link_delay",
                value: "5us",
                source: "section 6: the flowlet gap of 100 us is \"of the order of the network RTT\"; twelve links of 5 us make 60 us",
            },
            Setting {
                key: "scheme.fail_after",
                value: "400us",
                source: "section 6.3: long flows leave a failed link \"within half a millisecond\", which leaves room for two probe periods and no more",
            },
            ONE_HASH,
        ],
    },
    Profile {
        name: "ns2-window-one-hash",
        title: "as ns2-window, and one hash for CONGA'",
        basis: Basis::Inference,
        settings: &[NS2_WINDOW, ONE_HASH],
    },
    Profile {
        name: "ns2-defaults",
        title: "persistent connections with all of ns-2's defaults for TCP and queues",
        basis: Basis::Inference,
        settings: &[
            Setting {
                key: "transport.mss",
                value: "1000",
                source: "ns-default.tcl of ns-2.35: `Agent/TCP set packetSize_ 1000`; headers of 40 bytes are beside it (`useHeaders_ true`, `tcpip_base_hdr_size_ 40`), 58 here",
            },
            Setting {
                key: "transport.receive_window",
                value: "20KB",
                source: "`Agent/TCP set window_ 20`, in segments of 1000 bytes",
            },
            Setting {
                key: "transport.initial_window",
                value: "2",
                source: "`Agent/TCP set windowInit_ 2`",
            },
            Setting {
                key: "transport.min_rto",
                value: "200ms",
                source: "`Agent/TCP set minrto_ 0.2`; its clock of 10 ms (`tcpTick_ 0.01`) is not modelled",
            },
            Setting {
                key: "transport.initial_rto",
                value: "3s",
                source: "`Agent/TCP set rtxcur_init_ 3.0`",
            },
            Setting { key: "fabric.port_packets", value: "50", source: "`Queue set limit_ 50`" },
            Setting {
                key: "fabric.host_packets",
                value: "50",
                source: "the same: a host's link has a queue as any other",
            },
        ],
    },
];

/// The scripts of the lineage of DCTCP and pFabric set the window themselves.
const NS2_WINDOW: Setting = Setting {
    key: "transport.receive_window",
    value: "30KB",
    source: "ns-default.tcl of ns-2.35: `Agent/TCP set window_ 20`, in segments of 1460 bytes. The scripts of the lineage of DCTCP and pFabric set `window_` themselves (64, then 1,000,000), so that the authors may never have had the default",
};

/// Of the two readings of CONGA''s flowlets.
const ONE_HASH: Setting = Setting {
    key: "scheme.detection",
    value: "source-tor",
    source: "section 6, of CONGA': \"This hash is subsequently used by all the switches in the network\"",
};

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::point::Point as _;

    use super::*;
    use crate::hula::points::Scheme;
    use crate::hula::points::sym;

    /// Each setting changes the scenario of some scheme, and so is a key that scenarios have; all
    /// schemes load under each profile.
    #[test]
    fn every_setting_but_the_defaults_changes_a_scenario() {
        const SCHEMES: [Scheme; 4] =
            [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula, Scheme::HulaRareProbes];
        let scenario = |scheme, changes: &[(&str, &str)]| {
            sym(scheme, 50).changed(Effort::Quick, changes).unwrap()
        };
        assert_eq!(PROFILES[0].name, "ns2-window");
        for profile in PROFILES {
            for setting in profile.settings {
                let one = [(setting.key, setting.value)];
                let changed = |&scheme: &Scheme| scenario(scheme, &one) != scenario(scheme, &[]);
                assert!(SCHEMES.iter().any(changed), "{}", setting.key);
                assert!(!setting.source.is_empty(), "{}", setting.key);
            }
            for scheme in SCHEMES {
                scenario(scheme, &profile.changes());
            }
        }
    }
}
