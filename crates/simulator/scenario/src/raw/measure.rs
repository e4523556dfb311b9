//! `[measure]`.

use heddle_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// The measurement and its times. Times follow each other: probes alone, flows that are not
/// measured, flows that are.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Measure {
    /// Probes alone run this long before the first flow. Default: 1ms, or 5 probe periods if that
    /// is longer: probes have then crossed any fabric of three tiers.
    pub(crate) probe_warm_up: Option<Time>,
    /// Flows that start in this time after that are not measured. Default: 20ms, about 15 mean
    /// flows of web search at 10 Gbps; nothing with a replay.
    pub(crate) warm_up: Option<Time>,
    /// The warm-up goes on beyond `warm_up`, at most this long, until MSER-5 (White, Cobb, Spratt,
    /// WSC 2000) calls the number of flows under way stationary. Schemes then measure different
    /// flows: where their ratios matter, a fixed warm-up is better. Default: no test.
    pub(crate) warm_up_limit: Option<Time>,
    /// Measures this many flows; the run ends when all of them have finished. Give this or
    /// `duration`; a replay measures all of its flows by default.
    pub(crate) flows: Option<u64>,
    /// Measures for this long.
    pub(crate) duration: Option<Time>,
    /// No run lasts longer than this in simulated time. Default: 100s.
    pub(crate) time_limit: Time,
    /// Time between two samples of queues and links. Default: no samples.
    pub(crate) sample_every: Option<Time>,
    /// With `sample_every`: the links that are sampled, in both directions: `"switches"` for all
    /// between switches, `"hosts"` for all of hosts, or links named as in `event.fail`,
    /// `"leaf-1 host-3"`, `"host-3"` or `"spine-2"`. Default: ["switches"].
    pub(crate) sample: Option<Vec<String>>,
    /// Bounds of the classes of sizes for which results are given: below the first, between two
    /// (both included), above the last. Default: ["100KB", "10MB"] (HULA figure 6).
    pub(crate) size_classes: Option<Vec<Bytes>>,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure {
            probe_warm_up: None,
            warm_up: None,
            warm_up_limit: None,
            flows: None,
            duration: None,
            time_limit: Time::secs(100),
            sample_every: None,
            sample: None,
            size_classes: None,
        }
    }
}
