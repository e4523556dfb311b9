//! `heddle lb check`: a configuration and its services, without a daemon.

use std::fs;

use anyhow::Context as _;
use heddle_program::{
    Common, Failure,
    output::{self, counted},
    table::{self, Table},
};
use heddled::config::{self, Config, Membership, Memory, Service};
use serde_json::{Value, json};

use crate::args::Check;
use crate::format;

pub(crate) fn check(args: &Check, common: &Common) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let text = fs::read_to_string(&args.file).with_context(|| name.clone())?;
    let config = config::load(&name, &text)?;
    if common.json {
        return output::json(&to_json(&config));
    }
    output::line(format_args!("{name}: ok\n{}", summary(&config)))
}

fn summary(config: &Config) -> String {
    let mut lines = vec![format!(
        "balancer {} on {}, {}",
        config.balancer.name,
        config.balancer.interfaces.join(", "),
        others(config)
    )];
    lines.push(format!("memory: {}", Memory::of(&config.sizes)));
    if !config.services.is_empty() {
        lines.push(services(&config.services).to_string());
    }
    lines.extend(config.services.iter().flat_map(commands));
    lines.join("\n")
}

fn others(config: &Config) -> String {
    match &config.membership {
        Membership::Etcd(store) => {
            format!("the others as etcd at {} says", store.endpoints.join(", "))
        }
        Membership::Static(members) => match members.len() {
            0 | 1 => "alone".into(),
            all => format!("one of {all}"),
        },
    }
}

fn services(services: &[Service]) -> Table {
    let mut table =
        table::of_words(&["service", "address", "mptcp", "forwarding", "health", "backends"]);
    for service in services {
        let backends = service.backends.len() as u64;
        table.add_row([
            service.name.clone(),
            format::place(service),
            service.mptcp.name().into(),
            format::forwarding(service.forwarding).into(),
            health(service),
            counted(backends, "backend"),
        ]);
    }
    table
}

fn health(service: &Service) -> String {
    let Some((check, port)) = &service.health else { return "not checked".into() };
    let kind = match &check.probe {
        heddled::health::Probe::Tcp => "TCP",
        heddled::health::Probe::Http { .. } => "HTTP",
    };
    format!("{kind} to port {port} every {}", format::age(check.interval))
}

/// Commands for backends that have join addresses.
fn commands(service: &Service) -> Vec<String> {
    let mut lines = Vec::new();
    for backend in &service.backends {
        let commands = config::commands(service, backend);
        if !commands.is_empty() {
            lines.push(format!("\non backend {} of {}, as root:", backend.name, service.name));
            lines.extend(commands.into_iter().map(|command| format!("  {command}")));
        }
    }
    lines
}

fn to_json(config: &Config) -> Value {
    let memory = Memory::of(&config.sizes);
    let services: Vec<Value> = config.services.iter().map(service_json).collect();
    json!({
        "ok": true,
        "name": config.balancer.name,
        "interfaces": config.balancer.interfaces,
        "memory": { "flows": memory.flows, "tokens": memory.tokens, "maglev": memory.maglev, "total": memory.total() },
        "services": services,
    })
}

fn service_json(service: &Service) -> Value {
    let backends = service.backends.iter().map(|backend| {
        json!({
            "name": backend.name, "address": backend.address, "weight": backend.weight,
            "id": backend.id.get(), "commands": config::commands(service, backend),
        })
    });
    json!({
        "name": service.name, "address": service.address, "port": service.port,
        "mptcp": service.mptcp.name(), "forwarding": format::forwarding(service.forwarding),
        "backends": backends.collect::<Vec<_>>(),
    })
}
