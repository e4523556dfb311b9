//! `[[event]]`.

use std::collections::BTreeSet;

use heddle_config::{ConfigError, Problem};
use heddle_units::Time;

use crate::graph::{Names, check_reachable};
use crate::{Change, Event, Graph, raw};

/// Resolves events one after the other, keeping account of the links that are `down`.
pub(super) fn resolve(
    events: &[raw::Event],
    graph: &Graph,
    mut down: BTreeSet<u32>,
    time_limit: Time,
) -> Result<Vec<Event>, Problem> {
    let names = Names::new(graph);
    let mut resolved = Vec::with_capacity(events.len());
    let mut before = Time::ZERO;
    for (index, event) in events.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("event.{index}"));
        check_time(event.at, before, time_limit).map_err(inside)?;
        before = event.at;
        resolved.push(one(event, &names, &mut down).map_err(inside)?);
    }
    Ok(resolved)
}

/// After the last event every host must reach every other: flows of those that do not would never end.
pub(super) fn check_end(
    graph: &Graph,
    mut down: BTreeSet<u32>,
    events: &[Event],
) -> Result<(), Problem> {
    let Some(last) = events.len().checked_sub(1) else { return Ok(()) };
    for event in events {
        match event.change {
            Change::Fail => down.extend(&event.links),
            Change::Recover => down.retain(|link| !event.links.contains(link)),
        }
    }
    check_reachable(graph, |link| !down.contains(&link)).map_err(|problem| {
        let problem = ConfigError::from(problem);
        let message = format!("after this event, {} for the rest of the run", problem.message());
        Problem::at(&format!("event.{last}"), message)
            .help("let a later event recover links that join all hosts, or fail fewer")
    })
}

fn check_time(at: Time, before: Time, time_limit: Time) -> Result<(), Problem> {
    if at < before {
        return Err(Problem::at(
            "at",
            format!("{at} is earlier than the event before, at {before}"),
        )
        .help("list events in order of time"));
    }
    if at >= time_limit {
        return Err(Problem::at(
            "at",
            format!("{at} is not before `measure.time_limit`, {time_limit}"),
        ));
    }
    Ok(())
}

fn one(event: &raw::Event, names: &Names<'_>, down: &mut BTreeSet<u32>) -> Result<Event, Problem> {
    let (key, texts, change) = match (event.fail.is_empty(), event.recover.is_empty()) {
        (false, true) => ("fail", &event.fail, Change::Fail),
        (true, false) => ("recover", &event.recover, Change::Recover),
        _ => {
            return Err(Problem::new("an event either fails or recovers something")
                .help("give one of `fail` and `recover`, as in `fail = [\"core-2 agg-4\"]`"));
        }
    };
    let mut links = BTreeSet::new();
    for (index, text) in texts.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("{key}.{index}"));
        links.extend(changed(text, change, names, down).map_err(inside)?);
    }
    Ok(Event { at: event.at, change, links: links.into_iter().collect() })
}

/// The links of `text` that the event changes: those of a switch that are not as wanted already, and at least one.
fn changed(
    text: &str,
    change: Change,
    names: &Names<'_>,
    down: &mut BTreeSet<u32>,
) -> Result<Vec<u32>, Problem> {
    let links = names.links(text)?;
    let changed: Vec<u32> = match change {
        Change::Fail => links.into_iter().filter(|&link| down.insert(link)).collect(),
        Change::Recover => links.into_iter().filter(|link| down.remove(link)).collect(),
    };
    match (changed.is_empty(), change) {
        (false, _) => Ok(changed),
        (true, Change::Fail) => Err(Problem::new(format!("{text} is down already"))),
        (true, Change::Recover) => Err(Problem::new(format!("{text} is not down"))),
    }
}
