//! Notes and warnings behind the tables of commands that change backends.

use std::collections::BTreeSet;

use heddle_program::{Common, Failure, output};
use heddled::admin::BackendStatus;
use heddled::health::State;

use super::backends::{state, table_of};
use crate::daemon::Daemon;

/// The end of what a command does, on all balancers or on one.
pub(super) fn until(all: bool) -> &'static str {
    match all {
        true => "on all balancers, until heddle lb changes reset",
        false => {
            "until the next reload or restart: change the configuration, and the other balancers, too"
        }
    }
}

/// Prints the backends that a command has changed, and a note.
pub(super) fn print(changed: &[BackendStatus], note: &str, common: &Common) -> Result<(), Failure> {
    if common.json {
        return output::json(&changed);
    }
    output::line(table_of(changed))?;
    if common.quiet { Ok(()) } else { output::line(note) }
}

/// The same of backends that get fewer connections than before, with a warning of each service
/// that none is left for.
pub(super) fn print_with_warnings(
    daemon: &mut Daemon,
    changed: &[BackendStatus],
    note: &str,
    common: &Common,
) -> Result<(), Failure> {
    print(changed, note, common)?;
    if common.json || common.quiet {
        return Ok(());
    }
    deserted(changed, &daemon.backends()?).iter().try_for_each(output::line)
}

/// The reason why a backend that is not drained gets no new connections.
pub(super) fn hindrance(backend: &BackendStatus) -> Option<String> {
    let is_down = backend.health == State::Down || backend.unreachable.is_some();
    let state = is_down.then(|| format!("it is {}", state(backend)));
    state.or_else(|| (backend.weight == 0).then(|| "its weight is 0".to_owned()))
}

/// A warning for each service of these backends in which none gets new connections.
fn deserted(changed: &[BackendStatus], now: &[BackendStatus]) -> Vec<String> {
    let services: BTreeSet<&str> = changed.iter().map(|backend| &*backend.service).collect();
    let takes = |backend: &BackendStatus| !backend.draining && hindrance(backend).is_none();
    let is_deserted =
        |service: &&str| !now.iter().any(|backend| backend.service == **service && takes(backend));
    let warning = |service| {
        format!("warning: no backend of {service} gets new connections: they are dropped")
    };
    services.into_iter().filter(is_deserted).map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::backends::example;

    #[test]
    fn a_service_whose_last_backend_goes_is_warned_of() {
        let drained = |name| BackendStatus { draining: true, ..example("web", name) };
        let dns = example("dns", "be1");
        let changed = [drained("be1"), dns.clone()];
        assert_eq!(
            deserted(&changed, &[drained("be1"), example("web", "be2"), dns.clone()]),
            [""; 0]
        );
        let warning = "warning: no backend of web gets new connections: they are dropped";
        for other in [
            BackendStatus { health: State::Down, ..example("web", "be2") },
            BackendStatus { weight: 0, ..example("web", "be2") },
            BackendStatus { unreachable: Some("no route".into()), ..example("web", "be2") },
            drained("be2"),
        ] {
            assert_eq!(deserted(&changed, &[drained("be1"), other, dns.clone()]), [warning]);
        }
        assert_eq!(deserted(&[drained("be1")], &[]), [warning], "it was removed");
    }
}
