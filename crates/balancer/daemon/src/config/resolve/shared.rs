//! Services that have the backends of another one.

use std::collections::BTreeMap;

use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::{Backend, Forwarding, Service};
use crate::service::{MptcpMode, Protocol};

/// Checks the services that have another one's backends against that one.
pub(super) fn check(file: &[raw::Service], services: &[Service]) -> Result<(), Problem> {
    for (number, (raw, service)) in file.iter().zip(services).enumerate() {
        let Some(name) = &service.backends_of else { continue };
        let place = format!("service.{number}");
        let Some(owner) = services.iter().find(|other| other.name == *name) else {
            let message = format!("no service is called `{name}`");
            let problem = Problem::at("backends_of", message).inside(&place);
            return Err(problem.because_of(["service.*.name"]));
        };
        of_one(raw, service, owner).map_err(|problem| problem.inside(&place))?;
    }
    Ok(())
}

fn of_one(raw: &raw::Service, service: &Service, owner: &Service) -> Result<(), Problem> {
    let name = &owner.name;
    let wrong = |message: String| Problem::at("backends_of", message);
    if owner.backends_of.is_some() || owner.name == service.name {
        let problem = wrong(format!("`{name}` has no backends of its own"));
        return Err(problem.help("the name of a service with tables [[service.backend]]"));
    }
    for (key, is_given) in [
        ("backend", !raw.backend.is_empty()),
        ("health", raw.health.is_some()),
        ("slow_start", raw.slow_start.is_some()),
        ("quic", raw.quic.is_some()),
    ] {
        if is_given {
            let problem = Problem::at(key, format!("it has the backends of `{name}`"));
            return Err(problem.help(format!("leave `{key}` out here, or leave `backends_of` out")));
        }
    }
    if (service.mptcp, service.forwarding) != (owner.mptcp, owner.forwarding) {
        let problem = wrong(format!("`{name}` has another `mptcp` or `forwarding`"));
        return Err(problem.help("give both services the same"));
    }
    if matches!(service.mptcp, MptcpMode::CFlag | MptcpMode::Assign) {
        let problem =
            wrong(format!("`mptcp = \"{}\"` has backends for each service", service.mptcp));
        return Err(problem.help("mptcp = \"learn\", or tables [[service.backend]]"));
    }
    if owner.quic.is_some() && service.protocol == Protocol::Udp {
        let problem = wrong(format!("`{name}` has `quic`, whose server ids are of one service"));
        return Err(problem.help("tables [[service.backend]] with a `server_id` each"));
    }
    let differs = service.address.is_ipv6() != owner.address.is_ipv6();
    if differs && service.forwarding == Forwarding::L2 {
        let problem = wrong(format!("`{name}` has an address of the other family"));
        return Err(problem.help("forwarding = \"ipip\" or \"gue\" in both"));
    }
    if owner.backends.iter().any(|backend| backend.address == service.address) {
        return Err(wrong(format!("`{name}` has this service's address as a backend's")));
    }
    Ok(())
}

/// Gives the backends of each service to those that have them, too, without their names in
/// connection ids.
pub(super) fn fill(services: &mut [Service]) {
    let owners = services.iter().filter(|service| service.owns_backends());
    let unnamed = |backend: &Backend| Backend { server_id: None, ..backend.clone() };
    let backends = |service: &Service| service.backends.iter().map(unnamed).collect();
    let lists: BTreeMap<String, Vec<Backend>> =
        owners.map(|service| (service.name.clone(), backends(service))).collect();
    for service in services {
        let owner = service.backends_of.as_ref().and_then(|name| lists.get(name));
        if let Some(backends) = owner {
            service.backends.clone_from(backends);
        }
    }
}
