//! The conditions under which this balancer does its work.

use super::Core;
use super::event_sources::SourceStatus;
use crate::metrics::Health;

impl Core {
    /// The balancer's own health, for `/healthz`, the gauges and `heddle lb status`.
    pub(super) fn health(&self, sources: &SourceStatus) -> Health {
        let starting = self.waits_for(sources).map(|cause| format!("starting: {cause}"));
        let isolated = self.state.isolation().map(str::to_owned);
        Health { starting, isolated, ..health(self.state.reconcile_error(), sources) }
    }
}

fn health(reconcile_error: Option<&str>, sources: &SourceStatus) -> Health {
    let out_of_sync = |error| format!("the maps are not in sync with the plan: {error}");
    let stopped = &sources.stopped_tasks;
    Health {
        starting: None,
        isolated: None,
        maps_out_of_sync: reconcile_error.map(out_of_sync),
        health_checks_stopped: health_checks(&sources.stopped_checks),
        neighbour_watcher_stopped: sources
            .neighbour_watcher_stopped
            .then(|| "the neighbour watcher has stopped: next hops are not kept up to date".into()),
        programs_detached: programs(sources),
        tasks_stopped: (!stopped.is_empty())
            .then(|| format!("tasks have stopped: {}", stopped.join(", "))),
    }
}

fn health_checks(stopped: &[String]) -> Option<String> {
    (!stopped.is_empty()).then(|| format!("health checks have stopped: {}", stopped.join(", ")))
}

fn programs(sources: &SourceStatus) -> Option<String> {
    if sources.attachment_watcher_stopped {
        return Some("the watcher of attached programs has stopped".into());
    }
    let detached = &sources.detached;
    (!detached.is_empty())
        .then(|| format!("the program is not attached to {}", detached.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(reconcile_error: Option<&str>, sources: &SourceStatus) -> Vec<String> {
        health(reconcile_error, sources).causes().map(str::to_owned).collect()
    }

    #[test]
    fn a_balancer_that_does_its_work_is_healthy() {
        assert_eq!(causes(None, &SourceStatus::default()), [""; 0]);
    }

    #[test]
    fn each_cause_alone_makes_it_unhealthy_and_is_named() {
        let fine = SourceStatus::default();
        assert_eq!(
            causes(Some("no room"), &fine),
            ["the maps are not in sync with the plan: no room"]
        );
        let checks = SourceStatus {
            stopped_checks: vec!["web/be1".into(), "web/be2".into()],
            ..fine.clone()
        };
        assert_eq!(causes(None, &checks), ["health checks have stopped: web/be1, web/be2"]);
        let neighbours = SourceStatus { neighbour_watcher_stopped: true, ..fine.clone() };
        assert!(causes(None, &neighbours)[0].starts_with("the neighbour watcher has stopped"));
        let detached = SourceStatus { detached: vec!["eth0".into()], ..fine.clone() };
        assert_eq!(causes(None, &detached), ["the program is not attached to eth0"]);
        let tasks = SourceStatus { stopped_tasks: vec!["membership"], ..fine.clone() };
        assert_eq!(causes(None, &tasks), ["tasks have stopped: membership"]);
        let unknown = SourceStatus { attachment_watcher_stopped: true, ..fine };
        assert_eq!(causes(None, &unknown), ["the watcher of attached programs has stopped"]);
    }

    #[test]
    fn causes_add_up() {
        let sources = SourceStatus {
            neighbour_watcher_stopped: true,
            detached: vec!["eth0".into()],
            ..SourceStatus::default()
        };
        assert_eq!(causes(Some("no room"), &sources).len(), 3);
    }
}
