//! `heddle lb counters`.

use std::path::Path;

use heddle_program::{Common, Failure, output, table};
use heddled::metrics::{self, Service, Snapshot};

use crate::args::Counters;
use crate::daemon::Daemon;
use crate::format;

pub(crate) fn counters(args: &Counters, socket: &Path, common: &Common) -> Result<(), Failure> {
    let mut snapshot = Daemon::connect(socket)?.counters()?;
    if let Some(name) = &args.service {
        if snapshot.services.iter().all(|service| service.name != *name) {
            let known: Vec<&str> = snapshot.services.iter().map(|s| &*s.name).collect();
            let message = format!("no service is called {name}");
            return Err(Failure::usage(message, format!("there are: {}", known.join(", "))));
        }
        snapshot.services.retain(|service| service.name == *name);
        snapshot.backends.retain(|backend| backend.service == *name);
    }
    if common.json {
        return output::json(&snapshot);
    }
    print(&snapshot, args.all)
}

fn print(snapshot: &Snapshot, all: bool) -> Result<(), Failure> {
    for service in &snapshot.services {
        let name = match service.name.as_str() {
            "none" => "of no service",
            name => name,
        };
        output::line(format_args!("{name}\n{}", table_of(service, all)))?;
    }
    snapshot.tables.iter().try_for_each(|table| output::line(fill(table)))
}

/// Verdicts with packets and bytes, then what happened besides.
fn table_of(service: &Service, all: bool) -> table::Table {
    let mut table = table::new(&["", "packets", "bytes"]);
    for verdict in service.verdicts.iter().filter(|verdict| all || verdict.packets > 0) {
        table.add_row([&verdict.name, &verdict.packets.to_string(), &verdict.bytes.to_string()]);
    }
    for event in service.events.iter().filter(|event| all || event.count > 0) {
        table.add_row([&event.name, &event.count.to_string(), ""]);
    }
    if table.row_count() == 0 {
        table.add_row(["nothing yet", "", ""]);
    }
    table
}

fn fill(table: &metrics::Table) -> String {
    let all: u64 = table.used.iter().map(|(_, entries)| entries).sum();
    let share = format::percent(all as f64 / table.capacity.max(1) as f64);
    let states: Vec<String> = table
        .used
        .iter()
        .filter(|(_, entries)| *entries > 0)
        .map(|(state, entries)| format!("{state} {entries}"))
        .collect();
    let states = if states.is_empty() { String::new() } else { format!(": {}", states.join(", ")) };
    format!("{} {all} of {} ({share}){states}", table.name, table.capacity)
}

#[cfg(test)]
mod tests {
    use heddled::metrics::{Event, Verdict};

    use super::*;

    #[test]
    fn what_is_nothing_is_left_out() {
        let verdict =
            |name: &str, packets| Verdict { name: name.into(), packets, bytes: packets * 100 };
        let service = Service {
            name: "web".into(),
            verdicts: vec![verdict("sent_flow", 12), verdict("sent_syn", 0)],
            events: vec![Event { name: "token_added".into(), count: 3 }],
        };
        insta::assert_snapshot!(table_of(&service, false), @r"
        ┌─────────────┬─────────┬───────┐
        │             ┆ packets ┆ bytes │
        ╞═════════════╪═════════╪═══════╡
        │ sent_flow   ┆      12 ┆  1200 │
        │ token_added ┆       3 ┆       │
        └─────────────┴─────────┴───────┘
        ");
        assert_eq!(table_of(&service, true).row_count(), 3);
    }

    #[test]
    fn tables_and_their_fill() {
        let used = vec![("new".to_owned(), 0), ("established".to_owned(), 25)];
        let flows = metrics::Table { name: "flows".into(), capacity: 100, used };
        assert_eq!(fill(&flows), "flows 25 of 100 (25 %): established 25");
    }
}
