//! `[measure]`.

use std::collections::BTreeSet;

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::times::{at_least_1us, bounded, positive};
use crate::graph::Names;
use crate::{DEFAULT_SIZE_CLASSES, Graph, Measure, ReplayFlow, Scheme, Until, Workload, raw};

/// Probes run alone for this many periods, and at least for this long: under every scheme, so that
/// the same flows and events have the same times.
const PROBE_WARM_UP: (u64, Time) = (5, Time::millis(1));

/// Flows that start this early are not measured.
const WARM_UP: Time = Time::millis(20);

/// The shortest warm-up whose end a test decides.
const LEAST_TESTED: Time = Time::micros(100);

/// Bounds of size classes beyond these are too many for tables.
const MOST_BOUNDS: usize = 8;

pub(super) fn resolve(
    raw: &raw::Measure,
    graph: &Graph,
    scheme: &Scheme,
    workload: &Workload,
) -> Result<Measure, Problem> {
    let times = times(raw, scheme, workload);
    let sample = sampled_links(raw, graph, scheme);
    let classes = size_classes(raw.size_classes.as_deref());
    let measure = times.and_then(|m| Ok(Measure { sample: sample?, size_classes: classes?, ..m }));
    measure.map_err(|problem| problem.inside("measure"))
}

/// The bounds of `size_classes`, rising.
fn size_classes(given: Option<&[Bytes]>) -> Result<Vec<Bytes>, Problem> {
    let Some(bounds) = given else { return Ok(DEFAULT_SIZE_CLASSES.to_vec()) };
    if bounds.is_empty() || bounds.len() > MOST_BOUNDS {
        let message = format!("{} bounds between classes", bounds.len());
        return Err(Problem::at("size_classes", message).help(format!("from 1 to {MOST_BOUNDS}")));
    }
    let falls = |place: &usize| {
        bounds[*place] <= bounds.get(place.wrapping_sub(1)).copied().unwrap_or(Bytes(0))
    };
    if let Some(place) = (0..bounds.len()).find(falls) {
        let message = format!("{} is not above what is before it", bounds[place]);
        return Err(Problem::at(&format!("size_classes.{place}"), message)
            .help("rising bounds, as in [\"100KB\", \"10MB\"]"));
    }
    Ok(bounds.to_vec())
}

/// The links of `sample`, in order; `None` for those between switches.
fn sampled_links(
    raw: &raw::Measure,
    graph: &Graph,
    scheme: &Scheme,
) -> Result<Option<Vec<u32>>, Problem> {
    let Some(texts) = &raw.sample else { return Ok(None) };
    if raw.sample_every.is_none() {
        return Err(Problem::at("sample", "nothing says how often")
            .help("with a time between two samples, as in `sample_every = \"100us\"`"));
    }
    if *scheme == Scheme::Ideal {
        return Err(Problem::at("sample", "the ideal fabric has none of these links")
            .help("leave `sample` out, or choose another scheme"));
    }
    if texts.is_empty() {
        return Err(Problem::at("sample", "there are no links").help(
            "leave it out for the links between switches, or `sample_every` for no samples",
        ));
    }
    let names = Names::new(graph);
    let mut links = BTreeSet::new();
    for (index, text) in texts.iter().enumerate() {
        let named = links_of(text, graph, &names);
        links.extend(named.map_err(|problem| problem.inside(&format!("sample.{index}")))?);
    }
    Ok(Some(links.into_iter().collect()))
}

/// The links of an entry of `sample`.
fn links_of(text: &str, graph: &Graph, names: &Names<'_>) -> Result<Vec<u32>, Problem> {
    let of_hosts = match text {
        "hosts" => true,
        "switches" => false,
        _ => return names.links(text),
    };
    let is_of_host = |link: &u32| {
        let (a, b) = graph.links[*link as usize].ends;
        graph.nodes[a.min(b) as usize].tier == 0
    };
    let all = 0..graph.links.len() as u32;
    Ok(all.filter(|link| is_of_host(link) == of_hosts).collect())
}

fn times(raw: &raw::Measure, scheme: &Scheme, workload: &Workload) -> Result<Measure, Problem> {
    let time_limit = positive("time_limit", raw.time_limit)?;
    let probe_warm_up =
        bounded("probe_warm_up", raw.probe_warm_up.unwrap_or(probe_warm_up(scheme)))?;
    let is_whole = replays(workload).is_some() || job_flows(workload).is_some();
    let default = if is_whole { Time::ZERO } else { WARM_UP };
    let warm_up = bounded("warm_up", raw.warm_up.unwrap_or(default))?;
    let warm_up_limit = warm_up_limit(raw, warm_up, is_whole)?;
    let from = probe_warm_up + warm_up_limit.unwrap_or(warm_up);
    if from >= time_limit {
        let message = format!("{time_limit} is over before measuring starts, at {from}");
        return Err(
            Problem::at("time_limit", message).help("a longer `time_limit`, or shorter warm-ups")
        );
    }
    let until = until(raw, workload, warm_up, time_limit)?;
    if let Until::Time(span) = until
        && from + span > time_limit
    {
        let message = format!("{time_limit} is over before measuring ends, at {}", from + span);
        return Err(Problem::at("time_limit", message)
            .help("a longer `time_limit`, or a shorter `duration`"));
    }
    let sample_every =
        raw.sample_every.map(|every| at_least_1us("sample_every", every)).transpose()?;
    Ok(Measure {
        probe_warm_up,
        warm_up,
        warm_up_limit,
        until,
        time_limit,
        sample_every,
        sample: None,
        size_classes: Vec::new(),
    })
}

/// The longest warm-up that a test ends; `is_whole` if all flows are known, so that none may be lost
/// to a warm-up.
fn warm_up_limit(
    raw: &raw::Measure,
    warm_up: Time,
    is_whole: bool,
) -> Result<Option<Time>, Problem> {
    let Some(limit) = raw.warm_up_limit else { return Ok(None) };
    let limit = bounded("warm_up_limit", limit)?;
    let refused = |message: String, help: &str| {
        Err(Problem::at("warm_up_limit", message).help(help.to_owned()))
    };
    if is_whole {
        return refused("a list of flows has no steady state".to_owned(), "leave it out");
    }
    if warm_up < LEAST_TESTED {
        let message = format!("the test observes 100 times in `warm_up`, which is {warm_up}");
        return refused(message, "a `warm_up` of at least 100us");
    }
    if limit <= warm_up {
        let message = format!("{limit} is no longer than `warm_up`, {warm_up}");
        return refused(message, "the longest warm-up, as in `warm_up_limit = \"1s\"`");
    }
    Ok(Some(limit))
}

fn probe_warm_up(scheme: &Scheme) -> Time {
    let (periods, least) = PROBE_WARM_UP;
    match scheme {
        Scheme::Hula(hula) => least.max(hula.probe_period * periods),
        Scheme::External(external) => {
            least.max(external.probe_period.unwrap_or_default() * periods)
        }
        _ => least,
    }
}

fn until(
    raw: &raw::Measure,
    workload: &Workload,
    warm_up: Time,
    time_limit: Time,
) -> Result<Until, Problem> {
    let are_endless = workload.parts().iter().all(|part| matches!(part, Workload::Long(_)));
    match (raw.flows, raw.duration, replays(workload)) {
        (Some(_), Some(_), _) => {
            Err(Problem::at("duration", "a run ends by `flows` or by `duration`, not by both"))
        }
        (Some(0), ..) => Err(Problem::at("flows", "must be at least 1")),
        (Some(_), ..) if are_endless => {
            Err(Problem::at("flows", "flows without end do not finish").help("give a `duration`"))
        }
        (wanted, None, Some(list)) => replayed(wanted, &list, warm_up, time_limit),
        (Some(flows), ..) => Ok(Until::Flows(flows)),
        (_, Some(span), _) => Ok(Until::Time(positive("duration", span)?)),
        (None, None, None) => match job_flows(workload) {
            Some(flows) => Ok(Until::Flows(flows)),
            None => Err(Problem::new("nothing says how long to measure").help(
                "give `flows`, as in `flows = 20000`, or `duration`, as in `duration = \"100ms\"`",
            )),
        },
    }
}

/// The number of flows of a workload that is one collective operation or flow graph; `None` of
/// others.
fn job_flows(workload: &Workload) -> Option<u64> {
    match workload {
        Workload::Collective(collective) => Some(collective.flows()),
        Workload::FlowGraph(graph) => Some(graph.flow_count()),
        _ => None,
    }
}

/// The flows of a workload of lists alone; `None` of others.
fn replays(workload: &Workload) -> Option<Vec<ReplayFlow>> {
    let list = |part: &Workload| match part {
        Workload::Replay(list) => Some(list.clone()),
        _ => None,
    };
    let lists: Option<Vec<_>> = workload.parts().into_iter().map(list).collect();
    Some(lists?.concat())
}

/// A replay has only so many flows to measure.
fn replayed(
    wanted: Option<u64>,
    flows: &[ReplayFlow],
    warm_up: Time,
    time_limit: Time,
) -> Result<Until, Problem> {
    let count = flows.iter().filter(|flow| flow.at >= warm_up).count() as u64;
    if count == 0 || wanted.is_some_and(|wanted| wanted > count) {
        let message = format!("flows of the replay after the warm-up: {count}");
        return Err(Problem::at(if wanted.is_some() { "flows" } else { "warm_up" }, message));
    }
    if let Some(late) = flows.iter().find(|flow| flow.at > time_limit) {
        let message =
            format!("{time_limit} is over before a flow of the replay starts, at {}", late.at);
        return Err(Problem::at("time_limit", message).help("a longer `time_limit`"));
    }
    Ok(Until::Flows(wanted.unwrap_or(count)))
}
