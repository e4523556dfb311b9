//! Failures and repairs of a scenario: marks in plots over time, and a table.

use heddle_report::{Mark, Table};
use heddle_scenario::{Change, Event, Graph, Impairment, Scenario, Share};

use super::columns::spaced;
use super::levels::link_name;

/// Links that a mark names; of more it gives the number.
const FEW: usize = 2;

/// A mark for each event, in order of time.
pub(crate) fn marks(scenario: &Scenario) -> Vec<Mark> {
    let graph = &scenario.fabric.graph;
    let mark = |event: &Event| Mark { at: event.at.as_secs_f64(), label: label(graph, event) };
    scenario.events.iter().map(mark).collect()
}

/// The event, in a few words.
fn label(graph: &Graph, event: &Event) -> String {
    let is_one = event.links.len() == 1;
    let verb = match (event.change, is_one) {
        (Change::Fail, true) => "fails",
        (Change::Fail, false) => "fail",
        (Change::Recover, true) => "is back",
        (Change::Recover, false) => "are back",
        (Change::Degrade(_), true) => "degrades",
        (Change::Degrade(_), false) => "degrade",
        (Change::Repair, true) => "is repaired",
        (Change::Repair, false) => "are repaired",
    };
    match event.links.len() {
        few if few <= FEW => format!("{} {verb}", names(graph, event).join(", ")),
        many => format!("{many} links {verb}"),
    }
}

/// The links of an event.
fn names(graph: &Graph, event: &Event) -> Vec<String> {
    let named =
        |(index, &link): (usize, &u32)| link_name(graph, link, event.senders.get(index).copied());
    event.links.iter().enumerate().map(named).collect()
}

/// A row for each event; `None` of a scenario without.
pub(super) fn table(scenario: &Scenario) -> Option<Table> {
    let row = |table: Table, event: &Event| {
        let links = names(&scenario.fabric.graph, event).join(", ");
        table.row([spaced(event.at), links, change(event.change)])
    };
    let table = Table::new(["time", "links", "change"]);
    (!scenario.events.is_empty()).then(|| scenario.events.iter().fold(table, row))
}

fn change(change: Change) -> String {
    match change {
        Change::Fail => "fail".to_owned(),
        Change::Recover => "come back".to_owned(),
        Change::Repair => "are repaired".to_owned(),
        Change::Degrade(Impairment { rate, delay, loss, blackhole }) => {
            // A share is kept in steps of 2^-32.
            let percent = |share: Share| format!("{} %", (1e6 * share.get()).round() / 1e4);
            let parts = [
                rate.map(|rate| format!("rate {}", spaced(rate))),
                delay.map(|delay| format!("delay {}", spaced(delay))),
                loss.map(|share| format!("lose {} of the packets", percent(share))),
                blackhole
                    .map(|share| format!("lose every packet of {} of the flows", percent(share))),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("degrade: {}", parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    #[test]
    fn events_are_marks_and_rows() {
        let events = r#"[
            { at = "1ms", fail = ["leaf-1 spine-2"] },
            { at = "2ms", degrade = ["spine-1"], rate = "100Mbps", loss = 0.01 },
        ]"#;
        let scenario = scenario(&[("event", events), ("fabric.parallel_links", "1")]);
        let marks = marks(&scenario);
        assert_eq!((marks[0].at, marks[0].label.as_str()), (1e-3, "leaf-1 spine-2 fails"));
        assert_eq!(marks[1].label, "leaf-1 spine-1, leaf-2 spine-1 degrade");
        let table = table(&scenario).unwrap();
        assert_eq!(table.rows[0][0].text, "1 ms");
        assert_eq!(table.rows[1][2].text, "degrade: rate 100 Mbps, lose 1 % of the packets");
    }
}
