//! `heddle lb translate`: the programs that put the balancers' keys in place of the kernel's on
//! backends.

use heddle_balancer_maps::abi::TranslateCounter;
use heddle_balancer_maps::{
    Attached, Error, Link, Room, Translate, TranslateTables, detach_translate, interface_index,
};
use heddle_program::{Common, Failure, output};
use serde_json::{Map, Value, json};

use super::decap;
use crate::args::Translate as Arguments;

pub(crate) fn translate(args: &Arguments, common: &Common) -> Result<(), Failure> {
    let Some(interface) = &args.interface else { return show(args, common) };
    let done = if args.detach { detach_from(args, interface) } else { attach_to(args, interface) };
    let said = format!("{interface}: {}", done.map_err(failed)?);
    match common.json {
        true => output::json(&json!({ "interface": interface, "done": said })),
        false => output::line(said),
    }
}

fn detach_from(args: &Arguments, interface: &str) -> Result<&'static str, Error> {
    detach_translate(&args.pin, interface_index(interface)?)?;
    Ok("detached")
}

fn attach_to(args: &Arguments, interface: &str) -> Result<&'static str, Error> {
    let link = if args.bare_ip { Link::Bare } else { Link::Ethernet };
    let room = Room {
        connections: args.connections,
        subflows: args.connections.saturating_mul(2),
        ..Room::default()
    };
    interface_index(interface)?;
    let mut translate = Translate::load_pinned(&args.pin, link, &room)?;
    Ok(match translate.attach(interface)? {
        Attached::Afresh => "attached; it translates the keys that balancers assign",
        Attached::InPlace => "took the place of the one before",
    })
}

/// A failure to attach, show or detach the programs, with help.
fn failed(error: Error) -> Failure {
    match error {
        error @ Error::Program(_) if rustix::process::geteuid().is_root() => Failure::advised(
            format!("{:#}", anyhow::Error::new(error)),
            "programs of tc are attached by links, which needs Linux 6.6",
        ),
        other => decap::failed(other),
    }
}

/// The tables and counters that are pinned.
fn show(args: &Arguments, common: &Common) -> Result<(), Failure> {
    let tables = TranslateTables::open(&args.pin).map_err(failed)?;
    let entries = tables.entries().map_err(failed)?;
    let mut events = Map::new();
    for &event in TranslateCounter::ALL {
        let count = tables.count(event).map_err(failed)?.packets;
        events.insert(event.name().into(), Value::from(count));
    }
    if common.json {
        return output::json(&json!({
            "connections": entries.connections,
            "subflows": entries.subflows,
            "handshakes": entries.openings,
            "events": events,
        }));
    }
    output::line(format!(
        "{} connections, {} subflows, {} handshakes in the tables",
        entries.connections, entries.subflows, entries.openings
    ))?;
    events.iter().try_for_each(|(name, count)| output::line(format!("{name:<16} {count:>12}")))
}
