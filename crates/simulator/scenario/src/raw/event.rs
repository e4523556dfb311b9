//! `[[event]]`.

use heddle_units::{Rate, Time};
use serde::{Deserialize, Serialize};

/// Directions of links that an event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    /// Both.
    Both,
    /// From the end that is named first to the other: of `"core-2 agg-4"` what core-2 sends to
    /// agg-4, of `"core-2"` all that it sends.
    Forward,
}

/// A change of links: one of `fail`, `recover`, `degrade` and `repair`.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    /// Time from the start of the run.
    pub(crate) at: Time,
    /// Links that go down: `"core-2 agg-4"` for a link (all of them, if they are parallel),
    /// `"core-2 agg-4 #1"` for the first of parallel links, `"core-2"` for all links of a switch.
    #[serde(default)]
    pub(crate) fail: Vec<String>,
    /// Links that come back up, named as in `fail`.
    #[serde(default)]
    pub(crate) recover: Vec<String>,
    /// Links that are impaired, in both directions unless `direction` says otherwise, and that
    /// routing goes on to use; named as in `fail`. With one or more of `rate`, `delay`, `loss` and
    /// `blackhole`.
    #[serde(default)]
    pub(crate) degrade: Vec<String>,
    /// With `degrade`: their rate from now on. The packet in transmission is sent at the old one.
    /// Default: as before.
    pub(crate) rate: Option<Rate>,
    /// With `degrade`: their propagation delay from now on. Default: as before.
    pub(crate) delay: Option<Time>,
    /// With `degrade`: probability with which they lose a packet, 0 to 1. Default: as before.
    pub(crate) loss: Option<f64>,
    /// With `degrade`: share of flows of which they lose every packet, 0 to 1, chosen by the hash
    /// of the 5-tuple. Default: as before.
    pub(crate) blackhole: Option<f64>,
    /// With `degrade` and `repair`: the direction. Default: "both".
    pub(crate) direction: Option<Direction>,
    /// Links that have the fabric's rate and delay again and lose nothing; named as in `fail`.
    #[serde(default)]
    pub(crate) repair: Vec<String>,
}
