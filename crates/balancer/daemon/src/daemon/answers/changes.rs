//! The differences of the running configuration from the file's, which commands have made.

use crate::config::{Backend, Config, Service};
use crate::daemon::state::Inputs;

/// What commands have changed since the file was read, in words.
pub(super) fn changes(file: &Config, inputs: &Inputs) -> Vec<String> {
    let pairs = inputs.config.services.iter().filter_map(|service| {
        Some((file.services.iter().find(|other| other.name == service.name)?, service))
    });
    pairs.flat_map(|(before, service)| of_service(before, service, inputs)).collect()
}

fn of_service(file: &Service, service: &Service, inputs: &Inputs) -> Vec<String> {
    let by_id = |backends: &'_ [Backend], id| backends.iter().position(|other| other.id == id);
    let mut changes = Vec::new();
    for backend in &service.backends {
        match by_id(&file.backends, backend.id) {
            None => changes.push(format!("backend {} ({}) was added", backend.name, backend.address)),
            Some(place) if file.backends[place].weight != backend.weight => changes.push(format!(
                "backend {} has weight {}, in the file {}",
                backend.name, backend.weight, file.backends[place].weight
            )),
            Some(_) => {}
        }
        match inputs.drained.get(&backend.id) {
            Some(true) if !backend.drained => changes.push(format!("backend {} is drained", backend.name)),
            Some(false) if backend.drained => {
                changes.push(format!("backend {} is not drained, in the file it is", backend.name));
            }
            _ => {}
        }
    }
    let gone = file.backends.iter().filter(|b| by_id(&service.backends, b.id).is_none());
    changes.extend(gone.map(|b| format!("backend {} ({}) was removed", b.name, b.address)));
    changes.into_iter().map(|change| format!("service {}: {change}", service.name)).collect()
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
        inputs.drained = [(backends[0].id, true), (backends[1].id, false)].into();
        assert_eq!(
            changes(&file, &inputs),
            [
                "service web: backend be1 has weight 5, in the file 1",
                "service web: backend be1 is drained",
                "service web: backend be3 (10.0.1.3) was added",
                "service web: backend be3 is not drained, in the file it is",
                "service web: backend be2 (10.0.1.2) was removed",
            ]
        );
    }
}
