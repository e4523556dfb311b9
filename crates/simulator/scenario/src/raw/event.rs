//! `[[event]]`.

use heddle_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failure or a recovery.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    /// Time from the start of the run.
    pub(crate) at: Time,
    /// Links that go down: `"core-2 agg-4"` for a link (all of them, if they are parallel), `"core-2 agg-4 #1"` for the first of
    /// parallel links, `"core-2"` for all links of a switch.
    #[serde(default)]
    pub(crate) fail: Vec<String>,
    /// Links that come back up, named as in `fail`.
    #[serde(default)]
    pub(crate) recover: Vec<String>,
}
