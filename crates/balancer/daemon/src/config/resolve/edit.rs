//! Changes of a resolved configuration without a file, with the checks that the file gets.

use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::{Config, Service};
use super::{groups, identities, services, shared};

/// The configuration with a backend more in each of these services, in the order given.
pub(in crate::config) fn add<'a>(
    config: &Config,
    added: impl Iterator<Item = (&'a str, &'a raw::Backend)>,
) -> Result<Config, Problem> {
    let mut config = config.clone();
    for (name, entry) in added {
        let Some(service) = config.services.iter_mut().find(|service| service.name == name) else {
            return Err(Problem::at("service", format!("no service is called {name}")));
        };
        own(service)?;
        let backend = services::backend(entry, service, &config.balancer)?;
        service.backends.push(backend);
    }
    checked(config)
}

/// Refuses a change of backends that are another service's.
pub(in crate::config) fn own(service: &Service) -> Result<(), Problem> {
    let Some(owner) = &service.backends_of else { return Ok(()) };
    let message = format!("{} has the backends of {owner}", service.name);
    Err(Problem::at("service", message).help(format!("change those of {owner}")))
}

/// The configuration without the backend of a name, in the service of a name or in all.
pub(in crate::config) fn remove(
    config: &Config,
    service: Option<&str>,
    backend: &str,
) -> Result<Config, Problem> {
    let mut config = config.clone();
    let named = config.services.iter().find(|named| service == Some(&named.name));
    named.map_or(Ok(()), own)?;
    let owners = config.services.iter_mut().filter(|s| service.is_none_or(|name| name == s.name));
    owners.for_each(|service| service.backends.retain(|other| other.name != backend));
    checked(config)
}

/// The checks that concern several backends or services.
pub(in crate::config) fn checked(mut config: Config) -> Result<Config, Problem> {
    shared::fill(&mut config.services);
    for (number, service) in config.services.iter().enumerate() {
        groups::check(service, &config.services[..number])?;
    }
    identities::check(&config)?;
    Ok(config)
}
