//! `[[event]]`.

use std::collections::BTreeSet;

use heddle_config::{ConfigError, Problem};
use heddle_units::{Rate, Time};

use super::times::bounded;
use crate::graph::{Names, check_reachable};
use crate::raw::Direction;
use crate::source::Files;
use crate::{Change, Event, Graph, Impairment, Measure, Share, Until, raw};

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
        resolved.push(one(event, graph, &names, &mut down).map_err(inside)?);
    }
    Ok(resolved)
}

/// After the last event every host must reach every other: flows of those that do not would never
/// end.
pub(super) fn check_end(
    graph: &Graph,
    mut down: BTreeSet<u32>,
    events: &[Event],
) -> Result<(), Problem> {
    let Some(last) = events.len().checked_sub(1) else { return Ok(()) };
    for event in events {
        match event.change.is_up() {
            Some(false) => down.extend(&event.links),
            Some(true) => down.retain(|link| !event.links.contains(link)),
            None => {}
        }
    }
    check_reachable(graph, |link| !down.contains(&link)).map_err(|problem| {
        let problem = ConfigError::from(problem);
        let message = format!("after this event, {} for the rest of the run", problem.message());
        Problem::at(&format!("event.{last}"), message)
            .help("let a later event recover links that join all hosts, or fail fewer")
    })
}

/// Notes events that come when the run has ended.
pub(super) fn note_late(events: &[Event], measure: &Measure, files: &dyn Files) {
    let Until::Time(span) = measure.until else { return };
    let warm_up = measure.warm_up_limit.unwrap_or(measure.warm_up);
    let end = measure.probe_warm_up.saturating_add(warm_up).saturating_add(span);
    for (index, event) in events.iter().enumerate().filter(|(_, event)| event.at >= end) {
        let at = event.at;
        files.note(format!("event.{index} at {at} never comes: the run ends at {end}"));
    }
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

fn one(
    event: &raw::Event,
    graph: &Graph,
    names: &Names<'_>,
    down: &mut BTreeSet<u32>,
) -> Result<Event, Problem> {
    let kinds = [
        ("fail", &event.fail),
        ("recover", &event.recover),
        ("degrade", &event.degrade),
        ("repair", &event.repair),
    ];
    let given: Vec<_> = kinds.into_iter().filter(|(_, texts)| !texts.is_empty()).collect();
    let [(key, texts)] = given[..] else {
        return Err(Problem::new("an event either fails, recovers, degrades or repairs something")
            .help("give one of `fail`, `recover`, `degrade` and `repair`, as in `fail = [\"core-2 agg-4\"]`"));
    };
    let change = match key {
        "fail" => Change::Fail,
        "recover" => Change::Recover,
        "degrade" => Change::Degrade(impairment(event)?),
        _ => Change::Repair,
    };
    refuse_impairment(event, key)?;
    let one_way = event.direction == Some(Direction::Forward);
    let mut links = BTreeSet::new();
    for (index, text) in texts.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("{key}.{index}"));
        let changed = changed(text, change, names, down).map_err(inside)?;
        let sender = if one_way { Some(names.first_end(text).map_err(inside)?) } else { None };
        links.extend(changed.into_iter().map(|link| (link, sender)));
    }
    check_impairment(change, &links, graph).map_err(|problem| problem.inside(key))?;
    let (links, senders): (Vec<_>, Vec<_>) = links.into_iter().unzip();
    Ok(Event { at: event.at, change, links, senders: senders.into_iter().flatten().collect() })
}

/// Links, each with the end whose direction alone changes.
type Changed = BTreeSet<(u32, Option<u32>)>;

/// The keys of a degradation, at least one.
fn impairment(event: &raw::Event) -> Result<Impairment, Problem> {
    if event.rate == Some(Rate(0)) {
        return Err(Problem::at("rate", "must be above 0bps").help("`fail` takes a link down"));
    }
    let share = |key: &str, share: Option<f64>| {
        let wrong = |share: f64| {
            Problem::at(key, format!("{share} is not a share")).help("from 0 to 1, as in 0.001")
        };
        share.map(|share| Share::new(share).ok_or_else(|| wrong(share))).transpose()
    };
    let impairment = Impairment {
        rate: event.rate,
        delay: event.delay.map(|delay| bounded("delay", delay)).transpose()?,
        loss: share("loss", event.loss)?,
        blackhole: share("blackhole", event.blackhole)?,
    };
    if impairment == Impairment::default() {
        return Err(Problem::at("degrade", "nothing says how")
            .help("with `rate`, `delay`, `loss` or `blackhole`, as in `loss = 0.001`"));
    }
    Ok(impairment)
}

/// The keys of a degradation belong to `degrade` alone.
fn refuse_impairment(event: &raw::Event, key: &str) -> Result<(), Problem> {
    let given = [
        ("rate", event.rate.is_some()),
        ("delay", event.delay.is_some()),
        ("loss", event.loss.is_some()),
        ("blackhole", event.blackhole.is_some()),
    ];
    if let Some((name, _)) = given.into_iter().find(|(_, given)| *given && key != "degrade") {
        return Err(
            Problem::at(name, "only `degrade` takes this").help("degrade = [\"core-2 agg-4\"]")
        );
    }
    if event.direction.is_some() && !matches!(key, "degrade" | "repair") {
        let message = "a link goes down and comes up in both directions";
        return Err(Problem::at("direction", message).help("only `degrade` and `repair` take it"));
    }
    Ok(())
}

/// A host's own queue knows one rate and one delay. Bounds of completion times hold for the fabric
/// as it is described: an impairment makes no link better.
fn check_impairment(change: Change, links: &Changed, graph: &Graph) -> Result<(), Problem> {
    let Change::Degrade(Impairment { rate, delay, .. }) = change else { return Ok(()) };
    if rate.is_none() && delay.is_none() {
        return Ok(());
    }
    for &(link, sender) in links {
        let link = &graph.links[link as usize];
        let (a, b) = (&graph.nodes[link.ends.0 as usize], &graph.nodes[link.ends.1 as usize]);
        let name = format!("{} {}", a.name, b.name);
        if a.tier.min(b.tier) == 0 {
            let message = format!("{name} is a host's link: its rate and delay cannot change");
            return Err(Problem::new(message)
                .help("links between switches; `loss` and `blackhole` suit every link"));
        }
        let least = match sender {
            Some(end) => link.rate_from(end),
            None => link.rate_from(link.ends.0).min(link.rate_from(link.ends.1)),
        };
        if rate.is_some_and(|rate| rate > least) || delay.is_some_and(|d| d < link.delay) {
            let message = format!("{name} has {least} and {} in the fabric", link.delay);
            return Err(Problem::new(message)
                .help("a lower rate, a longer delay; `repair` gives back the fabric's"));
        }
    }
    Ok(())
}

/// The links of `text` that the event changes: those of a switch that are not as wanted already,
/// and at least one.
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
        Change::Degrade(_) | Change::Repair => links,
    };
    match (changed.is_empty(), change) {
        (true, Change::Fail) => Err(Problem::new(format!("{text} is down already"))
            .help("links that are up then, or an event before it with `recover`")),
        (true, Change::Recover) => Err(Problem::new(format!("{text} is not down"))
            .help("links that an event before it, or `fabric.failed`, takes down")),
        _ => Ok(changed),
    }
}
