//! `[cflb]` of a fabric file.

use heddle_config::Problem;
use heddle_policy::cflb::Field;

use super::cflb::constants;
use super::ranges::{Kind, range};
use crate::graph::most_switches;
use crate::raw::Sender;
use crate::{CflbNetwork, Graph, raw};

/// System ports (RFC 6335 section 6).
const SYSTEM_PORTS: (u16, u16) = (0, 1023);

/// Digits of a check value.
const CHECK_DIGITS: usize = 8;

pub(super) fn resolve(raw: &raw::CflbNetwork, graph: &Graph) -> Result<CflbNetwork, Problem> {
    network(raw, graph).map_err(|problem| problem.inside("cflb"))
}

fn network(raw: &raw::CflbNetwork, graph: &Graph) -> Result<CflbNetwork, Problem> {
    let constants = constants(&raw.constants, graph)?;
    let sender = &raw.sender;
    Ok(CflbNetwork {
        constants,
        ttl: crossing("ttl", sender.ttl, graph)?,
        ttls: ttls(&sender.ttls, graph)?,
        reserved: reserved(sender, constants.field)?,
        key_file: sender.key_file.clone(),
        key_check: sender.key_check.as_deref().map(key_check).transpose()?,
    })
}

fn ttls(text: &str, graph: &Graph) -> Result<(u8, u8), Problem> {
    let (low, high) = range(text, Kind::Ttls).map_err(|problem| problem.inside("ttls"))?;
    crossing("ttls", low, graph)?;
    Ok((low, high))
}

/// A TTL that the last router of every path receives as 2 or more: with 1 it drops the packet (RFC
/// 1812, section 5.3.1).
fn crossing(key: &str, ttl: u8, graph: &Graph) -> Result<u8, Problem> {
    let most = most_switches(graph);
    if usize::from(ttl) > most {
        return Ok(ttl);
    }
    let message = format!("a packet with a TTL of {ttl} does not cross the fabric");
    Err(Problem::at(key, message)
        .help(format!("{} or more: a path can have {most} routers", most + 1)))
}

fn reserved(sender: &Sender, field: Field) -> Result<Vec<(u16, u16)>, Problem> {
    let Some(texts) = &sender.reserved else { return Ok(vec![SYSTEM_PORTS]) };
    if field == Field::FlowLabel {
        return Err(Problem::at("reserved", "the flow label names the path, ports do not")
            .help("leave it out"));
    }
    let one = |(index, text): (usize, &String)| {
        range(text, Kind::Ports).map_err(|problem| problem.inside(&format!("reserved.{index}")))
    };
    let ranges = texts.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()?;
    let (low, high) = match field {
        Field::SourcePort(range) => (range.low, range.high),
        Field::Ports | Field::FlowLabel => (0, u16::MAX),
    };
    let is_taken = |port: u16| ranges.iter().any(|(low, high)| (*low..=*high).contains(&port));
    if (low..=high).all(is_taken) {
        return Err(
            Problem::at("reserved", "no port is left to name paths by").help("reserve fewer ports")
        );
    }
    Ok(ranges)
}

fn key_check(text: &str) -> Result<String, Problem> {
    if text.len() == CHECK_DIGITS && text.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err(Problem::at("key_check", format!("\"{text}\" is not a check value"))
        .help(format!("{CHECK_DIGITS} hexadecimal digits")))
}
