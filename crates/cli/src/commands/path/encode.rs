//! `heddle path encode`: header fields that make a flow take a path.

use std::collections::BTreeSet;
use std::net::IpAddr;

use heddle_fabric::Path;
use heddle_path_encoder::{Flow, ListedPath, Network, Pair, PathEncoderError};
use heddle_policy::cflb::{Addresses, Field, Fields, Ports};
use heddle_scenario::FabricFile;
use serde_json::{Value, json};

use super::listed::{self, Listed, NOTE};
use super::{pair, steps};
use crate::args::Common;
use crate::args::path::Encode;
use crate::failure::Failure;
use crate::output;
use crate::output::counted;
use heddle_path_files::{files, network};

pub(crate) fn encode(args: &Encode, common: &Common) -> Result<(), Failure> {
    let file = with_ttl(files::fabric(&args.fabric.fabric)?, args.packet.ttl);
    let network = network::with_key(&args.fabric, &file)?;
    let pair = pair(&network, &args.from, &args.to, &args.packet)?;
    let path = chosen(args, &network, &pair)?;
    let ports = ports(args, network.codec().field())?;
    let flow = Flow { addresses: pair.addresses, protocol: args.packet.protocol, ports };
    let names = names(args, &network, &path, &flow)?;
    let listed = network.listed(pair.from, pair.to, &path)?;
    match common.json {
        true => print_json(&network, &pair, &listed, &names)?,
        false => print(args, &network, &pair, &listed, &names)?,
    }
    if !common.quiet && names.len() < args.count as usize {
        let free = counted(names.len() as u64, "free name");
        eprintln!("the path has {free}, {} were asked for", args.count);
    }
    Ok(())
}

/// The file with one TTL alone, if it is given.
fn with_ttl(mut file: FabricFile, ttl: Option<u8>) -> FabricFile {
    if let Some(ttl) = ttl {
        (file.cflb.ttl, file.cflb.ttls) = (ttl, (ttl, ttl));
    }
    file
}

/// The path by its number or by its routers.
fn chosen(args: &Encode, network: &Network, pair: &Pair) -> Result<Path, Failure> {
    let via: Vec<&str> = args.via.iter().map(|name| name.trim()).collect();
    Ok(match args.path {
        Some(number) => network.path_by_number(pair.from, pair.to, number)?,
        None => network.path_by_names(pair.from, pair.to, &via)?,
    })
}

/// The ports that name no path.
fn ports(args: &Encode, field: Field) -> Result<Ports, Failure> {
    let source = given(args.source_port, "source-port", field == Field::FlowLabel)?;
    let destination = given(args.destination_port, "destination-port", field != Field::Ports)?;
    Ok(Ports { source, destination })
}

/// A port that must be given if it names no path, and cannot be if it does.
fn given(port: Option<u16>, option: &str, is_needed: bool) -> Result<u16, Failure> {
    match (port, is_needed) {
        (Some(port), true) => Ok(port),
        (None, false) => Ok(0),
        (None, true) => Err(Failure::usage(
            format!("--{option} is missing: this fabric does not name paths by it"),
            format!("give the flow's own, as in --{option} 443"),
        )),
        (Some(_), false) => Err(Failure::usage(
            format!("--{option} cannot be chosen: this fabric names paths by it"),
            "leave it out; with `field = \"source-port\"` in [cflb] destination ports are free",
        )),
    }
}

/// Free names of the path, no two with the same value: as many as asked for, or all that there are;
/// at least one.
fn names(
    args: &Encode,
    network: &Network,
    path: &Path,
    flow: &Flow,
) -> Result<Vec<Fields>, PathEncoderError> {
    let field = network.codec().field();
    let in_use = |fields: &Fields| match field {
        Field::FlowLabel => args.taken.contains(&fields.flow_label),
        _ => fields.ports.is_some_and(|ports| args.taken.contains(&ports.source.into())),
    };
    let (mut names, mut values) = (Vec::new(), BTreeSet::new());
    let found = network.encode(path, flow, 0, |fields| {
        if !in_use(fields) && values.insert(field.read(fields)) {
            names.push(*fields);
        }
        names.len() == args.count as usize
    });
    match found {
        Err(error) if names.is_empty() => Err(error),
        _ => Ok(names),
    }
}

fn print_json(
    network: &Network,
    pair: &Pair,
    listed: &ListedPath,
    names: &[Fields],
) -> Result<(), Failure> {
    let name = |fields: &Fields| -> Result<Value, PathEncoderError> {
        let walk = network.walk(pair.from, fields)?;
        Ok(json!({ "header": header(fields), "hops": steps::hops(network, &walk) }))
    };
    let names = names.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    output::json(&json!({ "path": Listed::new(listed), "names": names }))
}

/// Header fields in the words of the path service.
fn header(fields: &Fields) -> Value {
    let (source, destination) = addresses(fields);
    let ports = fields.ports.unwrap_or_default();
    json!({
        "source": source, "destination": destination, "protocol": fields.protocol,
        "source_port": ports.source, "destination_port": ports.destination,
        "flow_label": fields.flow_label, "ttl": fields.ttl,
    })
}

fn print(
    args: &Encode,
    network: &Network,
    pair: &Pair,
    listed: &ListedPath,
    names: &[Fields],
) -> Result<(), Failure> {
    output::line(format_args!("path {}: {}", listed.number, listed::routers(listed)))?;
    for fields in names {
        output::line(in_words(network.codec().field(), fields))?;
        if args.explain {
            let walk = network.walk(pair.from, fields)?;
            output::line(steps::table(&steps::hops(network, &walk)))?;
        }
    }
    if args.explain {
        let radix = network.codec().radix();
        let (length, highest) = (radix.length(), radix.base() - 1);
        output::line(format_args!("position = TTL mod {length}; digits are 0-{highest}; {NOTE}"))?;
    }
    Ok(())
}

/// The fields that the sender writes, as a line.
fn in_words(field: Field, fields: &Fields) -> String {
    let (source, destination) = addresses(fields);
    let Ports { source: from, destination: to } = fields.ports.unwrap_or_default();
    let chosen = match field {
        Field::Ports => format!("source port {from}, destination port {to}"),
        Field::SourcePort(_) => format!("source port {from} (destination port {to} as given)"),
        Field::FlowLabel => {
            format!("flow label {:#07x} (ports {from}, {to} as given)", fields.flow_label)
        }
    };
    format!("{source} to {destination}: {chosen}, TTL {}", fields.ttl)
}

fn addresses(fields: &Fields) -> (IpAddr, IpAddr) {
    match fields.addresses {
        Addresses::V4(source, destination) => (source.into(), destination.into()),
        Addresses::V6(source, destination) => (source.into(), destination.into()),
    }
}
