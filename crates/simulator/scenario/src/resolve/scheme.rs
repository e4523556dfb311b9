//! `[scheme]`.

use heddle_config::Problem;
use heddle_policy::{
    CongaConfig, DrillConfig, FlowcutConfig, HulaConfig, MpHulaConfig, MptcpTablesConfig,
    ShuttleConfig,
};
use heddle_units::Time;

use super::times::{at_least_1us, bounded, positive};
use super::{cflb, external};
use crate::graph::most_next_hops;
use crate::source::Files;
use crate::{Graph, Routing, Scheme, raw};

/// Slots beyond this would not fit into memory.
const MOST_SLOTS: u32 = 1 << 24;

/// A congestion metric travels in 3 bits of CONGA's header (CONGA section 3.1).
const METRIC_BITS: u8 = 3;

/// The probe's utilisation is at most 16 bits wide.
const UTIL_BITS: u8 = 16;

pub(crate) fn resolve(
    scheme: &raw::Scheme,
    graph: &Graph,
    files: &dyn Files,
) -> Result<Scheme, Problem> {
    let scheme = parameters(scheme, graph, files).map_err(|problem| problem.inside("scheme"))?;
    check_fabric(&scheme, graph).map_err(|problem| problem.inside("scheme.kind"))?;
    Ok(scheme)
}

/// The checked parameters, with every default.
fn parameters(scheme: &raw::Scheme, graph: &Graph, files: &dyn Files) -> Result<Scheme, Problem> {
    Ok(match scheme {
        raw::Scheme::Ecmp => Scheme::Ecmp,
        raw::Scheme::EcmpNs2 => Scheme::EcmpNs2,
        raw::Scheme::Spray => Scheme::Spray,
        raw::Scheme::Ideal => Scheme::Ideal,
        raw::Scheme::CongaPrime(prime) => {
            conga(&prime.conga())?;
            Scheme::CongaPrime(*prime)
        }
        raw::Scheme::Conga(own) => {
            conga(own)?;
            Scheme::Conga(*own)
        }
        raw::Scheme::LetItFlow(own) => {
            flowlets(own.flowlet_gap, own.flowlet_slots)?;
            Scheme::LetItFlow(*own)
        }
        raw::Scheme::Drill(own) => {
            drill(own)?;
            Scheme::Drill(*own)
        }
        raw::Scheme::Flowcut(own) => {
            flowcut(own)?;
            Scheme::Flowcut(*own)
        }
        raw::Scheme::Hula(own) => Scheme::Hula(hula(own, own.tau())?),
        raw::Scheme::MpHula(own) => Scheme::MpHula(mp_hula(own, graph)?),
        raw::Scheme::Shuttle(own) => Scheme::Shuttle(shuttle(own, graph)?),
        raw::Scheme::Cflb(raw) => Scheme::Cflb(cflb::scheme(raw, graph)?),
        raw::Scheme::External(raw) => Scheme::External(external::scheme(raw, files)?),
    })
}

fn flowlets(gap: Time, slots: u32) -> Result<(), Problem> {
    size("flowlet_slots", slots, "a flowlet table", "slots")?;
    bounded("flowlet_gap", gap).map(drop)
}

/// Refuses sizes that a table cannot have.
fn size(key: &str, size: u32, table: &str, of: &str) -> Result<(), Problem> {
    if (1..=MOST_SLOTS).contains(&size) {
        return Ok(());
    }
    Err(Problem::at(key, format!("{table} cannot have {size} {of}"))
        .help(format!("from 1 to {MOST_SLOTS}")))
}

fn conga(conga: &CongaConfig) -> Result<(), Problem> {
    flowlets(conga.flowlet_gap, conga.flowlet_slots)?;
    bits("metric_bits", conga.metric_bits, METRIC_BITS)?;
    positive("tau", conga.tau)?;
    positive("metric_age", conga.metric_age).map(drop)
}

fn drill(drill: &DrillConfig) -> Result<(), Problem> {
    if drill.samples == 0 {
        return Err(Problem::at("samples", "must be at least 1")
            .help("DRILL(2, 1) is `samples = 2`, `memory = 1`"));
    }
    Ok(())
}

fn flowcut(flowcut: &FlowcutConfig) -> Result<(), Problem> {
    size("flow_slots", flowcut.flow_slots, "a table of flows", "slots")?;
    if flowcut.drain_ratio == 1 {
        let message = "1 drains flows whose round-trip times are all but the least";
        return Err(Problem::at("drain_ratio", message).help("0 for no drains, or from 2"));
    }
    positive("lost_after", flowcut.lost_after).map(drop)
}

/// HULA's parameters with this time constant of the estimator.
fn hula(hula: &HulaConfig, tau: Time) -> Result<HulaConfig, Problem> {
    bits("util_bits", hula.util_bits, UTIL_BITS)?;
    let probe_period = at_least_1us("probe_period", hula.probe_period)?;
    let fail_after = bounded("fail_after", hula.fail_after())?;
    if fail_after < probe_period {
        let message = format!(
            "{fail_after} is less than a probe period, {probe_period}: every entry would be stale"
        );
        return Err(Problem::at("fail_after", message).help("leave it out for 3 probe periods"));
    }
    flowlets(hula.flowlet_gap, hula.flowlet_slots)?;
    let tau = positive("tau", tau)?;
    Ok(HulaConfig { fail_after: Some(fail_after), tau: Some(tau), ..*hula })
}

fn tables(tables: &MptcpTablesConfig, graph: &Graph) -> Result<(), Problem> {
    size("association_slots", tables.association_slots, "an association table", "slots")?;
    size("mapping_rows", tables.mapping_rows, "a mapping table", "rows")?;
    best_k(tables.best_k, graph)?;
    positive("association_idle", tables.association_idle).map(drop)
}

fn mp_hula(mp_hula: &MpHulaConfig, graph: &Graph) -> Result<MpHulaConfig, Problem> {
    tables(&mp_hula.tables, graph)?;
    Ok(MpHulaConfig { hula: hula(&mp_hula.hula, mp_hula.hula.tau())?, ..*mp_hula })
}

fn shuttle(shuttle: &ShuttleConfig, graph: &Graph) -> Result<ShuttleConfig, Problem> {
    let rules = &shuttle.rules;
    if !(1..=2).contains(&rules.draws) {
        return Err(Problem::at("draws", "must be 1 or 2").help("leave it out for 1"));
    }
    if !(1..=1 << 31).contains(&rules.full_queue.0) {
        let message = format!("{} is no queue of a port", rules.full_queue);
        return Err(Problem::at("full_queue", message).help("leave it out for 65536B"));
    }
    if ![1, 2, 4, 8].contains(&rules.range) {
        return Err(Problem::at("range", "must be 1, 2, 4 or 8").help("leave it out for 2"));
    }
    tables(&shuttle.tables, graph)?;
    Ok(ShuttleConfig { hula: hula(&shuttle.hula, shuttle.tau())?, ..*shuttle })
}

/// A table of more next hops than there are would never be full.
fn best_k(best_k: u8, graph: &Graph) -> Result<(), Problem> {
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
    Ok(())
}

fn bits(key: &str, bits: u8, most: u8) -> Result<(), Problem> {
    if (1..=most).contains(&bits) {
        return Ok(());
    }
    Err(Problem::at(key, format!("{bits} bits cannot be sent")).help(format!("from 1 to {most}")))
}

/// CONGA knows two tiers only; CONGA' needs to know what a pod is; both and schemes with probes
/// need up and down.
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
                .help("`fabric.interfaces = 1` and `fabric.tors_per_host = 1`"))
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
