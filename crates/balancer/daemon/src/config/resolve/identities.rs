//! Uniqueness over all services: ids, and the addresses where backends are joined.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_config::Problem;

use super::super::resolved::Config;

pub(super) fn check(config: &Config) -> Result<(), Problem> {
    ids(config)?;
    joins(config)
}

fn ids(config: &Config) -> Result<(), Problem> {
    let mut owners = BTreeMap::new();
    for member in config.members() {
        if let Some(other) = owners.insert(member.id, format!("balancer `{}`", member.name)) {
            let message =
                format!("id {} of balancer `{}` is {other}'s too", member.id, member.name);
            return Err(
                Problem::at("balancers", message).help("give one of them an `id` of its own")
            );
        }
    }
    for (number, service) in config.services.iter().enumerate() {
        for (index, backend) in service.backends.iter().enumerate() {
            let owner = format!("backend `{}` of `{}`", backend.name, service.name);
            if let Some(other) = owners.insert(backend.id, owner) {
                let key = format!("service.{number}.backend.{index}.id");
                let message = format!("id {} is {other}'s too", backend.id);
                return Err(Problem::at(&key, message)
                    .help("id = another number, the same on all balancers"));
            }
        }
    }
    Ok(())
}

/// A join address stands for one backend, on all ports, and for no service.
fn joins(config: &Config) -> Result<(), Problem> {
    let mut owners: BTreeMap<IpAddr, String> = BTreeMap::new();
    for service in &config.services {
        owners.insert(service.address, format!("service `{}`", service.name));
    }
    for (number, service) in config.services.iter().enumerate() {
        for (index, backend) in service.backends.iter().enumerate() {
            let Some(join) = backend.join_address else { continue };
            if let Some(other) =
                owners.insert(join, format!("backend `{}` of `{}`", backend.name, service.name))
            {
                let key = format!("service.{number}.backend.{index}.join_address");
                return Err(Problem::at(&key, format!("{join} is {other}'s too"))
                    .help("each backend of a service needs its own"));
            }
        }
    }
    Ok(())
}
