//! Random small scenarios.

use heddle_policy::cflb::{CflbConfig, Cipher, Field, Rules};
use heddle_policy::entropy::{FlowBenderConfig, PlbConfig, RepsConfig};
use heddle_policy::{
    CongaConfig, CongaPrimeConfig, Detection, DrillConfig, FlowcutConfig, HulaConfig,
    LetItFlowConfig, MpHulaConfig, MptcpTablesConfig, ShuttleConfig, ShuttleRules,
};
use heddle_scenario::{
    Cflb, Change, Entropy, Event, Fabric, Graph, Link, Measure, Node, Placing, PortLimits, Red,
    ReplayFlow, Routing, Scenario, Scheme, Share, SharedBuffer, Transport, Until, Workload,
};
use heddle_transport::mptcp::{Coupling, FullWindow, JoinTime, MptcpConfig, Scheduler};
use heddle_transport::uet::{UetConfig, WindowControl};
use heddle_transport::{Control, LossDetection, Recovery, TcpConfig};
use heddle_units::{Bytes, Rate, Time};
use heddle_wire::Version;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Parallel links of equal rate and delay between two nodes.
#[derive(Clone, Copy, Debug)]
struct Cable {
    links: u32,
    rate: Rate,
    delay: Time,
}

fn cable() -> impl Strategy<Value = Cable> {
    // 3 Gbps is no whole number of picoseconds a byte.
    let rate = select(vec![1, 3, 10, 25, 40]).prop_map(Rate::gbps);
    let delay = prop_oneof![Just(Time::ZERO), (1u64..5_000).prop_map(Time::nanos)];
    (0u32..3, rate, delay).prop_map(|(links, rate, delay)| Cable { links, rate, delay })
}

/// A graph in the making.
struct Builder {
    graph: Graph,
    cables: std::vec::IntoIter<Cable>,
}

impl Builder {
    fn nodes(&mut self, name: &str, tier: u8, count: u32, per_pod: u32) -> Vec<u32> {
        let start = self.graph.nodes.len() as u32;
        self.graph.nodes.extend((0..count).map(|index| Node {
            name: format!("{name}-{}", index + 1),
            tier,
            pod: (per_pod > 0).then(|| (index / per_pod.max(1) + 1) as u16),
        }));
        (start..start + count).collect()
    }

    /// Joins two nodes by the next cable, with `least` links or more.
    fn join(&mut self, low: u32, high: u32, least: u32) {
        let Some(Cable { links, rate, delay }) = self.cables.next() else { return };
        let link = Link::new((low, high), rate, delay);
        self.graph.links.extend((0..links.max(least)).map(|_| link));
    }

    /// Joins two nodes by one link of the next cable.
    fn join_once(&mut self, low: u32, high: u32) {
        let before = self.graph.links.len();
        self.join(low, high, 1);
        self.graph.links.truncate(before + 1);
    }

    /// Joins each of `low` to the first of `high`, and to others by chance.
    fn mesh(&mut self, low: &[u32], high: &[u32]) {
        for &a in low {
            for (index, &b) in high.iter().enumerate() {
                self.join(a, b, u32::from(index == 0));
            }
        }
    }

    /// Adds two tiers above the ToRs.
    fn pods(&mut self, shape: &Shape, tors: &[u32]) {
        let aggs = self.nodes("agg", 2, shape.pods * shape.aggs, shape.aggs);
        let cores = self.nodes("core", 3, shape.cores, 0);
        let pods = tors.chunks(shape.tors as usize).zip(aggs.chunks(shape.aggs as usize));
        for (tors, aggs) in pods {
            self.mesh(tors, aggs);
        }
        self.mesh(&aggs, &cores);
        for &tor in tors.iter().take(shape.skips) {
            self.join(tor, cores[0], 0);
        }
    }
}

/// Sizes of a graph.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tiers: u8,
    hosts: u32,
    pods: u32,
    /// ToRs and aggregation switches of a pod, core switches.
    tors: u32,
    aggs: u32,
    cores: u32,
    /// ToRs that may have a link to the first core switch.
    skips: usize,
}

prop_compose! {
    fn shape()(
        tiers in 1u8..=3, hosts in 2u32..7, skips in 0usize..3,
        (pods, tors, aggs, cores) in (1u32..3, 1u32..3, 1u32..3, 1u32..3),
    ) -> Shape {
        let (pods, tors) = if tiers == 1 { (1, 1) } else { (pods, tors) };
        Shape { tiers, hosts, pods, tors, aggs, cores, skips }
    }
}

/// One to three tiers of switches; any two ToRs are connected, at least through the first switch of
/// the top tier.
pub fn graph() -> impl Strategy<Value = Graph> {
    (shape(), prop::collection::vec(cable(), 64)).prop_map(|(shape, cables)| {
        let graph = Graph { nodes: Vec::new(), links: Vec::new(), routing: Routing::UpDown };
        let mut builder = Builder { graph, cables: cables.into_iter() };
        let hosts = builder.nodes("host", 0, shape.hosts, 0);
        let tors = builder.nodes("tor", 1, shape.pods * shape.tors, shape.tors);
        for (host, tor) in hosts.into_iter().zip(tors.iter().cycle()) {
            builder.join_once(host, *tor);
        }
        match shape.tiers {
            1 => {}
            2 => {
                let spines = builder.nodes("spine", 2, shape.aggs * shape.cores, 0);
                builder.mesh(&tors, &spines);
            }
            _ => builder.pods(&shape, &tors),
        }
        builder.graph
    })
}

fn limits() -> impl Strategy<Value = PortLimits> {
    let bytes = prop_oneof![3_100u64..20_000, 20_000u64..200_000].prop_map(Bytes);
    let packets = prop_oneof![2 => Just(None), 1 => (1u32..40).prop_map(Some)];
    let mark_above = prop_oneof![2 => Just(None), 1 => (0u64..30_000).prop_map(|b| Some(Bytes(b)))];
    (bytes, packets, mark_above).prop_map(|(bytes, packets, mark_above)| PortLimits {
        bytes,
        packets,
        mark_above,
    })
}

prop_compose! {
    fn tcp()(
        control in select(vec![Control::NewReno, Control::Cubic, Control::Dctcp]),
        (recovery, loss_detection) in select(vec![
            (Recovery::Sack, LossDetection::DupAck),
            (Recovery::Sack, LossDetection::Rack),
            (Recovery::NewReno, LossDetection::DupAck),
        ]),
        mss in prop_oneof![Just(1460u16), 300u16..1460],
        initial_window in 1u32..20,
        delayed_ack in prop_oneof![Just(None), (1u64..200).prop_map(|us| Some(Time::micros(us)))],
        min_rto in (200u64..2_000).prop_map(Time::micros),
    ) -> TcpConfig {
        TcpConfig {
            control, recovery, loss_detection, mss, initial_window, delayed_ack, min_rto,
            initial_rto: Some(min_rto),
            max_rto: Time::millis(8),
            ..TcpConfig::default()
        }
    }
}

prop_compose! {
    fn mptcp()(
        tcp in tcp(),
        version in select(vec![Version::V0, Version::V1]),
        subflows in 1u8..=6,
        coupling in select(vec![Coupling::Uncoupled, Coupling::Lia, Coupling::Olia, Coupling::Balia]),
        scheduler in select(vec![Scheduler::LowestRtt, Scheduler::RoundRobin, Scheduler::Redundant]),
        join in select(vec![JoinTime::AfterData, JoinTime::AtOnce]),
        full_window in select(vec![FullWindow::Wait, FullWindow::Penalise]),
    ) -> MptcpConfig {
        MptcpConfig { tcp, version, subflows, coupling, scheduler, join, full_window, subflow_window: None }
    }
}

prop_compose! {
    fn uet()(
        control in select(vec![
            WindowControl::Nscc,
            WindowControl::Fixed,
            WindowControl::Rccc,
            WindowControl::NsccRccc,
        ]),
        mss in 100u16..3_000,
        window in 4_000u64..100_000,
        packets_per_ack in 1u8..5,
        probes: bool,
    ) -> UetConfig {
        let (window, rto) = (Some(Bytes(window)), Some(Time::millis(1)));
        UetConfig { mss, control, window, rto, packets_per_ack, probes, ..UetConfig::default() }
    }
}

fn transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        2 => tcp().prop_map(Transport::Tcp),
        2 => mptcp().prop_map(Transport::Mptcp),
        1 => uet().prop_map(Transport::Uet),
    ]
}

/// Every scheme that can run on a graph.
pub fn schemes_for(graph: &Graph) -> Vec<Scheme> {
    let (flowlet_gap, flowlet_slots) = (Time::micros(50), 16);
    let conga = CongaConfig { flowlet_gap, flowlet_slots, ..CongaConfig::default() };
    let prime = CongaPrimeConfig { flowlet_gap, flowlet_slots, ..CongaPrimeConfig::default() };
    let letitflow = LetItFlowConfig { flowlet_gap, flowlet_slots };
    let hula = HulaConfig {
        flowlet_gap,
        flowlet_slots,
        probe_period: PROBE_PERIOD,
        ..HulaConfig::default()
    };
    let tables = MptcpTablesConfig {
        best_k: 2,
        association_slots: 64,
        association_idle: Time::millis(20),
        mapping_rows: 64,
    };
    let mp_hula = MpHulaConfig { hula, tables, ..MpHulaConfig::default() };
    let rules = ShuttleRules { full_queue: Bytes::kb(65), ..ShuttleRules::default() };
    let hula_of_shuttle = HulaConfig { tau: Some(hula.tau()), ..hula };
    let shuttle = ShuttleConfig { hula: hula_of_shuttle, tables, rules };
    let cflb = Cflb {
        constants: CflbConfig {
            field: Field::Ports,
            cipher: Cipher::Rc5,
            radix: 16,
            rules: Rules::Even,
        },
        elephants: Bytes::kb(20),
        placing: Placing::FewestFlows,
    };
    let mut schemes = vec![
        Scheme::MpHula(mp_hula),
        Scheme::Shuttle(shuttle),
        Scheme::Ecmp,
        Scheme::Cflb(cflb),
        Scheme::CongaPrime(prime),
        Scheme::CongaPrime(CongaPrimeConfig { detection: Detection::SourceTor, ..prime }),
        Scheme::LetItFlow(letitflow),
        Scheme::Drill(DrillConfig::default()),
        Scheme::Flowcut(flowcut(16)),
        Scheme::Spray,
        Scheme::Hula(hula),
        Scheme::Ideal,
    ];
    if graph.nodes.iter().all(|node| node.tier <= 2) {
        schemes.push(Scheme::Conga(conga));
    }
    schemes
}

/// Flowcut with tables of so many slots. Queues of these fabrics empty within `lost_after`.
pub fn flowcut(flow_slots: u32) -> FlowcutConfig {
    FlowcutConfig {
        flow_slots,
        lost_after: Time::millis(20),
        drain_ratio: 2,
        drain_after: Bytes::kb(3),
    }
}

/// T_p of [`schemes_for`].
pub const PROBE_PERIOD: Time = Time::micros(100);

fn flows(hosts: u32) -> impl Strategy<Value = Vec<ReplayFlow>> {
    let flow = (0u64..2_000, 0..hosts, 1..hosts, prop_oneof![1u64..3_000, 1u64..80_000]);
    let flow = flow.prop_map(move |(at, from, further, size)| ReplayFlow {
        at: Time::micros(at),
        from,
        to: (from + further) % hosts,
        size: Bytes(size),
    });
    prop::collection::vec(flow, 1..25)
}

/// Hosts of a graph.
pub fn hosts(graph: &Graph) -> u32 {
    graph.nodes.iter().filter(|node| node.tier == 0).count() as u32
}

/// Switches' ports: limits, a shared buffer, RED, and the bytes of a flow that go first.
type Ports = (PortLimits, Option<SharedBuffer>, Option<Red>, Option<Bytes>);

/// Switches' ports, which may share their buffer and mark by RED, or have two queues.
fn ports() -> impl Strategy<Value = Ports> {
    let alpha = prop::option::weighted(0.3, select(vec![0.2, 1.0, 8.0]));
    let red = prop::option::weighted(0.3, (1u64..5_000, 1u64..10_000, any::<bool>()));
    let early = prop::option::weighted(0.4, (1u64..50_000).prop_map(Bytes));
    (limits(), alpha, red, early).prop_map(|(port, alpha, red, early)| {
        let shared = alpha.map(|alpha| SharedBuffer { bytes: port.bytes, alpha });
        let share = |share| Share::new(share).expect("a share");
        let red = red.map(|(min, further, gentle)| Red {
            min: Bytes(min),
            max: Bytes(min + further),
            probability: share(0.3),
            weight: share(0.1),
            gentle,
            on_departure: false,
            to_hosts: true,
        });
        let mark_above = port.mark_above.filter(|_| red.is_none());
        let early = early.filter(|_| shared.is_none());
        (PortLimits { mark_above, ..port }, shared, red, early)
    })
}

/// A graph with flows over it, by any scheme; nothing fails.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let rest = (transport(), ports(), limits(), 0u64..3_000, any::<Index>(), entropy());
    let with_flows = |graph: Graph| {
        let flows = flows(hosts(&graph));
        (Just(graph), flows)
    };
    (graph().prop_flat_map(with_flows), rest).prop_map(|((graph, flows), rest)| {
        let (transport, ports, host_port, convergence, scheme, entropy) = rest;
        let (port, shared_buffer, red, priority_bytes) = ports;
        let scheme = scheme.get(&schemes_for(&graph)).clone();
        Scenario {
            title: String::new(),
            seeds: vec![1],
            transport,
            entropy: if scheme == Scheme::Ecmp { entropy } else { Entropy::Flow },
            scheme,
            measure: measure(flows.len() as u64),
            workload: Workload::Replay(flows),
            fabric: Fabric {
                graph,
                failed: Vec::new(),
                convergence: Time::micros(convergence),
                port,
                host_port,
                shared_buffer,
                red,
                scale_buffers: None,
                priority_bytes,
                control_first: priority_bytes.is_none()
                    && shared_buffer.is_none()
                    && convergence % 2 == 1,
                trim_above: None,
                non_minimal: None,
            },
            events: Vec::new(),
            notices: Vec::new(),
        }
    })
}

fn entropy() -> impl Strategy<Value = Entropy> {
    let flowbender = FlowBenderConfig { threshold: 0.05, rounds: 1 };
    let suspend = Time::millis(5);
    let plb = PlbConfig { threshold: 0.5, rehash_rounds: 4, idle_rehash_rounds: 1, suspend };
    let reps = RepsConfig { freeze: Time::millis(1), explore: 4 };
    select(vec![
        Entropy::Flow,
        Entropy::Spray,
        Entropy::FlowBender(flowbender),
        Entropy::Plb(plb),
        Entropy::Reps(reps),
    ])
}

fn measure(flows: u64) -> Measure {
    Measure {
        sample: None,
        size_classes: Vec::new(),
        probe_warm_up: PROBE_PERIOD * 3,
        warm_up: Time::ZERO,
        warm_up_limit: None,
        until: Until::Flows(flows),
        time_limit: Time::secs(20),
        sample_every: None,
    }
}

/// The same with links that fail, hosts' links too, each to recover later.
pub fn scenario_with_failures() -> impl Strategy<Value = Scenario> {
    let fault = (any::<Index>(), 0u64..3_000, 1u64..3_000);
    (scenario(), prop::collection::vec(fault, 1..5)).prop_map(|(mut scenario, faults)| {
        let mut links: Vec<u32> = Vec::new();
        for (link, at, lasts) in faults {
            let link = link.index(scenario.fabric.graph.links.len()) as u32;
            if !links.contains(&link) {
                links.push(link);
                let event = |at, change| Event::both_ways(Time::micros(at), change, vec![link]);
                scenario.events.push(event(at, Change::Fail));
                scenario.events.push(event(at + lasts, Change::Recover));
            }
        }
        scenario.events.sort_by_key(|event| event.at);
        scenario
    })
}
