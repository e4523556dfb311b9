//! `[fabric]`.

use heddle_units::{Bytes, Rate, Time};
use serde::{Deserialize, Deserializer, Serialize};

/// The network: a shape, its sizes and rates, and the options common to all shapes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub(crate) struct Fabric {
    #[serde(flatten)]
    pub(crate) shape: Shape,
    #[serde(flatten)]
    pub(crate) options: Options,
}

impl<'de> Deserialize<'de> for Fabric {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fabric, D::Error> {
        #[derive(Deserialize)]
        struct Layers(Options, Shape);
        Layers::deserialize(from).map(|Layers(options, shape)| Fabric { shape, options })
    }
}

/// Topology: how nodes are connected.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(tag = "kind"))]
pub(crate) enum Shape {
    /// Two pods of two ToRs and two aggregation switches, and two core switches that are linked to
    /// all of these (HULA figure 4). Nodes: `host-1` and up, `tor-1` to `tor-4`, `agg-1` to
    /// `agg-4`, `core-1`, `core-2`; the lower half of each is pod 1.
    TwoPod(TwoPod),
    /// A fat-tree of k-port switches (Al-Fares et al., SIGCOMM 2008): k pods of k/2 ToRs and k/2
    /// aggregation switches, (k/2)^2 core switches. Nodes: `host-1`, `tor-1`, `agg-1`, `core-1` and
    /// up, pod by pod.
    FatTree(FatTree),
    /// Leaves that are each linked to every spine. Nodes: `host-1`, `leaf-1`, `spine-1` and up.
    LeafSpine(LeafSpine),
    /// VL2's Clos network (Greenberg et al., SIGCOMM 2009, section 4.1): each ToR has two
    /// aggregation switches, each aggregation switch every intermediate switch. The paper does not
    /// say which two: here aggregation switches stand in pairs, and a pair has D_A/2 ToRs, which
    /// are a pod. Nodes: `host-1`, `tor-1`, `agg-1`, `intermediate-1` and up, pod by pod.
    Vl2(Vl2),
    /// BCube (Guo et al., SIGCOMM 2009): servers relay for each other, and packets take the
    /// shortest paths of all. A server is a host `host-1` and its forwarding part, the switch
    /// `relay-1` of tier 1, joined by a link of no delay that is as fast as the server's ports
    /// together. Switches of level 0 are `switch-0-1` and up, of tier 2 like those of all levels.
    /// Schemes that need paths to go up and then down (the HULAs, the CONGAs) cannot run on it.
    #[serde(rename = "bcube")]
    BCube(BCube),
    /// A dragonfly (Kim et al., ISCA 2008): groups of routers, each linked to all others of its
    /// group, and each group to all other groups. A group is a pod. Packets take minimal paths: as
    /// few links between groups as can be, and as few in all. Nodes: `host-1`, `router-1` and up,
    /// group by group.
    Dragonfly(Dragonfly),
    /// Nodes and links listed in a file of their own.
    File(GraphPath),
}

/// Defaults are those of HULA section 6: not oversubscribed, 160 Gbps between the pods.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TwoPod {
    /// Hosts of each ToR. Default: 8.
    pub(crate) hosts_per_tor: u32,
    /// Rate of the hosts' links. Default: 10Gbps.
    pub(crate) host_rate: Rate,
    /// Rate of the links between switches. Default: 40Gbps.
    pub(crate) core_rate: Rate,
}

impl Default for TwoPod {
    fn default() -> TwoPod {
        TwoPod { hosts_per_tor: 8, host_rate: Rate::gbps(10), core_rate: Rate::gbps(40) }
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FatTree {
    /// Ports of a switch, even.
    pub(crate) k: u32,
    /// Hosts of each ToR. Default: k/2, which is not oversubscribed; k is oversubscribed 2 to 1.
    pub(crate) hosts_per_tor: Option<u32>,
    /// Rate of all links. Default: 10Gbps.
    #[serde(default = "ten_gbps")]
    pub(crate) rate: Rate,
    /// Rate of the hosts' links. Default: `rate`.
    pub(crate) host_rate: Option<Rate>,
    /// Rate of the links between ToRs and aggregation switches. Default: `rate`.
    pub(crate) edge_rate: Option<Rate>,
    /// Rate of the links between aggregation and core switches. Default: `rate`.
    pub(crate) core_rate: Option<Rate>,
}

fn ten_gbps() -> Rate {
    Rate::gbps(10)
}

/// Defaults are those of CONGA's testbed (section 5, figure 7a): oversubscribed 2 to 1.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LeafSpine {
    /// Leaves. Default: 2.
    pub(crate) leaves: u32,
    /// Spines. Default: 2.
    pub(crate) spines: u32,
    /// Hosts of each leaf. Default: 32.
    pub(crate) hosts_per_leaf: u32,
    /// Rate of the hosts' links. Default: 10Gbps.
    pub(crate) host_rate: Rate,
    /// Rate of each link between a leaf and a spine. Default: 40Gbps.
    pub(crate) spine_rate: Rate,
    /// Links between each leaf and each spine. Default: 2.
    pub(crate) parallel_links: u32,
    /// Parts of the fabric that no link joins: leaves and spines belong to them in turn. Hosts are
    /// in all of them, by `tors_per_host`. Default: 1.
    pub(crate) planes: u32,
}

impl Default for LeafSpine {
    fn default() -> LeafSpine {
        LeafSpine {
            leaves: 2,
            spines: 2,
            hosts_per_leaf: 32,
            host_rate: Rate::gbps(10),
            spine_rate: Rate::gbps(40),
            parallel_links: 2,
            planes: 1,
        }
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Vl2 {
    /// D_A, ports of an aggregation switch, even: half of them lead to ToRs, half to intermediate
    /// switches. There are D_A D_I / 4 ToRs and D_A / 2 intermediate switches.
    pub(crate) aggregation_ports: u32,
    /// D_I, ports of an intermediate switch, even: one for each aggregation switch.
    pub(crate) intermediate_ports: u32,
    /// Hosts of each ToR. Default: 20 (VL2 section 4.1).
    #[serde(default = "twenty")]
    pub(crate) hosts_per_tor: u32,
    /// Rate of the hosts' links. Default: 1Gbps (VL2 section 4.1).
    #[serde(default = "one_gbps")]
    pub(crate) host_rate: Rate,
    /// Rate of the links between switches. Default: 10Gbps (VL2 section 4.1).
    #[serde(default = "ten_gbps")]
    pub(crate) switch_rate: Rate,
}

fn twenty() -> u32 {
    20
}

fn one_gbps() -> Rate {
    Rate::gbps(1)
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct BCube {
    /// n, ports of a switch.
    pub(crate) ports: u32,
    /// k: a BCube_k has the levels 0 to k, n^(k+1) servers of k + 1 ports and (k+1) n^k switches.
    /// Between servers whose addresses differ in d digits there are d! shortest paths.
    pub(crate) levels: u32,
    /// Rate of each port. Default: 1Gbps (the paper's testbed). A load of 1 is all ports of all
    /// servers, of which traffic between all of them can fill about 1/(k+1), as they relay (BCube's
    /// aggregate bottleneck throughput: n/(n-1) ports for each of the other servers): give
    /// `workload.capacity`.
    #[serde(default = "one_gbps")]
    pub(crate) rate: Rate,
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Dragonfly {
    /// a, routers of a group.
    pub(crate) routers: u32,
    /// p, hosts of each router. Default: a/2, with which the load on links is balanced (section
    /// 3.1).
    pub(crate) hosts_per_router: Option<u32>,
    /// h, links of each router to other groups. Default: a/2 (section 3.1).
    pub(crate) global_links: Option<u32>,
    /// g, from 2 to a h + 1, the default, with which one link joins each two groups. With fewer it
    /// is the whole part of a h / (g - 1) links; ports that are left over are not used.
    pub(crate) groups: Option<u32>,
    /// Rate of the hosts' links. Default: 10Gbps.
    #[serde(default = "ten_gbps")]
    pub(crate) host_rate: Rate,
    /// Rate of the links inside of a group. Default: 10Gbps.
    #[serde(default = "ten_gbps")]
    pub(crate) local_rate: Rate,
    /// Rate of the links between groups. Default: 10Gbps.
    #[serde(default = "ten_gbps")]
    pub(crate) global_rate: Rate,
    /// Propagation time of the links between groups, which are the long ones. Default:
    /// `link_delay`.
    pub(crate) global_delay: Option<Time>,
}

impl Dragonfly {
    /// p and h with which the load on all kinds of links is balanced: a/2.
    pub(crate) fn balanced(&self) -> u32 {
        (self.routers / 2).max(1)
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphPath {
    /// A TOML file of `[[node]]` and `[[link]]` tables, or one of another simulator, named from the
    /// scenario's own folder.
    pub(crate) path: String,
    /// Format of the file. Default: "htsim" if its name ends with `.topo`, else "heddle".
    pub(crate) format: Option<GraphFormat>,
}

/// Format of a graph file.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GraphFormat {
    /// TOML, with a table for each node and link.
    Heddle,
    /// The fat-trees of csg-htsim (`.topo`).
    Htsim,
    /// The topology files of HPCC's ns-3 simulation.
    Hpcc,
}

/// Options of all shapes.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    /// Propagation time of each link. Default: 1us (200 m of fibre; an unloaded cross-pod round
    /// trip of 12 us and transmission times, well under HULA's flowlet gap of 100 us).
    pub(crate) link_delay: Time,
    /// Links of each host to each of its ToRs, from 1 to 16: the interfaces of a multi-homed host.
    /// The subflows of an MPTCP connection take them in turn, at both ends alike; a TCP connection
    /// has one, by a hash, as with a bond of links. Default: 1.
    pub(crate) interfaces: u8,
    /// ToRs of each host, from 1 to 16: the ToRs of a fabric form groups of as many, in order, and
    /// their hosts have links to all of the group. A file lists its hosts' links itself. Default:
    /// 1.
    pub(crate) tors_per_host: u8,
    /// Bytes that a switch port can hold, the packet in transmission included. Default: 375KB, 250
    /// packets of 1500 bytes, as in the ns-2 example that came with DCTCP at 10 Gbps (ns-2.35,
    /// tcl/ex/simpleDCTCPDumbbell.tcl).
    pub(crate) port_buffer: Option<Bytes>,
    /// A buffer that all ports of a switch share, in place of `port_buffer`. Default: none, each
    /// port has its own.
    pub(crate) shared_buffer: Option<SharedBuffer>,
    /// Packets that may wait at a switch port, the packet in transmission not included. Default:
    /// bytes alone count.
    pub(crate) port_packets: Option<u32>,
    /// A packet that finds more bytes than this waiting at a port is marked (ECN). Default: 97.5KB
    /// with `control = "dctcp"` (K = 65 packets of 1500 bytes at 10 Gbps, DCTCP section 4), no
    /// marking otherwise.
    pub(crate) mark_above: Option<Bytes>,
    /// Marking by the average queue (RED) at switch ports, in place of `mark_above`; each queue of a
    /// port has an average of its own. Default: none.
    pub(crate) red: Option<Red>,
    /// Bytes at the beginning of each flow that switches send before others, with acknowledgements,
    /// handshakes and probes (PIAS with two queues, Bai et al., NSDI 2015). Default: none, each
    /// port has one queue.
    pub(crate) priority_bytes: Option<Bytes>,
    /// Control packets (acknowledgements, handshakes, probes, headers of trimmed packets) are sent
    /// before data at every switch port, from a buffer of their own of the same size. Hosts' own
    /// ports send them first in any case. Default: false, each port has one queue.
    pub(crate) control_first: bool,
    /// Data that does not fit into this many bytes of data at a switch port is cut to its header,
    /// which goes with the control packets (packet trimming: NDP, Handley et al., SIGCOMM 2017).
    /// Needs `control_first` and hosts of `kind = "uet"`. Default: none, full ports drop.
    pub(crate) trim_above: Option<Bytes>,
    /// The rate of a port for which `port_buffer`, `mark_above`, `red` and `trim_above` are given: at
    /// other switch ports they are in proportion to the rate, also while that is degraded. Default:
    /// none, they are the same at all ports.
    pub(crate) scale_buffers: Option<Rate>,
    /// Bytes that a host's own port can hold. Default: 10MB, or `port_buffer` if that is more, so
    /// that hosts wait instead of dropping their own packets (as with Linux's TCP small queues).
    pub(crate) host_buffer: Option<Bytes>,
    /// Packets that may wait at a host's own port. Default: bytes alone count.
    pub(crate) host_packets: Option<u32>,
    /// As `mark_above`, at a host's own port. Default: `mark_above`; with `red` no marking.
    pub(crate) host_mark_above: Option<Bytes>,
    /// Links that are down from the start, so that routing knows: `"core-2 agg-4"` for a link (all
    /// of them, if they are parallel), `"core-2"` for all links of a switch.
    pub(crate) failed: Vec<String>,
    /// Links whose rate or delay differs from the rest.
    pub(crate) link: Vec<LinkChange>,
    /// Paths between groups, in a dragonfly or a file with `routing = "minimal"`. Default:
    /// "minimal".
    pub(crate) routing: Option<GroupRouting>,
    /// With another `routing` than "minimal": the packets that have one intermediate group.
    /// Default: "flow", so that paths do not reorder a flow; Kim et al. draw one for each packet.
    pub(crate) intermediate: Option<Intermediate>,
    /// Time that the control plane takes to route around a link that fails during the run, or to
    /// use it again. Schemes with probes do not wait for it. Default: 100ms, the order of a
    /// link-state protocol with short timers; HULA section 4.4 says only that it is slow.
    pub(crate) convergence: Time,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            link_delay: Time::micros(1),
            interfaces: 1,
            tors_per_host: 1,
            port_buffer: None,
            shared_buffer: None,
            port_packets: None,
            mark_above: None,
            red: None,
            priority_bytes: None,
            control_first: false,
            trim_above: None,
            scale_buffers: None,
            host_buffer: None,
            host_packets: None,
            host_mark_above: None,
            failed: Vec::new(),
            link: Vec::new(),
            routing: None,
            intermediate: None,
            convergence: Time::millis(100),
        }
    }
}

/// Paths between groups (Kim et al., ISCA 2008, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GroupRouting {
    /// The fewest links between groups.
    Minimal,
    /// To a group drawn at random, then to the destination, each by minimal paths (Valiant's
    /// algorithm).
    Valiant,
    /// For each packet the minimal path or Valiant's, by queue length times hops; the queue is that
    /// of the source router's own port (UGAL-L).
    UgalL,
    /// The same by the queue of the first link between groups on the path, which other routers of
    /// the group are taken to know (UGAL-G).
    UgalG,
}

/// Packets that have one intermediate group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Intermediate {
    /// Those of a flow, by a hash as ECMP's (of the 5-tuple, and the entropy value where hosts
    /// choose one).
    Flow,
    /// Each packet has its own.
    Packet,
}

/// A buffer shared by dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking
/// 1998): a port accepts a packet while it holds less than `alpha` times the bytes that are free.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedBuffer {
    /// Bytes that all ports of a switch can hold together, the packets in transmission included.
    pub(crate) bytes: Bytes,
    /// Factor of the free bytes, above 0 and up to 1024. Of n ports that overflow each holds alpha
    /// / (1 + alpha n) of the buffer. Default: 1.0.
    #[serde(default = "one")]
    pub(crate) alpha: f64,
}

fn one() -> f64 {
    1.0
}

/// Random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1993), which
/// marks data packets and drops none.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Red {
    /// Average bytes waiting up to which no packet is marked.
    pub(crate) min: Bytes,
    /// Average bytes waiting above which every packet is marked; at least `min`.
    pub(crate) max: Bytes,
    /// Probability of a mark where the average is `max`, which grows linearly from `min` on; above
    /// 0 and up to 1. Default: 0.1 (Floyd, 1997).
    #[serde(default = "tenth")]
    pub(crate) probability: f64,
    /// Weight of a packet's queue in the average, above 0 and up to 1, at which the average is the
    /// queue. Default: 0.002 (Floyd and Jacobson, section 6).
    #[serde(default = "red_weight")]
    pub(crate) weight: f64,
    /// From `max` to twice that the probability grows linearly to 1, instead of at once (Floyd,
    /// 2000). Default: false.
    #[serde(default)]
    pub(crate) gentle: bool,
    /// Marks data as its transmission starts, by what waits behind it in its queue, instead of as it
    /// arrives. Needs `control_first` or `priority_bytes`. Default: false.
    #[serde(default)]
    pub(crate) on_departure: bool,
    /// Ports to hosts mark, too. Default: true.
    #[serde(default = "yes")]
    pub(crate) to_hosts: bool,
}

fn yes() -> bool {
    true
}

fn tenth() -> f64 {
    0.1
}

fn red_weight() -> f64 {
    0.002
}

/// A link (or all parallel links) with a rate or delay of its own.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkChange {
    /// The two ends, as in `"leaf-1 spine-2"`; `"leaf-1 spine-2 #1"` is the first of parallel
    /// links.
    pub(crate) between: String,
    /// Each direction's rate.
    pub(crate) rate: Option<Rate>,
    /// Rate from the second end to the first, as `between` names them. Default: `rate`, or as
    /// before.
    pub(crate) reverse_rate: Option<Rate>,
    /// Propagation time.
    pub(crate) delay: Option<Time>,
}
