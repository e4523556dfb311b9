//! Uniqueness over all services: ids, and the addresses where backends are joined.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_config::Problem;

use super::super::resolved::{Config, Service};
use super::addresses::own_addresses;

pub(super) fn check(config: &Config) -> Result<(), Problem> {
    ids(config)?;
    machines(config)?;
    joins(config)
}

/// The services with backends of their own, and their numbers.
fn with_own_backends(config: &Config) -> impl Iterator<Item = (usize, &Service)> {
    let services = config.services.iter().enumerate();
    services.filter(|(_, service)| service.owns_backends())
}

/// A balancer has the services' addresses, too: what it is sent as a backend it would send on, to
/// another backend or to itself.
fn machines(config: &Config) -> Result<(), Problem> {
    let name = config.balancer.name.as_str();
    let this_balancer = own_addresses(&config.balancer).map(|address| (address, name));
    let members = config.members().iter().map(|member| (member.address, member.name.as_str()));
    let balancers: BTreeMap<IpAddr, &str> = this_balancer.chain(members).collect();
    for (number, service) in with_own_backends(config) {
        for (index, backend) in service.backends.iter().enumerate() {
            if let Some(name) = balancers.get(&backend.address) {
                let key = format!("service.{number}.backend.{index}.address");
                let message = format!("{} is balancer `{name}`'s address", backend.address);
                return Err(Problem::at(&key, message).help("a machine that is no balancer"));
            }
        }
    }
    Ok(())
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
    for (number, service) in with_own_backends(config) {
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
    for (number, service) in with_own_backends(config) {
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
