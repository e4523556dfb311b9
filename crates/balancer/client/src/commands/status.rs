//! `heddle lb status`, `members` and `reload`.

use std::path::Path;

use heddle_program::{
    Common, Failure,
    output::{self, counted},
    table::{self, Table},
};
use heddled::admin::{MemberStatus, Reply, Request, Status};
use serde_json::json;

use crate::daemon::{Daemon, unexpected};
use crate::format;

/// Slots of the ring.
const RING: u32 = heddle_balancer_maps::abi::RING_SIZE;

/// The end of changes by command.
const UNTIL: &str = "(not in the file: a restart undoes this, `heddle lb reload` all but drains)";

/// The end of changes on all balancers.
const UNTIL_RESET: &str = "(on all balancers, until `heddle lb changes reset`)";

pub(crate) fn status(socket: &Path, common: &Common) -> Result<(), Failure> {
    let status = Daemon::connect(socket)?.status()?;
    if common.json {
        return output::json(&status);
    }
    output::line(text(&status))
}

fn text(status: &Status) -> String {
    let Status { name, version, kernel, backends_up, backends_unchecked, backends, .. } = status;
    let uptime = format::age(status.uptime);
    let mut lines = vec![format!("{name}: heddled {version} on Linux {kernel}, up {uptime}")];
    let mut line = |what: &str, text: String| lines.push(format!("  {what:<12}{text}"));
    let pairs = |(key, value): (&String, String)| format!("{key} ({value})");
    let interfaces = status.interfaces.iter().map(|(name, mode)| pairs((name, mode.clone())));
    line("interfaces", interfaces.collect::<Vec<_>>().join(", "));
    let services = status.services.iter().map(|(name, mode)| pairs((name, mode.name().into())));
    line("services", services.collect::<Vec<_>>().join(", "));
    line("backends", format::backends(*backends_up, *backends_unchecked, *backends));
    line("balancers", status.members.to_string());
    line(
        "tables",
        format!("{}, {}", counted(status.flows, "flow"), counted(status.tokens, "token")),
    );
    for (number, change) in status.changes.iter().enumerate() {
        line(if number == 0 { "by command" } else { "" }, change.clone());
    }
    if !status.changes.is_empty() {
        line("", UNTIL.into());
    }
    for (number, change) in status.shared_changes.iter().enumerate() {
        line(if number == 0 { "by etcd" } else { "" }, change.clone());
    }
    if !status.shared_changes.is_empty() {
        line("", UNTIL_RESET.into());
    }
    match (status.warnings.is_empty(), status.ready) {
        (true, true) => lines.push("  all is well".into()),
        (true, false) => lines.push("  starting".into()),
        (false, _) => {
            lines.extend(status.warnings.iter().map(|warning| format!("  warning: {warning}")));
        }
    }
    lines.join("\n")
}

pub(crate) fn members(socket: &Path, common: &Common) -> Result<(), Failure> {
    let members = match Daemon::connect(socket)?.ask(&Request::Members)? {
        Reply::Members(members) => members.members,
        other => return Err(unexpected(&other)),
    };
    match (common.json, members.is_empty()) {
        (true, _) => output::json(&members),
        (false, true) => output::line("this balancer is alone: it has no address for others"),
        (false, false) => output::line(table_of(&members)),
    }
}

fn table_of(members: &[MemberStatus]) -> Table {
    let mut table =
        table::of_words(&["balancer", "address", "state", "round trip", "of the token space"]);
    for member in members {
        let share = format::percent(f64::from(member.slots) / f64::from(RING));
        let round_trip = member.heartbeats.as_ref().and_then(|answers| answers.round_trip);
        let round_trip =
            round_trip.map_or("-".to_owned(), |time| format!("{} µs", time.as_micros()));
        let (name, address) = (member.name.clone(), member.address.to_string());
        table.add_row([name, address, state(member), round_trip, share]);
    }
    table
}

/// Its state, and what is wrong with it.
fn state(member: &MemberStatus) -> String {
    let mut state = vec![match (member.own, member.alive) {
        (true, _) => "this one",
        (false, true) => "alive",
        (false, false) => "dead",
    }];
    if let Some(answers) = &member.heartbeats {
        state.extend(answers.refused_recently.then_some("messages with another secret"));
        state.extend(answers.differs.then_some("another configuration"));
    }
    state.extend((!member.registered).then_some("not registered"));
    state.join(", ")
}

pub(crate) fn reload(socket: &Path, common: &Common) -> Result<(), Failure> {
    let changes = Daemon::connect(socket)?.reload()?;
    match (common.json, changes.is_empty()) {
        (true, _) => output::json(&json!({ "changes": changes })),
        (false, true) => output::line("the configuration was read again: nothing has changed"),
        (false, false) => output::line(changes.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use heddled::admin::Heartbeats;
    use heddled::heartbeat::Liveness;
    use heddled::service::MptcpMode;

    use super::*;

    fn healthy() -> Status {
        Status {
            name: "lb1".into(),
            version: "0.1.0".into(),
            kernel: "6.18.0".into(),
            uptime: Duration::from_secs(7500),
            interfaces: [("eth0".to_owned(), "native".to_owned())].into(),
            services: [("dns".to_owned(), MptcpMode::Off), ("web".to_owned(), MptcpMode::Learn)]
                .into(),
            backends_up: 3,
            backends_unchecked: 0,
            backends: 4,
            members: 2,
            flows: 1,
            tokens: 1200,
            ready: true,
            warnings: vec![],
            changes: vec![],
            shared_changes: vec![],
        }
    }

    #[test]
    fn a_healthy_daemon() {
        insta::assert_snapshot!(text(&healthy()), @r"
        lb1: heddled 0.1.0 on Linux 6.18.0, up 2h 5m
          interfaces  eth0 (native)
          services    dns (off), web (learn)
          backends    3 of 4 up
          balancers   2
          tables      1 flow, 1200 tokens
          all is well
        ");
    }

    #[test]
    fn backends_that_were_not_checked_yet_do_not_count_as_up() {
        let status = Status { backends_up: 1, backends_unchecked: 3, ..healthy() };
        let text = text(&status);
        assert!(text.contains("\n  backends    1 of 4 up, 3 not checked yet\n"), "{text}");
    }

    #[test]
    fn warnings_come_last() {
        let status = Status { warnings: vec!["be1 is gone".into()], ..healthy() };
        assert!(text(&status).ends_with("\n  warning: be1 is gone"));
    }

    #[test]
    fn changes_by_command_are_told() {
        let changes = ["backend be3 (10.0.1.3) was added", "backend be1 is drained"];
        let changes = changes.map(|change| format!("service web: {change}")).into();
        insta::assert_snapshot!(text(&Status { changes, ..healthy() }), @r"
        lb1: heddled 0.1.0 on Linux 6.18.0, up 2h 5m
          interfaces  eth0 (native)
          services    dns (off), web (learn)
          backends    3 of 4 up
          balancers   2
          tables      1 flow, 1200 tokens
          by command  service web: backend be3 (10.0.1.3) was added
                      service web: backend be1 is drained
                      (not in the file: a restart undoes this, `heddle lb reload` all but drains)
          all is well
        ");
    }

    #[test]
    fn changes_of_all_balancers_are_told() {
        let shared_changes = vec!["service web: backend be1 is drained".into()];
        let text = text(&Status { shared_changes, ..healthy() });
        assert!(text.contains("\n  by etcd     service web: backend be1 is drained\n"), "{text}");
        assert!(text.contains("until `heddle lb changes reset`)\n  all is well"), "{text}");
    }

    #[test]
    fn members_have_shares() {
        let member = |name: &str, own, alive, slots| MemberStatus {
            name: name.into(),
            address: [10, 0, 0, 1].into(),
            own,
            alive,
            registered: true,
            heartbeats: None,
            slots,
        };
        let heartbeats = Heartbeats {
            liveness: Liveness::Alive,
            round_trip: Some(Duration::from_micros(230)),
            missed: 1,
            refused: 2,
            refused_recently: true,
            differs: true,
        };
        let corrected = heartbeats.clone();
        let corrected = Heartbeats { refused_recently: false, differs: false, ..corrected };
        let lb4 =
            MemberStatus { heartbeats: Some(corrected), ..member("lb4", false, true, RING / 4) };
        assert_eq!(state(&lb4), "alive");
        let lb3 = MemberStatus {
            registered: false,
            heartbeats: Some(heartbeats),
            ..member("lb3", false, true, RING / 2)
        };
        let all = [member("lb1", true, true, RING / 4), member("lb2", false, false, 0), lb3];
        insta::assert_snapshot!(table_of(&all), @r"
        ┌──────────┬──────────┬────────────────────────────────────────────────────────────────────────────┬────────────┬────────────────────┐
        │ balancer ┆ address  ┆ state                                                                      ┆ round trip ┆ of the token space │
        ╞══════════╪══════════╪════════════════════════════════════════════════════════════════════════════╪════════════╪════════════════════╡
        │ lb1      ┆ 10.0.0.1 ┆ this one                                                                   ┆ -          ┆ 25 %               │
        │ lb2      ┆ 10.0.0.1 ┆ dead                                                                       ┆ -          ┆ 0 %                │
        │ lb3      ┆ 10.0.0.1 ┆ alive, messages with another secret, another configuration, not registered ┆ 230 µs     ┆ 50 %               │
        └──────────┴──────────┴────────────────────────────────────────────────────────────────────────────┴────────────┴────────────────────┘
        ");
    }
}
