//! From the file's types to [`Config`]: defaults filled in, everything checked. A function's
//! problems carry their keys, the document gives them their lines.

mod access;
mod addresses;
pub(super) mod edit;
mod etcd;
mod groups;
mod health;
mod identities;
mod ids;
mod members;
mod names;
pub(super) mod overlay;
mod quic;
mod services;
mod settings;
mod shared;

use heddle_config::Problem;

use super::raw;
use super::resolved::Config;

const GUE_PORT: u16 = 6080;

pub(super) fn resolve(file: &raw::File) -> Result<Config, Problem> {
    let balancer = settings::balancer(&file.balancer, &file.balancers)?;
    let membership = members::membership(file, &balancer)?;
    let steering = members::steering(file)?;
    let services = services::services(&file.service, &balancer)?;
    let config = Config {
        sizes: settings::sizes(&file.tables)?,
        timeouts: settings::timeouts(&file.timeouts)?,
        drain_udp: settings::drain_udp(&file.drain)?,
        limits: settings::limits(&file.limits),
        gue_port: gue_port(&file.service)?,
        balancer,
        membership,
        steering,
        services,
    };
    identities::check(&config)?;
    check_room(&config, &file.tables)?;
    Ok(config)
}

/// Packets go to one port only (`settings.gue_port`).
fn gue_port(services: &[raw::Service]) -> Result<u16, Problem> {
    let mut chosen = None;
    for (number, service) in services.iter().enumerate() {
        let key = format!("service.{number}.gue_port");
        if service.forwarding != raw::Forwarding::Gue {
            match service.gue_port {
                None => continue,
                Some(_) => {
                    return Err(Problem::at(&key, "only GUE forwarding has a port")
                        .help("forwarding = \"gue\""));
                }
            }
        }
        let port = service.gue_port.unwrap_or(GUE_PORT);
        if *chosen.get_or_insert(port) != port || port == 0 {
            let message =
                format!("{port} here, {} in a service before", chosen.unwrap_or(GUE_PORT));
            return Err(Problem::at(&key, message).help("one GUE port, not 0, for all services"));
        }
    }
    Ok(chosen.unwrap_or(GUE_PORT))
}

fn check_room(config: &Config, tables: &raw::Tables) -> Result<(), Problem> {
    let services = config.services.len() as u64;
    if services > u64::from(tables.services) {
        let message = format!("{services} services, room for {}", tables.services);
        return Err(
            Problem::at("tables.services", message).help(format!("services = {services}, or more"))
        );
    }
    let several = config.services.iter().map(|service| service.ports).filter(|p| p.are_several());
    let ports: u64 = several.map(|ports| ports.each().len() as u64).sum();
    if ports > u64::from(tables.ports) {
        let message =
            format!("services with several ports have {ports}, room for {}", tables.ports);
        return Err(Problem::at("tables.ports", message).help(format!("ports = {ports}, or more")));
    }
    let (with_own, most) =
        (config.owners().count() as u64, tables.own_backends.unwrap_or(tables.services));
    if with_own > u64::from(most) {
        let message = format!("{with_own} services with backends of their own, room for {most}");
        let problem = Problem::at("tables.own_backends", message);
        return Err(problem.help(format!("own_backends = {with_own}, or more")));
    }
    check_access_room(config)?;
    let backends: usize = config.owners().map(|service| service.backends.len()).sum();
    let targets = (backends + config.members().len()) as u64;
    if targets > u64::from(tables.targets) {
        let message = format!("{targets} backends and balancers, room for {}", tables.targets);
        return Err(
            Problem::at("tables.targets", message).help(format!("targets = {targets}, or more"))
        );
    }
    Ok(())
}

/// A reload puts new prefixes beside those that it takes out afterwards: half of the room is theirs.
fn check_access_room(config: &Config) -> Result<(), Problem> {
    let most = config.sizes.access_rules as usize / 2;
    let mut prefixes = 0;
    for (number, service) in config.services.iter().enumerate() {
        let (access, others) = (&service.access, usize::from(!service.access.is_open()));
        prefixes += access.rules.len() + others;
        if prefixes > most {
            let message =
                format!("{prefixes} prefixes with those of the services before, room for {most}");
            return Err(Problem::at(&format!("service.{number}.access"), message)
                .help("fewer, shorter prefixes; or a firewall in front"));
        }
    }
    Ok(())
}
