//! The file of a fabric of `kind = "file"`.

use heddle_units::{Rate, Time};
use serde::{Deserialize, Serialize};

use crate::{Graph, Routing};

/// Nodes and links, each a table.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphFile {
    /// Paths that packets may take. Default: "up-down".
    #[serde(default)]
    pub(crate) routing: Routing,
    pub(crate) node: Vec<FileNode>,
    #[serde(default)]
    pub(crate) link: Vec<FileLink>,
}

/// A host or a switch.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileNode {
    /// Unique, without spaces.
    pub(crate) name: String,
    /// 0 for a host, 1 for a ToR, 2 and more above. Default: by the place in the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tier: Option<u8>,
    /// The pod it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<u16>,
}

/// A full-duplex link. Two links between the same ends are parallel.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileLink {
    /// The two ends, as in `"leaf-1 spine-2"`.
    pub(crate) between: String,
    /// Each direction's rate.
    pub(crate) rate: Rate,
    /// Rate from the second end to the first. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reverse_rate: Option<Rate>,
    /// Propagation time. Default: `fabric.link_delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Time>,
}

impl From<&Graph> for GraphFile {
    fn from(graph: &Graph) -> GraphFile {
        let node = graph.nodes.iter().map(|node| FileNode {
            name: node.name.clone(),
            tier: Some(node.tier),
            pod: node.pod,
        });
        let name = |end: u32| graph.nodes[end as usize].name.as_str();
        let link = graph.links.iter().map(|link| FileLink {
            between: format!("{} {}", name(link.ends.0), name(link.ends.1)),
            rate: link.rate,
            reverse_rate: link.reverse_rate,
            delay: Some(link.delay),
        });
        GraphFile { routing: graph.routing, node: node.collect(), link: link.collect() }
    }
}
