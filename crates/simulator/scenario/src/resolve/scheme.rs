//! `[scheme]`.

use heddle_config::Problem;
use heddle_units::Time;

use super::times::{at_least_1us, bounded, positive};
use super::{cflb, external};
use crate::graph::most_next_hops;
use crate::source::Files;
use crate::{
    Conga, CongaPrime, Detection, Drill, Flowcut, Flowlets, Graph, Hula, HulaUpdate, LongFlows,
    MpHula, Routing, Scheme, Shuttle, ShuttleChoice, ShuttleSubflows, raw,
};

/// Slots beyond this would not fit into memory.
const MOST_SLOTS: u32 = 1 << 24;

/// A congestion metric travels in 3 bits of CONGA's header (CONGA section 3.1).
const METRIC_BITS: u8 = 3;

/// The probe's utilisation is at most 16 bits wide.
const UTIL_BITS: u8 = 16;

/// Time constant of Shuttle's estimator: its own figure is read at each choice, not once a probe period.
const SHUTTLE_TAU: Time = Time::micros(100);

pub(crate) fn resolve(
    scheme: &raw::Scheme,
    graph: &Graph,
    files: &dyn Files,
) -> Result<Scheme, Problem> {
    let scheme = parameters(scheme, graph, files).map_err(|problem| problem.inside("scheme"))?;
    check_fabric(&scheme, graph).map_err(|problem| problem.inside("scheme.kind"))?;
    Ok(scheme)
}

fn parameters(scheme: &raw::Scheme, graph: &Graph, files: &dyn Files) -> Result<Scheme, Problem> {
    Ok(match scheme {
        raw::Scheme::Ecmp => Scheme::Ecmp,
        raw::Scheme::EcmpNs2 => Scheme::EcmpNs2,
        raw::Scheme::Spray => Scheme::Spray,
        raw::Scheme::Ideal => Scheme::Ideal,
        raw::Scheme::CongaPrime(raw) => Scheme::CongaPrime(conga_prime(raw)?),
        raw::Scheme::Conga(raw) => Scheme::Conga(conga(
            flowlets(raw.flowlet_gap, raw.flowlet_slots)?,
            raw.tau,
            raw.metric_bits,
            raw.metric_age,
        )?),
        raw::Scheme::LetItFlow(raw) => {
            Scheme::LetItFlow(flowlets(raw.flowlet_gap, raw.flowlet_slots)?)
        }
        raw::Scheme::Drill(raw) => Scheme::Drill(drill(raw)?),
        raw::Scheme::Flowcut(raw) => Scheme::Flowcut(flowcut(raw)?),
        raw::Scheme::Hula(raw) => Scheme::Hula(hula(raw)?),
        raw::Scheme::MpHula(raw) => Scheme::MpHula(mp_hula(raw, graph)?),
        raw::Scheme::Shuttle(raw) => Scheme::Shuttle(shuttle(raw, graph)?),
        raw::Scheme::Cflb(raw) => Scheme::Cflb(cflb::scheme(raw, graph)?),
        raw::Scheme::External(raw) => Scheme::External(external::scheme(raw, files)?),
    })
}

fn flowlets(gap: Time, slots: u32) -> Result<Flowlets, Problem> {
    size("flowlet_slots", slots, "a flowlet table", "slots")?;
    Ok(Flowlets { gap: bounded("flowlet_gap", gap)?, slots })
}

/// Refuses sizes that a table cannot have.
fn size(key: &str, size: u32, table: &str, of: &str) -> Result<(), Problem> {
    if (1..=MOST_SLOTS).contains(&size) {
        return Ok(());
    }
    Err(Problem::at(key, format!("{table} cannot have {size} {of}"))
        .help(format!("from 1 to {MOST_SLOTS}")))
}

fn conga(
    flowlets: Flowlets,
    tau: Time,
    metric_bits: u8,
    metric_age: Time,
) -> Result<Conga, Problem> {
    bits("metric_bits", metric_bits, METRIC_BITS)?;
    let (tau, metric_age) = (positive("tau", tau)?, positive("metric_age", metric_age)?);
    Ok(Conga { flowlets, tau, metric_bits, metric_age })
}

fn conga_prime(raw: &raw::CongaPrime) -> Result<CongaPrime, Problem> {
    let flowlets = flowlets(raw.flowlet_gap, raw.flowlet_slots)?;
    Ok(CongaPrime {
        conga: conga(flowlets, raw.tau, raw.metric_bits, raw.metric_age)?,
        detection: match raw.detection {
            raw::Detection::EverySwitch => Detection::EverySwitch,
            raw::Detection::SourceTor => Detection::SourceTor,
        },
    })
}

fn drill(raw: &raw::Drill) -> Result<Drill, Problem> {
    if raw.samples == 0 {
        return Err(Problem::at("samples", "must be at least 1")
            .help("DRILL(2, 1) is `samples = 2`, `memory = 1`"));
    }
    Ok(Drill { samples: raw.samples, memory: raw.memory })
}

fn flowcut(raw: &raw::Flowcut) -> Result<Flowcut, Problem> {
    size("flow_slots", raw.flow_slots, "a table of flows", "slots")?;
    if raw.drain_ratio == 1 {
        let message = "1 drains flows whose round-trip times are all but the least";
        return Err(Problem::at("drain_ratio", message).help("0 for no drains, or from 2"));
    }
    Ok(Flowcut {
        flow_slots: raw.flow_slots,
        lost_after: positive("lost_after", raw.lost_after)?,
        drain_ratio: (raw.drain_ratio > 0).then_some(raw.drain_ratio),
        drain_after: raw.drain_after,
    })
}

fn hula(raw: &raw::Hula) -> Result<Hula, Problem> {
    bits("util_bits", raw.util_bits, UTIL_BITS)?;
    let probe_period = at_least_1us("probe_period", raw.probe_period)?;
    let fail_after = bounded("fail_after", raw.fail_after.unwrap_or(probe_period * 3))?;
    if fail_after < probe_period {
        let message = format!(
            "{fail_after} is less than a probe period, {probe_period}: every entry would be stale"
        );
        return Err(Problem::at("fail_after", message).help("leave it out for 3 probe periods"));
    }
    Ok(Hula {
        flowlets: flowlets(raw.flowlet_gap, raw.flowlet_slots)?,
        probe_period,
        fail_after,
        tau: positive("tau", raw.tau.unwrap_or(probe_period * 2))?,
        util_bits: raw.util_bits,
        update: match raw.update {
            raw::Update::Refresh => HulaUpdate::Refresh,
            raw::Update::Listing => HulaUpdate::Listing,
        },
        local_detection: raw.local_detection,
    })
}

fn mp_hula(raw: &raw::MpHula, graph: &Graph) -> Result<MpHula, Problem> {
    let own = &raw.multipath;
    size("association_slots", own.association_slots, "an association table", "slots")?;
    size("mapping_rows", own.mapping_rows, "a mapping table", "rows")?;
    Ok(MpHula {
        hula: hula(&raw.hula)?,
        best_k: best_k(own.best_k, graph)?,
        association_slots: own.association_slots,
        association_idle: positive("association_idle", own.association_idle)?,
        mapping_rows: own.mapping_rows,
        long_flows: match own.long_flows {
            raw::LongFlows::Alike => LongFlows::Alike,
            raw::LongFlows::YieldBest => LongFlows::YieldBest,
            raw::LongFlows::Apart => LongFlows::Apart,
        },
    })
}

fn shuttle(raw: &raw::Shuttle, graph: &Graph) -> Result<Shuttle, Problem> {
    let own = &raw.weighing;
    size("association_slots", own.association_slots, "an association table", "slots")?;
    size("mapping_rows", own.mapping_rows, "a mapping table", "rows")?;
    if !(1..=2).contains(&own.draws) {
        return Err(Problem::at("draws", "must be 1 or 2").help("leave it out for 1"));
    }
    if !(1..=1 << 31).contains(&own.full_queue.0) {
        let message = format!("{} is no queue of a port", own.full_queue);
        return Err(Problem::at("full_queue", message).help("leave it out for 65536B"));
    }
    if ![1, 2, 4, 8].contains(&own.range) {
        return Err(Problem::at("range", "must be 1, 2, 4 or 8").help("leave it out for 2"));
    }
    let hula = hula(&raw.hula)?;
    let tau = raw.hula.tau.unwrap_or(SHUTTLE_TAU);
    Ok(Shuttle {
        hula: Hula { tau: positive("tau", tau)?, ..hula },
        best_k: best_k(own.best_k, graph)?,
        association_slots: own.association_slots,
        association_idle: positive("association_idle", own.association_idle)?,
        mapping_rows: own.mapping_rows,
        full_queue: own.full_queue,
        range: own.range,
        draws: own.draws,
        choice: match own.choice {
            raw::ShuttleChoice::Weighted => ShuttleChoice::Weighted,
            raw::ShuttleChoice::Least => ShuttleChoice::Least,
        },
        subflows: match own.subflows {
            raw::ShuttleSubflows::Apart => ShuttleSubflows::Apart,
            raw::ShuttleSubflows::FirstFree => ShuttleSubflows::FirstFree,
            raw::ShuttleSubflows::Alike => ShuttleSubflows::Alike,
        },
        reroute_above: own.reroute_above,
    })
}

/// A table of more next hops than there are would never be full.
fn best_k(best_k: u8, graph: &Graph) -> Result<u8, Problem> {
    let most = most_next_hops(graph);
    if best_k == 0 {
        return Err(Problem::at("best_k", "must be at least 1").help("1 is HULA"));
    }
    if usize::from(best_k) > most {
        let message = format!(
            "{best_k} is more than the ports that any switch of this fabric can choose from, {most}"
        );
        return Err(Problem::at("best_k", message).help(format!("at most {most}")));
    }
    Ok(best_k)
}

fn bits(key: &str, bits: u8, most: u8) -> Result<(), Problem> {
    if (1..=most).contains(&bits) {
        return Ok(());
    }
    Err(Problem::at(key, format!("{bits} bits cannot be sent")).help(format!("from 1 to {most}")))
}

/// CONGA knows two tiers only; CONGA' needs to know what a pod is; both and schemes with probes need up and down.
fn check_fabric(scheme: &Scheme, graph: &Graph) -> Result<(), Problem> {
    let tiers = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let mut tors = graph.nodes.iter().filter(|node| node.tier == 1);
    match scheme {
        Scheme::Hula(_)
        | Scheme::MpHula(_)
        | Scheme::Shuttle(_)
        | Scheme::Conga(_)
        | Scheme::CongaPrime(_)
            if graph.routing != Routing::UpDown =>
        {
            Err(needs_up_and_down(scheme, graph.routing))
        }
        Scheme::External(external)
            if external.probe_period.is_some() && graph.routing != Routing::UpDown =>
        {
            Err(needs_up_and_down(scheme, graph.routing))
        }
        Scheme::Conga(_) if tiers > 2 => Err(Problem::new(format!(
            "conga is made for two tiers of switches; this fabric has {tiers}"
        ))
        .help("\"conga-prime\" is CONGA inside pods and ECMP for each flowlet across them")),
        Scheme::CongaPrime(_) if tors.any(|node| node.pod.is_none()) => Err(Problem::new(
            "conga-prime needs to know the pod of each ToR; this fabric has no pods",
        )
        .help("on two tiers of switches use \"conga\"")),
        Scheme::Cflb(_) if graph.interfaces() > 1 => {
            Err(Problem::new("cflb places subflows on the paths of hosts with one interface")
                .help("`fabric.interfaces` = 1"))
        }
        _ => Ok(()),
    }
}

fn needs_up_and_down(scheme: &Scheme, routing: Routing) -> Problem {
    let name = scheme.name();
    let paths = if routing == Routing::Minimal { "minimal" } else { "the shortest of all" };
    Problem::new(format!("{name} needs paths that go up and then down; this fabric's are {paths}"))
        .help("\"ecmp\", \"cflb\", \"letitflow\", \"drill\", \"flowcut\" or \"spray\"")
}
