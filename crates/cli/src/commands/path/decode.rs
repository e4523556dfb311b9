//! `heddle path decode`: where a packet goes.

use heddle_path_encoder::{End, Network, Pair, Walk, number_of};
use heddle_policy::cflb::{Addresses, Fields, Ports};
use serde_json::json;

use super::{listed, name, pair, steps};
use crate::args::Common;
use crate::args::path::Decode;
use crate::failure::Failure;
use crate::output;
use heddle_path_files::{files, network};

pub(crate) fn decode(args: &Decode, common: &Common) -> Result<(), Failure> {
    let file = files::fabric(&args.fabric.fabric)?;
    let network = network::with_key(&args.fabric, &file)?;
    let pair = pair(&network, &args.from, &args.to, &args.packet)?;
    let walk = network.walk(pair.from, &fields(args, &network, &pair)?)?;
    let steps = steps::hops(&network, &walk);
    let taken = taken(&network, &pair, &walk)?;
    let (from, to) = (name(&network, pair.from), name(&network, pair.to));
    if common.json {
        let path = taken.map(|(number, _)| number);
        let outcome = steps::outcome(walk.end);
        return output::json(
            &json!({ "from": from, "to": to, "path": path, "outcome": outcome, "hops": steps }),
        );
    }
    if !steps.is_empty() {
        output::line(steps::table(&steps))?;
        output::line(listed::NOTE)?;
    }
    let path = taken.map_or(String::new(), |(number, count)| match count {
        1 => ", by the only path".to_owned(),
        _ => format!(", by path {number} of 0-{}", count.saturating_sub(1)),
    });
    output::line(format_args!("{}{path}", steps::end(&network, &pair, &walk)))
}

fn fields(args: &Decode, network: &Network, pair: &Pair) -> Result<Fields, Failure> {
    if args.flow_label != 0 && matches!(pair.addresses, Addresses::V4(..)) {
        return Err(Failure::usage(
            "IPv4 has no flow label",
            "leave --flow-label out, or add --ipv6",
        ));
    }
    let ports = args.source_port.zip(args.destination_port);
    Ok(Fields {
        addresses: pair.addresses,
        protocol: args.packet.protocol,
        ports: ports.map(|(source, destination)| Ports { source, destination }),
        flow_label: args.flow_label,
        ttl: args.packet.ttl.unwrap_or(network.rules().ttl),
    })
}

/// The number of the path that a packet has taken to its end, and how many there are.
fn taken(network: &Network, pair: &Pair, walk: &Walk) -> Result<Option<(u64, u64)>, Failure> {
    if walk.end != End::Delivered || walk.steps.is_empty() {
        return Ok(None);
    }
    let paths = network.find(pair.from, pair.to)?;
    let choices: Vec<u16> = walk.steps.iter().map(|step| step.decision.next_hop).collect();
    Ok(Some((number_of(&paths, &choices), paths.count())))
}
