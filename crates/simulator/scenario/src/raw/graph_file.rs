//! The file of a fabric of `kind = "file"`.

use heddle_units::{Rate, Time};
use serde::Deserialize;

/// Nodes and links, each a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphFile {
    /// Paths that packets may take. Default: "up-down".
    #[serde(default)]
    pub(crate) routing: FileRouting,
    pub(crate) node: Vec<FileNode>,
    #[serde(default)]
    pub(crate) link: Vec<FileLink>,
}

/// Paths that packets may take.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileRouting {
    /// The shortest of those that go up and then down.
    #[default]
    UpDown,
    /// The shortest of all.
    Shortest,
    /// Those with the fewest links between pods, and of these the shortest.
    Minimal,
}

/// A host or a switch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileNode {
    /// Unique, without spaces.
    pub(crate) name: String,
    /// 0 for a host, 1 for a ToR, 2 and more above. Default: by the place in the graph.
    pub(crate) tier: Option<u8>,
    /// The pod it is in.
    pub(crate) pod: Option<u16>,
}

/// A full-duplex link. Two links between the same ends are parallel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileLink {
    /// The two ends, as in `"leaf-1 spine-2"`.
    pub(crate) between: String,
    /// Each direction's rate.
    pub(crate) rate: Rate,
    /// Rate from the second end to the first. Default: `rate`.
    pub(crate) reverse_rate: Option<Rate>,
    /// Propagation time. Default: `fabric.link_delay`.
    pub(crate) delay: Option<Time>,
}
