//! The walk of a packet, router by router, as a table and as JSON in the terms of the path service.

use heddle_path_encoder::{End, Network, Pair, Step, Walk};
use heddle_policy::cflb::{Field, Reason};
use heddle_program::table::Table;
use serde::Serialize;

use super::listed::choice;
use super::name;
use crate::table;

/// One router's decision.
#[derive(Debug, Serialize)]
pub(crate) struct Hop {
    router: String,
    /// The TTL with which the packet comes.
    ttl: u8,
    to: String,
    next_hop: u16,
    next_hops: u16,
    reason: &'static str,
    /// The position in the selector that was read.
    position: Option<u8>,
    /// The digit there.
    digit: Option<u16>,
    /// The reason in words.
    detail: String,
}

/// Every router of a walk.
pub(crate) fn hops(network: &Network, walk: &Walk) -> Vec<Hop> {
    walk.steps.iter().map(|step| Hop::new(network.codec().field(), step)).collect()
}

impl Hop {
    fn new(field: Field, step: &Step) -> Hop {
        let (position, digit) = match step.decision.reason {
            Reason::Controlled { position, digit } | Reason::DigitTooHigh { position, digit } => {
                (Some(position), Some(digit))
            }
            Reason::Alone | Reason::NoSelector | Reason::NoField => (None, None),
        };
        Hop {
            router: step.name.clone(),
            ttl: step.ttl,
            to: step.next_name.clone(),
            next_hop: step.decision.next_hop,
            next_hops: step.next_hops,
            reason: word(step.decision.reason),
            position,
            digit,
            detail: detail(field, step),
        }
    }
}

/// A table of steps: fields read, next hop, reason.
pub(crate) fn table(steps: &[Hop]) -> Table {
    let mut table =
        table::of_words(&["router", "TTL", "position", "digit", "next hop", "to", "reason"]);
    let number = |number: Option<u16>| number.map_or("-".to_owned(), |number| number.to_string());
    for step in steps {
        table.add_row([
            step.router.clone(),
            step.ttl.to_string(),
            number(step.position.map(u16::from)),
            number(step.digit),
            choice(step.next_hop, step.next_hops),
            step.to.clone(),
            step.detail.clone(),
        ]);
    }
    table
}

const fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::Alone => "single-next-hop",
        Reason::Controlled { .. } => "controlled",
        Reason::DigitTooHigh { .. } => "digit-too-high",
        Reason::NoSelector => "no-selector",
        Reason::NoField => "no-field",
    }
}

fn detail(field: Field, step: &Step) -> String {
    match step.decision.reason {
        Reason::Alone => "only one next hop".to_owned(),
        Reason::Controlled { .. } => "controlled".to_owned(),
        Reason::DigitTooHigh { .. } => {
            format!("hashed: the digit is not below {}", step.next_hops)
        }
        Reason::NoSelector => format!("hashed: {} no path", naming(field)),
        Reason::NoField => format!("hashed: {}", missing(field)),
    }
}

const fn naming(field: Field) -> &'static str {
    match field {
        Field::Ports => "these ports name",
        Field::SourcePort(_) => "this source port names",
        Field::FlowLabel => "this flow label names",
    }
}

fn missing(field: Field) -> String {
    match field {
        Field::Ports => "the packet has no ports".to_owned(),
        Field::SourcePort(range) => format!("no source port from {} to {}", range.low, range.high),
        Field::FlowLabel => "IPv4 has no flow label".to_owned(),
    }
}

/// A walk's end in the terms of the path service.
pub(crate) const fn outcome(end: End) -> &'static str {
    match end {
        End::Delivered => "delivered",
        End::TtlExpired => "ttl-expired",
        End::NoRoute | End::NoSuchHost => "no-route",
    }
}

/// A walk's end as a sentence.
pub(crate) fn end(network: &Network, pair: &Pair, walk: &Walk) -> String {
    let to = name(network, pair.to);
    let fabric = network.fabric();
    let tor = fabric.hosts + u32::from(fabric.host_tor[pair.from as usize].0);
    let at = match walk.steps.last() {
        Some(step) => step.next_name.clone(),
        None if walk.end == End::TtlExpired => name(network, tor),
        None => name(network, pair.from),
    };
    match walk.end {
        End::Delivered => format!("delivered to {to}"),
        End::TtlExpired => format!("lost: the TTL runs out at {at}, before {to}"),
        End::NoRoute | End::NoSuchHost => format!("lost: {at} has no way to {to}"),
    }
}
