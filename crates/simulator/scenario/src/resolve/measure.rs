//! `[measure]`.

use heddle_config::Problem;
use heddle_units::Time;

use super::times::{at_least_1us, bounded, positive};
use crate::{Measure, ReplayFlow, Scheme, Until, Workload, raw};

/// Probes run alone for this many periods, and at least for this long.
const PROBE_WARM_UP: (u64, Time) = (5, Time::millis(1));

/// Flows that start this early are not measured.
const WARM_UP: Time = Time::millis(20);

pub(super) fn resolve(
    raw: &raw::Measure,
    scheme: &Scheme,
    workload: &Workload,
) -> Result<Measure, Problem> {
    times(raw, scheme, workload).map_err(|problem| problem.inside("measure"))
}

fn times(raw: &raw::Measure, scheme: &Scheme, workload: &Workload) -> Result<Measure, Problem> {
    let time_limit = positive("time_limit", raw.time_limit)?;
    let probe_warm_up =
        bounded("probe_warm_up", raw.probe_warm_up.unwrap_or(probe_warm_up(scheme)))?;
    let is_whole = replays(workload).is_some() || matches!(workload, Workload::Collective(_));
    let default = if is_whole { Time::ZERO } else { WARM_UP };
    let warm_up = bounded("warm_up", raw.warm_up.unwrap_or(default))?;
    let from = probe_warm_up + warm_up;
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
    Ok(Measure { probe_warm_up, warm_up, until, time_limit, sample_every })
}

fn probe_warm_up(scheme: &Scheme) -> Time {
    let (periods, least) = PROBE_WARM_UP;
    match scheme {
        Scheme::Hula(hula) => least.max(hula.probe_period * periods),
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
        (None, None, None) => match workload {
            Workload::Collective(ring) => Ok(Until::Flows(ring.flows())),
            _ => Err(Problem::new("nothing says how long to measure").help(
                "give `flows`, as in `flows = 20000`, or `duration`, as in `duration = \"100ms\"`",
            )),
        },
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
