//! Services without a backend that could get new connections.

use super::Service;

/// A fault of a service, and its fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceFault {
    /// The fault.
    pub message: &'static str,
    /// The fix.
    pub help: &'static str,
}

/// The reason for which no backend of a service could get new connections, whatever their health;
/// none: one could, or they are another service's.
pub fn without_usable_backend(service: &Service) -> Option<ServiceFault> {
    let backends = &service.backends;
    let is_usable = backends.iter().any(|backend| backend.weight > 0);
    if is_usable || !service.owns_backends() {
        return None;
    }
    let weight = "weight = 1 for one backend at least";
    let (message, help) = match backends.len() {
        0 => (
            "it has no backend: its packets are dropped",
            "a table [[service.backend]] with name and address below it",
        ),
        1 => ("its only backend has weight 0: nothing gets new connections", weight),
        _ => ("all its backends have weight 0: nothing gets new connections", weight),
    };
    Some(ServiceFault { message, help })
}
