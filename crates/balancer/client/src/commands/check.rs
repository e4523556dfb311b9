//! `heddle lb check`: a configuration, its services, and whether this machine can run them, without
//! a daemon.

mod ethtool;
mod finding;
mod interfaces;
mod link;
mod machine;
mod services;
mod vlan;
mod xdp_features;

use std::fs;
use std::process::ExitCode;

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
use finding::{Finding, Severity};

/// The exit code of what cannot work, as of a wrong configuration.
const REFUSED: u8 = 3;

pub(crate) fn check(args: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let name = args.file.display().to_string();
    let text = fs::read_to_string(&args.file).with_context(|| name.clone())?;
    let config = config::load(&name, &text)?;
    let mut findings = services::findings(&config);
    if !args.file_only {
        findings.extend(machine::findings(&config));
    }
    findings.sort_by_key(|finding| finding.severity);
    match common.json {
        true => output::json(&to_json(&config, &findings))?,
        false => output::line(report(&name, &config, &findings))?,
    }
    Ok(if can_work(&findings) { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

fn can_work(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity != Severity::Error)
}

fn report(name: &str, config: &Config, findings: &[Finding]) -> String {
    let verdict = if can_work(findings) { "ok" } else { "cannot work like this" };
    let listed: String = findings.iter().map(|finding| format!("\n{finding}")).collect();
    format!("{name}: {verdict}\n{}{listed}", summary(config))
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
        lines.push(services_table(&config.services).to_string());
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

fn services_table(services: &[Service]) -> Table {
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

fn to_json(config: &Config, findings: &[Finding]) -> Value {
    let memory = Memory::of(&config.sizes);
    let services: Vec<Value> = config.services.iter().map(service_json).collect();
    json!({
        "ok": can_work(findings),
        "name": config.balancer.name,
        "interfaces": config.balancer.interfaces,
        "memory": { "flows": memory.flows, "tokens": memory.tokens, "maglev": memory.maglev, "total": memory.total() },
        "services": services,
        "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
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
        "name": service.name, "address": service.address, "ports": service.ports.to_string(),
        "mptcp": service.mptcp.name(), "forwarding": format::forwarding(service.forwarding),
        "backends": backends.collect::<Vec<_>>(),
    })
}
