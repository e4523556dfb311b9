//! Scaling of a scenario to what the machine carries.
//!
//! Rates are multiplied by a factor and times divided by it, sizes stay: queues, windows and probes
//! then keep their relation to each other, and everything takes longer. Flow sizes can be scaled as
//! well, which shortens a run; times follow. What comes out is a scenario like any other, so that
//! the simulator can run the very same.

use heddle_policy::{
    CongaConfig, CongaPrimeConfig, FlowcutConfig, HulaConfig, LetItFlowConfig, MpHulaConfig,
    MptcpTablesConfig, ShuttleConfig,
};
use heddle_scenario::{
    Event, Fabric, Flows, Link, Long, Measure, NamedWorkload, ReplayFlow, Scenario, Scheme,
    Transport, Until, Workload,
};
use heddle_transport::TcpConfig;
use heddle_transport::uet::UetConfig;
use heddle_units::{Bytes, Rate, Time};
use serde::Serialize;

use crate::plane::Kind;

/// Packets that one processor forwards over one link in a second, with room to spare: veth, a
/// shaper and a route took 2 to 3 us each.
const HOPS_PER_PROCESSOR: f64 = 60_000.0;
/// The same by BMv2, of which a switch alone forwarded 15 000 in a second.
const HOPS_PER_PROCESSOR_BMV2: f64 = 10_000.0;

/// Bits of a full frame.
const FRAME_BITS: f64 = 12_144.0;

/// Frames in each direction for each data frame: itself, and its acknowledgement.
const FRAMES_PER_DATA: f64 = 2.0;

/// Factors between a scenario as written and as run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// Factor of rates.
    pub rate: f64,
    /// Factor of flow sizes.
    pub size: f64,
}

impl Scaling {
    /// No scaling.
    pub const NONE: Scaling = Scaling { rate: 1.0, size: 1.0 };

    /// The largest rate of 1, 0.5, 0.2, 0.1, 0.05 and so on that `processors` carry with this data
    /// plane.
    pub fn for_machine(scenario: &Scenario, plane: Kind, processors: usize) -> Scaling {
        let hops = match plane {
            Kind::Kernel | Kind::Ebpf => HOPS_PER_PROCESSOR,
            Kind::Bmv2 => HOPS_PER_PROCESSOR_BMV2,
        };
        let budget = hops * processors as f64;
        let most = budget / hops_per_second(scenario);
        let steps =
            (0..12).flat_map(|decade| [1.0, 0.5, 0.2].map(|step| step / 10f64.powi(decade)));
        let rate = steps.into_iter().find(|&step| step <= most).unwrap_or(1e-12);
        Scaling { rate, size: 1.0 }
    }

    /// Factor of times.
    pub fn time(&self) -> f64 {
        self.size / self.rate
    }

    /// The scaled scenario.
    pub fn apply(&self, scenario: &Scenario) -> Scenario {
        Scenario {
            fabric: self.fabric(&scenario.fabric),
            transport: self.transport(scenario.transport),
            scheme: self.scheme(&scenario.scheme),
            workload: self.workload(&scenario.workload),
            measure: self.measure(&scenario.measure),
            events: scenario.events.iter().map(|event| self.event(event)).collect(),
            ..scenario.clone()
        }
    }

    fn rate(&self, rate: Rate) -> Rate {
        Rate(((rate.0 as f64 * self.rate).round() as u64).max(1))
    }

    fn bytes(&self, bytes: Bytes) -> Bytes {
        Bytes(((bytes.0 as f64 * self.size).round() as u64).max(1))
    }

    fn span(&self, time: Time) -> Time {
        if time == Time::NEVER { time } else { Time((time.0 as f64 * self.time()).round() as u64) }
    }

    fn fabric(&self, fabric: &Fabric) -> Fabric {
        let mut scaled = fabric.clone();
        scaled.convergence = self.span(fabric.convergence);
        scaled.graph.links = fabric.graph.links.iter().map(|link| self.link(*link)).collect();
        scaled
    }

    fn link(&self, link: Link) -> Link {
        let reverse_rate = link.reverse_rate.map(|rate| self.rate(rate));
        Link { rate: self.rate(link.rate), reverse_rate, delay: self.span(link.delay), ..link }
    }

    fn transport(&self, transport: Transport) -> Transport {
        match transport {
            Transport::Tcp(tcp) => Transport::Tcp(self.tcp(tcp)),
            Transport::Mptcp(mut mptcp) => {
                mptcp.tcp = self.tcp(mptcp.tcp);
                Transport::Mptcp(mptcp)
            }
            Transport::Uet(uet) => Transport::Uet(self.uet(uet)),
        }
    }

    fn uet(&self, uet: UetConfig) -> UetConfig {
        let span = |time: Option<Time>| time.map(|time| self.span(time));
        UetConfig {
            base_rtt: span(uet.base_rtt),
            target_delay: span(uet.target_delay),
            rto: span(uet.rto),
            ..uet
        }
    }

    fn tcp(&self, tcp: TcpConfig) -> TcpConfig {
        TcpConfig {
            min_rto: self.span(tcp.min_rto),
            max_rto: self.span(tcp.max_rto),
            delayed_ack: tcp.delayed_ack.map(|delay| self.span(delay)),
            ..tcp
        }
    }

    fn scheme(&self, scheme: &Scheme) -> Scheme {
        match scheme.clone() {
            Scheme::Hula(hula) => Scheme::Hula(self.hula(hula)),
            Scheme::MpHula(mp) => Scheme::MpHula(MpHulaConfig {
                hula: self.hula(mp.hula),
                tables: self.tables(mp.tables),
                ..mp
            }),
            Scheme::Shuttle(shuttle) => Scheme::Shuttle(ShuttleConfig {
                hula: self.hula(shuttle.hula),
                tables: self.tables(shuttle.tables),
                ..shuttle
            }),
            Scheme::CongaPrime(prime) => Scheme::CongaPrime(CongaPrimeConfig {
                flowlet_gap: self.span(prime.flowlet_gap),
                tau: self.span(prime.tau),
                metric_age: self.span(prime.metric_age),
                ..prime
            }),
            Scheme::Conga(conga) => Scheme::Conga(CongaConfig {
                flowlet_gap: self.span(conga.flowlet_gap),
                tau: self.span(conga.tau),
                metric_age: self.span(conga.metric_age),
                ..conga
            }),
            Scheme::Flowcut(flowcut) => {
                let lost_after = self.span(flowcut.lost_after);
                Scheme::Flowcut(FlowcutConfig { lost_after, ..flowcut })
            }
            Scheme::LetItFlow(own) => {
                let flowlet_gap = self.span(own.flowlet_gap);
                Scheme::LetItFlow(LetItFlowConfig { flowlet_gap, ..own })
            }
            other @ (Scheme::Ecmp
            | Scheme::EcmpNs2
            | Scheme::Drill(_)
            | Scheme::Spray
            | Scheme::Cflb(_)
            | Scheme::External(_)
            | Scheme::Ideal) => other,
        }
    }

    fn hula(&self, hula: HulaConfig) -> HulaConfig {
        HulaConfig {
            flowlet_gap: self.span(hula.flowlet_gap),
            probe_period: self.span(hula.probe_period),
            fail_after: hula.fail_after.map(|fail_after| self.span(fail_after)),
            tau: hula.tau.map(|tau| self.span(tau)),
            ..hula
        }
    }

    fn tables(&self, tables: MptcpTablesConfig) -> MptcpTablesConfig {
        MptcpTablesConfig { association_idle: self.span(tables.association_idle), ..tables }
    }

    fn workload(&self, workload: &Workload) -> Workload {
        match workload {
            Workload::Flows(flows) => Workload::Flows(self.flows(flows)),
            Workload::Long(long) => {
                Workload::Long(Long { start_within: self.span(long.start_within), ..long.clone() })
            }
            Workload::Replay(flows) => {
                let scaled = |f: &ReplayFlow| ReplayFlow {
                    at: self.span(f.at),
                    size: self.bytes(f.size),
                    ..*f
                };
                Workload::Replay(flows.iter().map(scaled).collect())
            }
            // The lab refuses these ([`crate::limits`]).
            Workload::Collective(_) | Workload::FlowGraph(_) | Workload::Requests(_) => {
                workload.clone()
            }
            Workload::Several(parts) => {
                let scaled = |part: &NamedWorkload| NamedWorkload {
                    workload: self.workload(&part.workload),
                    ..part.clone()
                };
                Workload::Several(parts.iter().map(scaled).collect())
            }
        }
    }

    fn flows(&self, flows: &Flows) -> Flows {
        let mut scaled = flows.clone();
        scaled.capacity = self.rate(flows.capacity);
        for (bytes, _) in &mut scaled.sizes.points {
            *bytes *= self.size;
        }
        scaled
    }

    fn measure(&self, measure: &Measure) -> Measure {
        Measure {
            probe_warm_up: self.span(measure.probe_warm_up),
            warm_up: self.span(measure.warm_up),
            warm_up_limit: measure.warm_up_limit.map(|limit| self.span(limit)),
            until: match measure.until {
                Until::Time(time) => Until::Time(self.span(time)),
                flows @ Until::Flows(_) => flows,
            },
            time_limit: self.span(measure.time_limit),
            sample_every: measure.sample_every.map(|every| self.span(every)),
            sample: measure.sample.clone(),
            size_classes: measure.size_classes.iter().map(|&bound| self.bytes(bound)).collect(),
        }
    }

    fn event(&self, event: &Event) -> Event {
        Event { at: self.span(event.at), ..event.clone() }
    }
}

/// Packets that cross a link in a second of the scenario as written, at its offered load.
fn hops_per_second(scenario: &Scenario) -> f64 {
    let graph = &scenario.fabric.graph;
    let tiers = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(1);
    let hops = 2.0 * f64::from(tiers);
    let hosts: f64 = graph
        .links
        .iter()
        .filter(|link| is_host_link(scenario, link))
        .map(|l| l.rate.0 as f64)
        .sum();
    let bits = match &scenario.workload {
        Workload::Flows(flows) => flows.load * flows.capacity.0 as f64,
        Workload::Long(_)
        | Workload::Replay(_)
        | Workload::Collective(_)
        | Workload::FlowGraph(_)
        | Workload::Requests(_)
        | Workload::Several(_) => hosts,
    };
    bits / FRAME_BITS * hops * FRAMES_PER_DATA
}

fn is_host_link(scenario: &Scenario, link: &Link) -> bool {
    let tier = |node: u32| scenario.fabric.graph.nodes[node as usize].tier;
    tier(link.ends.0).min(tier(link.ends.1)) == 0
}

#[cfg(test)]
mod tests;
