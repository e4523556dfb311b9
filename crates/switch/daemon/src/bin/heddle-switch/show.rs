//! Commands that ask a daemon, or its configuration.

use std::time::Duration;

use heddle_program::{Failure, interrupt, output};
use heddle_switch::admin::{self, Answer, Request};
use heddle_switch::config::Config;
use heddle_switch::explain::Packet;
use heddle_switch::format;

/// A configuration that was found right.
#[derive(serde::Serialize)]
pub(crate) struct Checked {
    node: String,
    scheme: &'static str,
    ports: usize,
    /// Neighbours to which no port has a device.
    without_device: Vec<String>,
    /// Likely mistakes.
    warnings: Vec<String>,
}

impl Checked {
    pub(crate) fn of(config: &Config) -> Checked {
        let has_device = |number: u16| config.ports.iter().any(|port| port.number == number);
        let all = config.fabric().map_or(0, |own| own.ports().len() as u16);
        let without = (0..all).filter(|&number| !has_device(number));
        Checked {
            node: config.node.clone(),
            scheme: config.scheme.scheme.kind(),
            ports: config.ports.len(),
            without_device: without.map(|number| config.peer(number)).collect(),
            warnings: config.warnings(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let Checked { node, scheme, ports, without_device, warnings } = self;
        let first = match without_device.as_slice() {
            [] => format!("{node}: {scheme}, all {ports} ports have a device"),
            missing => format!(
                "{node}: {scheme}, ports with a device: {ports}; without one, and so down: {}",
                missing.join(", ")
            ),
        };
        let warnings = warnings.iter().map(|warning| format!("\nwarning: {warning}"));
        [first].into_iter().chain(warnings).collect()
    }
}

pub(crate) fn detach(config: &Config, json: bool) -> Result<(), Failure> {
    let was_pinned = config.pin.exists();
    heddle_switch_maps::remove_pins(&config.pin)?;
    let pin = config.pin.display();
    match (json, was_pinned) {
        (true, _) => {
            output::json(&serde_json::json!({ "pin": config.pin, "detached": was_pinned }))
        }
        (_, true) => output::line(format!("detached, and {pin} is removed")),
        (_, false) => output::line(format!("nothing is pinned in {pin}")),
    }
}

/// Shows the same again and again, until Ctrl-C.
pub(crate) fn top(config: &Config, every: f64, json: bool) -> Result<(), Failure> {
    let every = Duration::try_from_secs_f64(every).map_err(|error| {
        Failure::advised(format!("--every {every}: {error}"), "seconds, as in --every 0.5")
    })?;
    interrupt::catch()?;
    while !interrupt::stopped() {
        if !json {
            output::clear_screen()?;
        }
        status(config, json)?;
        std::thread::sleep(every);
    }
    Ok(())
}

/// Tells the daemon of a link between two nodes.
pub(crate) fn link(
    config: &Config,
    ends: (String, String),
    up: bool,
    json: bool,
) -> Result<(), Failure> {
    match admin::call(&config.admin, &Request::Link { ends, up })? {
        answer if json => output::json(&answer),
        Answer::Links(down) => output::line(format::links(&down)),
        _ => Err(unexpected()),
    }
}

pub(crate) fn status(config: &Config, json: bool) -> Result<(), Failure> {
    match admin::call(&config.admin, &Request::Status)? {
        Answer::Status(status) if json => output::json(&status),
        Answer::Status(status) => output::line(format::status(&status).trim_end()),
        _ => Err(unexpected()),
    }
}

pub(crate) fn explain(config: &Config, packet: Packet, json: bool) -> Result<(), Failure> {
    match admin::call(&config.admin, &Request::Explain(packet))? {
        Answer::Explained(explained) if json => output::json(&explained),
        Answer::Explained(explained) => output::line(format::explanation(&explained)),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Failure {
    Failure::advised("the daemon's answer is another's", "run one version of heddle-switch")
}
