//! The differences of the running configuration from the file's, which commands have made.

use crate::config::{Backend, Config, Service};
use crate::daemon::state::Inputs;

/// The changes by commands since the file was read, as text.
pub(super) fn changes(file: &Config, inputs: &Inputs) -> Vec<String> {
    let pairs = inputs.config.owners().filter_map(|service| {
        Some((file.services.iter().find(|other| other.name == service.name)?, service))
    });
    pairs.flat_map(|(before, service)| of_service(before, service, inputs)).collect()
}

fn of_service(file: &Service, service: &Service, inputs: &Inputs) -> Vec<String> {
    let mut changes = Vec::new();
    for backend in &service.backends {
        let command = inputs.drained.get(&backend.id).copied();
        match file.backends.iter().find(|before| before.id == backend.id) {
            None => changes.push(added(backend, command)),
            Some(before) => changes.extend(differences(before, backend, command)),
        }
    }
    let stays = |before: &Backend| service.backends.iter().any(|backend| backend.id == before.id);
    let gone = file.backends.iter().filter(|before| !stays(before));
    changes.extend(gone.map(|b| format!("backend {} ({}) was removed", b.name, b.address)));
    changes.into_iter().map(|change| format!("service {}: {change}", service.name)).collect()
}

fn added(Backend { name, address, drained, .. }: &Backend, command: Option<bool>) -> String {
    let state = if command.unwrap_or(*drained) { ", drained" } else { "" };
    format!("backend {name} ({address}) was added{state}")
}

/// The differences of a backend that the file has; `command` is whether a command drains it, if one
/// has said so.
fn differences(before: &Backend, backend: &Backend, command: Option<bool>) -> Vec<String> {
    let Backend { name, weight, .. } = backend;
    let weighed = (before.weight != *weight)
        .then(|| format!("backend {name} has weight {weight}, in the file {}", before.weight));
    let drained = match (command.unwrap_or(backend.drained), before.drained) {
        (true, false) => Some(format!("backend {name} is drained")),
        (false, true) => Some(format!("backend {name} is not drained, in the file it is")),
        _ => None,
    };
    let alike = Backend { weight: before.weight, drained: before.drained, ..backend.clone() };
    let other =
        (alike != *before).then(|| format!("backend {name} has other settings than in the file"));
    [weighed, drained, other].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendEntry;
    use crate::daemon::testing::World;
    use crate::plan::Keys;

    #[test]
    fn each_kind_of_change_is_told() {
        let file = World::start().config;
        let keys = Keys { seed: [1, 2], maglev_seed: 0, steering: [[0; 2]; 2] };
        assert_eq!(changes(&file, &Inputs::new(file.clone(), keys)), [""; 0]);
        let entry = serde_json::json!({ "name": "be3", "address": "10.0.1.3", "state": "drain" });
        let entry: BackendEntry = serde_json::from_value(entry).unwrap();
        let config = file.with_backends([("web", &entry)].into_iter()).unwrap();
        let mut inputs = Inputs::new(config.without_backend(None, "be2").unwrap(), keys);
        let backends = &mut inputs.config.services[0].backends;
        backends[0].weight = 5;
        inputs.drained = [(backends[0].id, true)].into();
        assert_eq!(
            changes(&file, &inputs),
            [
                "service web: backend be1 has weight 5, in the file 1",
                "service web: backend be1 is drained",
                "service web: backend be3 (10.0.1.3) was added, drained",
                "service web: backend be2 (10.0.1.2) was removed",
            ]
        );
        // As if the file had all of it now.
        let mut file = inputs.config.clone();
        inputs.drained.insert(file.services[0].backends[1].id, false);
        let told = [
            "service web: backend be1 is drained",
            "service web: backend be3 is not drained, in the file it is",
        ];
        assert_eq!(changes(&file, &inputs), told);
        file.services.clear();
        assert_eq!(changes(&file, &inputs), [""; 0]);
    }

    #[test]
    fn a_backend_that_comes_back_is_compared_with_the_files() {
        let file = World::start().config;
        let keys = Keys { seed: [1, 2], maglev_seed: 0, steering: [[0; 2]; 2] };
        let again = |entry: serde_json::Value| {
            let entry: BackendEntry = serde_json::from_value(entry).unwrap();
            let without = file.without_backend(None, "be2").unwrap();
            Inputs::new(without.with_backends([("web", &entry)].into_iter()).unwrap(), keys)
        };
        let same = serde_json::json!({ "name": "be2", "address": "10.0.1.2", "state": "drain" });
        let mut inputs = again(same);
        assert_eq!(changes(&file, &inputs), ["service web: backend be2 is drained"]);
        inputs.drained = [(inputs.config.services[0].backends[1].id, false)].into();
        assert_eq!(changes(&file, &inputs), [""; 0]);
        let other = serde_json::json!({ "name": "be2", "address": "10.0.1.2", "sorry": true });
        let told = ["service web: backend be2 has other settings than in the file"];
        assert_eq!(changes(&file, &again(other)), told);
    }
}
