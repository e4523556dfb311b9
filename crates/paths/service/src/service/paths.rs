//! Finding, naming and following paths.

use std::collections::BTreeSet;

use heddle_fabric::{Path, Paths};
use heddle_path_encoder::{Flow, Network, Pair};
use heddle_policy::cflb::{Addresses, Field, Fields, Ports};

use super::Service;
use crate::{Problem, answer, ask, v1};

/// Paths that are listed unless asked otherwise, and at most.
const LISTED: (u32, u32) = (64, 256);

impl Service {
    /// Lists the paths of a pair.
    ///
    /// # Errors
    /// Unknown hosts, a pair without paths, a limit that is too high.
    pub fn find_paths(&self, ask: &v1::FindPathsRequest) -> Result<v1::FindPathsResponse, Problem> {
        self.answer("find_paths", || {
            let network = self.network();
            let limit = ask::limit(ask.limit, LISTED.0, LISTED.1)?;
            let from = network.host(ask::name(&ask.from)?)?;
            let to = network.host(ask::name(&ask.to)?)?;
            let paths = network.find(from, to)?;
            let listed = first(&paths, limit);
            let listed = listed.iter().map(|path| answer::path(&network, from, to, path));
            Ok(v1::FindPathsResponse { paths: listed.collect(), total: paths.count() })
        })
    }

    /// Names a path.
    ///
    /// # Errors
    /// Unknown hosts, a path that is not there or cannot be named, ports that cannot be as asked, no free name.
    pub fn encode(&self, ask: &v1::EncodeRequest) -> Result<v1::EncodeResponse, Problem> {
        self.answer("encode", || {
            let network = self.network();
            let pair = pair(&network, &ask.from, &ask.to, ask.family)?;
            let path = asked_path(&network, &pair, ask)?;
            let taken = ask::taken(&ask.taken_ports)?;
            let field = network.codec().field();
            let ports = ask::ports(field, ask.source_port, ask.destination_port, &taken)?;
            let protocol = ask::protocol(ask.protocol)?;
            let flow = Flow { addresses: pair.addresses, protocol, ports };
            let connections = self.connections();
            let named = network.encode(&path, &flow, 0, |fields| {
                let (book, ports) = (connections.ports(), fields.ports.unwrap_or_default());
                field == Field::FlowLabel
                    || (is_free(&taken)(fields) && book.is_free(pair.from, pair.to, ports))
            })?;
            drop(connections);
            let path = answer::path(&network, pair.from, pair.to, &named.path);
            Ok(v1::EncodeResponse { header: Some(answer::header(&named.fields)), path: Some(path) })
        })
    }

    /// Follows a packet.
    ///
    /// # Errors
    /// Unknown hosts, addresses of two families, fields out of their range.
    pub fn decode(&self, ask: &v1::DecodeRequest) -> Result<v1::DecodeResponse, Problem> {
        self.answer("decode", || {
            let network = self.network();
            let header = ask.header.as_ref().ok_or_else(|| {
                Problem::invalid("the header is missing", "give the packet's addresses and ports")
            })?;
            let pair = pair(&network, &header.source, &header.destination, ask.family)?;
            let fields = asked_fields(header, pair.addresses, network.rules().ttl)?;
            let walk = network.walk(pair.from, &fields)?;
            Ok(v1::DecodeResponse {
                from: answer::name(&network, pair.from),
                to: answer::name(&network, pair.to),
                hops: walk.steps.into_iter().map(answer::hop).collect(),
                end: answer::end(walk.end).into(),
            })
        })
    }
}

/// Two hosts, and the addresses that they use with each other.
pub(super) fn pair(network: &Network, from: &str, to: &str, family: i32) -> Result<Pair, Problem> {
    Ok(network.pair(ask::name(from)?, ask::name(to)?, ask::family(family)?)?)
}

/// Whether a sender that uses these source ports otherwise may write header fields.
pub(super) fn is_free(taken: &BTreeSet<u16>) -> impl Fn(&Fields) -> bool {
    |fields| !fields.ports.is_some_and(|ports| taken.contains(&ports.source))
}

/// The first paths of a pair.
fn first(paths: &Paths<'_>, limit: usize) -> Vec<Path> {
    let mut path = Path::default();
    paths.first(&mut path);
    let mut found = vec![path.clone()];
    while found.len() < limit && paths.advance(&mut path) {
        found.push(path.clone());
    }
    found
}

/// The path that is told by its number or by its nodes.
fn asked_path(network: &Network, pair: &Pair, ask: &v1::EncodeRequest) -> Result<Path, Problem> {
    let &Pair { from, to, .. } = pair;
    match (ask.path, &ask.nodes[..]) {
        (Some(number), []) => Ok(network.path_by_number(from, to, number)?),
        (None, [_, ..]) => {
            let nodes = ask::nodes(&ask.nodes)?;
            let ends = [from, to].map(|host| network.fabric().node(host).name.as_str());
            match &nodes[..] {
                [first, switches @ .., last] if [*first, *last] == ends => {
                    Ok(network.path_by_names(from, to, switches)?)
                }
                _ => Err(Problem::invalid(
                    "the path does not begin at the sender and end at the receiver",
                    "name a path as the list of the pair's paths does",
                )),
            }
        }
        _ => Err(Problem::invalid(
            "which path is not said, or said twice",
            "give either the path's number or its nodes",
        )),
    }
}

fn asked_fields(header: &v1::Header, addresses: Addresses, ttl: u8) -> Result<Fields, Problem> {
    let (source, destination) =
        (ask::port(header.source_port)?, ask::port(header.destination_port)?);
    Ok(Fields {
        addresses,
        protocol: ask::protocol(header.protocol)?,
        ports: Some(Ports { source, destination }),
        flow_label: ask::flow_label(header.flow_label, addresses)?,
        ttl: ask::ttl(header.ttl, ttl)?,
    })
}
