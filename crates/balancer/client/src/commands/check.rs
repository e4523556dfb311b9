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
use std::str::{self, Utf8Error};

use anyhow::Context as _;
use heddle_program::{
    Common, Failure,
    output::{self, counted},
    table::{self, Table},
};
use heddled::config::{self, Config, ConfigError, Examined, Membership, Memory, Service};
use serde_json::{Value, json};

use crate::args::Check;
use crate::format;
use finding::{Finding, Severity};

/// The exit code of what cannot work, as of a wrong configuration.
const REFUSED: u8 = 3;

pub(crate) fn check(args: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let name = args.file.display().to_string();
    let bytes = fs::read(&args.file).with_context(|| name.clone())?;
    let (examined, findings) = match str::from_utf8(&bytes) {
        Ok(text) => {
            let examined = config::examine(&name, text);
            let findings = findings(&examined, &name, args.file_only);
            (Some(examined), findings)
        }
        Err(error) => (None, vec![no_text(&name, &bytes, error)]),
    };
    let sound = examined.as_ref().filter(|examined| examined.mistakes.is_empty());
    let config = sound.and_then(|examined| examined.sound.as_ref());
    match common.json {
        true => output::json(&to_json(config, &findings))?,
        false => output::line(report(&name, config, &findings))?,
    }
    Ok(if can_work(&findings) { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

/// All findings with their lines: the mistakes of the file, and what the rest of it meets here.
fn findings(examined: &Examined, name: &str, file_only: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = examined.mistakes.iter().map(mistake).collect();
    if !examined.complete {
        let message = "the rest of the file cannot be checked before this is corrected";
        findings.push(Finding::note(name, message));
    }
    if let Some(config) = &examined.sound {
        let mut found = services::findings(config);
        if !file_only {
            found.extend(machine::findings(config));
        }
        for finding in &mut found {
            finding.key = finding.key.as_ref().map(|key| examined.key_in_file(key));
        }
        let is_sound =
            |finding: &Finding| finding.key.as_ref().is_none_or(|key| !follows(key, examined));
        findings.extend(found.into_iter().filter(is_sound));
    }
    for finding in &mut findings {
        let line = finding.key.as_ref().and_then(|key| examined.line(key));
        finding.place = line.map(|line| (name.to_owned(), line)).or(finding.place.take());
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// True of a key that has a mistake, or lacks what another mistaken key would give it.
fn follows(key: &str, examined: &Examined) -> bool {
    let shared = key.strip_suffix(".backend").map(|service| format!("{service}.backends_of"));
    examined.is_mistaken(key) || shared.is_some_and(|key| examined.is_mistaken(&key))
}

/// A file that is not text, with the line of its first byte that is none.
fn no_text(name: &str, bytes: &[u8], error: Utf8Error) -> Finding {
    let (before, rest) = bytes.split_at(error.valid_up_to());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let byte = rest.first().copied().unwrap_or_default();
    let message = format!("the byte 0x{byte:02x} here is no UTF-8: TOML is text in UTF-8");
    let finding = Finding::error("file", message).fix("iconv -f LATIN1 -t UTF-8, if that is it");
    Finding { place: Some((name.to_owned(), line)), ..finding }
}

fn mistake(error: &ConfigError) -> Finding {
    let subject = if error.key().is_empty() { "file" } else { error.key() };
    let mut finding = Finding::error(subject, error.message()).at(error.key());
    finding.place = error.line().map(|line| (error.file().to_owned(), line));
    match error.help() {
        Some(help) => finding.fix(help),
        None => finding,
    }
}

fn can_work(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity != Severity::Error)
}

fn report(name: &str, config: Option<&Config>, findings: &[Finding]) -> String {
    let verdict = if can_work(findings) { "ok" } else { "cannot work like this" };
    let listed: String = findings.iter().map(|finding| format!("\n{finding}")).collect();
    let summary = config.map(|config| format!("\n{}", summary(config))).unwrap_or_default();
    format!("{name}: {verdict}{summary}{listed}")
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
    let way = match check.through {
        heddled::health::Through::Address => "",
        heddled::health::Through::Forwarding => ", through forwarding",
    };
    format!("{kind} to port {port} every {}{way}", format::age(check.interval))
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

fn to_json(config: Option<&Config>, findings: &[Finding]) -> Value {
    let mut json = json!({
        "ok": can_work(findings),
        "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
    });
    let Some(config) = config else { return json };
    let memory = Memory::of(&config.sizes);
    json["name"] = config.balancer.name.clone().into();
    json["interfaces"] = json!(config.balancer.interfaces);
    json["memory"] = json!({
        "flows": memory.flows, "tokens": memory.tokens, "maglev": memory.maglev, "total": memory.total(),
    });
    json["services"] = config.services.iter().map(service_json).collect();
    json
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
