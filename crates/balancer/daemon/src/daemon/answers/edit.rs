//! Changes by command: backends are added, removed, weighed and drained without the file.

use super::{named_backends, not_found, refused};
use crate::admin::{
    BackendChange, BackendStatus, Backends, NewBackend, NewBackends, Problem, ProblemKind,
    Selection,
};
use crate::config::{Config, ConfigError, MAX_WEIGHT};
use crate::daemon::Core;
use crate::daemon::event_sources::SourceStatus;
use crate::daemon::state::Inputs;

impl Core {
    /// Adds backends, all of them or none. The maps have them when this returns, and health checks
    /// follow.
    pub(super) fn add(
        &mut self,
        NewBackends { backends }: &NewBackends,
        sources: &SourceStatus,
    ) -> Result<Backends, Problem> {
        let config = with_added(&self.state.inputs.config, backends)?;
        let inputs = self.state.inputs.with(config, self.state.inputs.keys);
        self.replace(inputs)?;
        for NewBackend { service, backend } in backends {
            tracing::info!(backend = backend.name, service, address = %backend.address, "added by command");
        }
        let is_new = |status: &BackendStatus| {
            backends
                .iter()
                .any(|b| (&b.service, &b.backend.name) == (&status.service, &status.name))
        };
        let mut all = self.selected(&Selection::default(), sources)?;
        all.backends.retain(is_new);
        Ok(all)
    }

    /// Removes a backend, in one service or in all, and returns its state before. The maps are
    /// without it when this returns.
    pub(super) fn remove(
        &mut self,
        service: Option<&str>,
        backend: &str,
        sources: &SourceStatus,
    ) -> Result<Backends, Problem> {
        let selection =
            Selection { service: service.map(str::to_owned), backend: Some(backend.to_owned()) };
        let removed = self.selected(&selection, sources)?;
        let inputs = &self.state.inputs;
        let config = inputs.config.without_backend(service, backend);
        let config = config.map_err(|error| refused(text(&error)))?;
        self.replace(inputs.with(config, inputs.keys))?;
        tracing::info!(backend, service, "removed by command");
        Ok(removed)
    }

    /// Weighs a backend, and starts or ends draining it, in one service or in all. The maps have it
    /// when this returns.
    pub(super) fn change(
        &mut self,
        service: Option<&str>,
        backend: &str,
        change: BackendChange,
    ) -> Result<(), Problem> {
        let inputs = with_change(&self.state.inputs, service, backend, change);
        self.replace(inputs.map_err(|problem| self.about_left(problem, service, backend))?)?;
        let BackendChange { weight, draining } = change;
        tracing::info!(backend, service, weight, draining, "changed by command");
        Ok(())
    }

    /// The problem, of a backend that was removed with the way to follow its connections.
    fn about_left(&self, problem: Problem, service: Option<&str>, backend: &str) -> Problem {
        let left = self.with_names(|names| names.left(service, backend));
        if problem.kind != ProblemKind::NotFound || left.is_empty() {
            return problem;
        }
        let message = format!(
            "backend {backend} was removed, and its connections go on until they end: heddle lb connections --backend {backend}"
        );
        Problem::new(ProblemKind::NotFound, message)
    }

    fn replace(&mut self, inputs: Inputs) -> Result<(), Problem> {
        let replaced = self.state.replace_inputs(inputs, &mut self.balancer.maps);
        replaced.map_err(|error| refused(error.to_string()))
    }
}

/// The configuration with these backends.
pub(in crate::daemon) fn with_added(
    config: &Config,
    backends: &[NewBackend],
) -> Result<Config, Problem> {
    if backends.is_empty() {
        let message = "backends: the list is empty; give at least one backend";
        return Err(Problem::new(ProblemKind::Invalid, message));
    }
    for new in backends {
        check_new(config, new)?;
    }
    let added = backends.iter().map(|new| (&*new.service, &new.backend));
    config.with_backends(added).map_err(|error| Problem::new(ProblemKind::Invalid, text(&error)))
}

/// Refuses a backend of an unknown service, and one that is there already.
fn check_new(config: &Config, NewBackend { service, backend }: &NewBackend) -> Result<(), Problem> {
    let known = || config.services.iter().map(|service| service.name.as_str());
    let Some(found) = config.services.iter().find(|other| other.name == *service) else {
        return Err(not_found("service", service, known()));
    };
    let Some(other) = found.backends.iter().find(|other| other.name == backend.name) else {
        return Ok(());
    };
    Err(refused(format!(
        "service {service} has a backend {} already, at {}; remove that one first, or give this one another name",
        other.name, other.address
    )))
}

/// The inputs with another weight or state of a backend.
pub(in crate::daemon) fn with_change(
    inputs: &Inputs,
    service: Option<&str>,
    backend: &str,
    BackendChange { weight, draining }: BackendChange,
) -> Result<Inputs, Problem> {
    if let Some(weight) = weight.filter(|weight| *weight > MAX_WEIGHT) {
        let message = format!("weight: {weight} is above the maximum; 0 to {MAX_WEIGHT}");
        return Err(Problem::new(ProblemKind::Invalid, message));
    }
    let found = named_backends(&inputs.config, service, backend)?;
    let named = inputs.config.services.iter().find(|named| service == Some(&named.name));
    if let Some(owner) = named.and_then(|named| named.backends_of.as_ref()) {
        let message = format!(
            "{} has the backends of {owner}; change those of {owner}",
            service.unwrap_or_default()
        );
        return Err(refused(message));
    }
    let ids: Vec<_> = found.into_iter().map(|backend| backend.id).collect();
    let mut inputs = inputs.clone();
    let all = inputs.config.services.iter_mut().flat_map(|service| &mut service.backends);
    for backend in all.filter(|backend| ids.contains(&backend.id)) {
        backend.weight = weight.unwrap_or(backend.weight);
    }
    inputs.drained.extend(draining.iter().flat_map(|on| ids.iter().map(|id| (*id, *on))));
    Ok(inputs)
}

/// An error of the configuration's checks, without the place that it would have in a file.
pub(in crate::daemon) fn text(error: &ConfigError) -> String {
    let field = error.key().rsplit('.').next().filter(|field| !field.is_empty());
    let field = field.map_or_else(String::new, |field| format!("{field}: "));
    let help = error.help().map_or_else(String::new, |help| format!("; {help}"));
    format!("{field}{}{help}", error.message())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::daemon::testing::World;
    use crate::plan::Keys;

    fn new(service: &str, backend: serde_json::Value) -> NewBackend {
        NewBackend { service: service.into(), backend: serde_json::from_value(backend).unwrap() }
    }

    fn refusal(service: &str, backend: serde_json::Value) -> (ProblemKind, String) {
        let problem = with_added(&World::start().config, &[new(service, backend)]).unwrap_err();
        (problem.kind, problem.message)
    }

    #[test]
    fn a_backend_is_added_as_the_file_would_have_it() {
        let config = World::start().config;
        let backend =
            json!({ "name": "be3", "address": "10.0.1.3", "weight": 7, "state": "drain" });
        let changed = with_added(&config, &[new("web", backend)]).unwrap();
        let backends = &changed.services[0].backends;
        assert_eq!(backends[..2], config.services[0].backends);
        let added = &backends[2];
        assert_eq!((&*added.name, added.weight, added.drained), ("be3", 7, true));
        assert_eq!(changed.without_backend(Some("web"), "be3").unwrap(), config);
        assert_eq!(changed.without_backend(None, "be3").unwrap(), config);
    }

    #[test]
    fn what_cannot_be_added_is_named_with_its_fix() {
        let (kind, said) = refusal("wep", json!({ "name": "be3", "address": "10.0.1.3" }));
        assert_eq!(kind, ProblemKind::NotFound);
        assert_eq!(said, "no service is called wep; did you mean web?");
        let (kind, said) = refusal("web", json!({ "name": "be1", "address": "10.0.1.3" }));
        assert_eq!(kind, ProblemKind::Refused);
        assert!(said.starts_with("service web has a backend be1 already, at 10.0.1.1; remove"));
        for (backend, wanted) in [
            (json!({ "name": "", "address": "10.0.1.3" }), "name: it is empty"),
            (
                json!({ "name": "x", "address": "10.0.1.1" }),
                "address: 10.0.1.1 is given twice in this service; ",
            ),
            (
                json!({ "name": "x", "address": "224.0.0.1" }),
                "address: 224.0.0.1 is not a unicast address; ",
            ),
            (
                json!({ "name": "x", "address": "10.0.0.2" }),
                "address: 10.0.0.2 is balancer `lb2`'s address; ",
            ),
            (
                json!({ "name": "x", "address": "fd00::1" }),
                "address: fd00::1 is of another address family ",
            ),
            (
                json!({ "name": "x", "address": "10.0.1.3", "weight": 1001 }),
                "weight: 1001 is above the maximum; ",
            ),
            (json!({ "name": "x", "address": "10.0.1.3", "id": 0 }), "id: 0 is not an id; "),
        ] {
            let (kind, said) = refusal("web", backend);
            assert_eq!(kind, ProblemKind::Invalid, "{said}");
            assert!(said.starts_with(wanted), "{said}");
        }
        assert_eq!(with_added(&World::start().config, &[]).unwrap_err().kind, ProblemKind::Invalid);
    }

    #[test]
    fn one_wrong_backend_of_several_adds_none() {
        let good = || new("web", json!({ "name": "be3", "address": "10.0.1.3" }));
        let problem = with_added(&World::start().config, &[good(), good()]).unwrap_err();
        assert!(problem.message.starts_with("name: `be3` is given twice"), "{}", problem.message);
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let World { config, .. } = World::start();
        let keys = Keys { seed: [1, 2], maglev_seed: 0, steering: [[0; 2]; 2] };
        let inputs = Inputs::new(config, keys);
        let id = inputs.config.services[0].backends[0].id;
        let change = BackendChange { weight: None, draining: Some(true) };
        let drained = with_change(&inputs, None, "be1", change).unwrap();
        assert_eq!(
            (&drained.config, drained.drained),
            (&inputs.config, BTreeMap::from([(id, true)]))
        );
        let change = BackendChange { weight: Some(3), draining: None };
        let weighed = with_change(&inputs, Some("web"), "be1", change).unwrap();
        let weights = weighed.config.services[0].backends.iter().map(|backend| backend.weight);
        assert_eq!((weights.collect(), weighed.drained.len()), (vec![3, 1], 0));
        let change = BackendChange { weight: Some(1001), draining: None };
        let refused = with_change(&inputs, None, "be1", change).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
        let unknown = with_change(&inputs, None, "be9", BackendChange::default()).unwrap_err();
        assert_eq!(unknown.kind, ProblemKind::NotFound);
    }
}
