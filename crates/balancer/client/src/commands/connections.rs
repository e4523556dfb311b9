//! `heddle lb connections`.

use std::path::Path;

use heddle_program::{
    Common, Failure,
    output::{self, counted},
    table::{self, Table},
};
use heddled::admin::{Connection, Filter, Reply, Request};

use crate::args::Connections;
use crate::daemon::{Daemon, unexpected};
use crate::format;

pub(crate) fn connections(
    args: &Connections,
    socket: &Path,
    common: &Common,
) -> Result<(), Failure> {
    let filter = Filter {
        service: args.service.clone(),
        backend: args.backend.clone(),
        client: args.client,
        token: args.token,
        active: None,
    };
    let request = Request::Connections { filter, limit: args.limit };
    let found = match Daemon::connect(socket)?.ask(&request)? {
        Reply::Connections(found) => found,
        other => return Err(unexpected(&other)),
    };
    if common.json {
        return output::json(&found);
    }
    if !found.flows.is_empty() {
        output::line(table_of(&found.flows))?;
    }
    output::line(total(found.matching, found.flows.len() as u64))
}

fn table_of(flows: &[Connection]) -> Table {
    let mut table = table::of_words(&["client", "service", "backend", "token", "state", "idle"]);
    for flow in flows {
        table.add_row([
            flow.client.to_string(),
            flow.service.clone(),
            flow.backend.clone(),
            format::token(flow.token),
            flow.state.clone(),
            format::age(flow.idle),
        ]);
    }
    table
}

/// The times of packets are noted once a second: who sends is idle for so long at most.
fn total(matching: u64, shown: u64) -> String {
    match matching {
        0 => "no flows".into(),
        all if all == shown => counted(all, "flow"),
        all => format!("{shown} of {all} flows; --limit {all} shows all"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn subflows_of_one_connection() {
        let flow = |client: &str, token| Connection {
            client: client.parse().unwrap(),
            service: "web".into(),
            backend: "be1".into(),
            token,
            state: "established".into(),
            idle: Duration::from_millis(400),
        };
        let flows =
            [flow("198.51.100.7:4000", Some(0x1c2d_3e4f)), flow("[2001:db8::7]:4001", None)];
        insta::assert_snapshot!(table_of(&flows), @r"
        ┌────────────────────┬─────────┬─────────┬────────────┬─────────────┬──────┐
        │ client             ┆ service ┆ backend ┆ token      ┆ state       ┆ idle │
        ╞════════════════════╪═════════╪═════════╪════════════╪═════════════╪══════╡
        │ 198.51.100.7:4000  ┆ web     ┆ be1     ┆ 0x1c2d3e4f ┆ established ┆ 0.4s │
        │ [2001:db8::7]:4001 ┆ web     ┆ be1     ┆ -          ┆ established ┆ 0.4s │
        └────────────────────┴─────────┴─────────┴────────────┴─────────────┴──────┘
        ");
    }

    #[test]
    fn what_is_left_out_is_told() {
        assert_eq!([total(0, 0), total(1, 1)], ["no flows", "1 flow"]);
        assert_eq!(total(70, 50), "50 of 70 flows; --limit 70 shows all");
    }
}
