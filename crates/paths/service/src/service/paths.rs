//! Operations on paths: find, encode, decode.

use std::collections::BTreeSet;

use heddle_fabric::{Path, Paths};
use heddle_path_encoder::{Flow, Network, Pair};
use heddle_policy::cflb::{Addresses, Field, Fields, Ports};

use super::Service;
use crate::{Problem, request, response, v1};

/// The default and the highest limit of a list.
const LIMITS: (u32, u32) = (64, 256);

impl Service {
    /// Lists the paths of a pair.
    ///
    /// # Errors
    /// Unknown hosts, a pair without paths, a limit that is too high.
    pub fn find_paths(
        &self,
        request: &v1::FindPathsRequest,
    ) -> Result<v1::FindPathsResponse, Problem> {
        self.run("find_paths", || {
            let network = self.network();
            let limit = request::limit(request.limit, LIMITS.0, LIMITS.1)?;
            let from = network.host(request::name("from", &request.from)?)?;
            let to = network.host(request::name("to", &request.to)?)?;
            let paths = network.find(from, to)?;
            let listed = first(&paths, limit);
            let listed = listed.iter().map(|path| response::path(&network, from, to, path));
            Ok(v1::FindPathsResponse { paths: listed.collect(), total: paths.count() })
        })
    }

    /// Encodes a path.
    ///
    /// # Errors
    /// Unknown hosts, a path that does not exist or cannot be encoded, ports that cannot be as
    /// requested, no free encoding.
    pub fn encode(&self, request: &v1::EncodeRequest) -> Result<v1::EncodeResponse, Problem> {
        self.run("encode", || {
            let network = self.network();
            let pair = pair(&network, &request.from, &request.to, request.family)?;
            let path = path_of(&network, &pair, request)?;
            let taken = request::taken(&request.taken_ports)?;
            let field = network.codec().field();
            let ports =
                request::ports(field, request.source_port, request.destination_port, &taken)?;
            let protocol = request::protocol(request.protocol)?;
            let flow = Flow { addresses: pair.addresses, protocol, ports };
            let connections = self.connections();
            let encoded = network.encode(&path, &flow, 0, |fields| {
                let (allocator, ports) = (connections.ports(), fields.ports.unwrap_or_default());
                field == Field::FlowLabel
                    || (is_free(&taken)(fields) && allocator.is_free(pair.from, pair.to, ports))
            })?;
            drop(connections);
            let path = response::path(&network, pair.from, pair.to, &encoded.path);
            Ok(v1::EncodeResponse {
                header: Some(response::header(&encoded.fields)),
                path: Some(path),
            })
        })
    }

    /// Traces a packet.
    ///
    /// # Errors
    /// Unknown hosts, addresses of two families, fields out of their range.
    pub fn decode(&self, request: &v1::DecodeRequest) -> Result<v1::DecodeResponse, Problem> {
        self.run("decode", || {
            let network = self.network();
            let header = request.header.as_ref().ok_or_else(|| {
                Problem::invalid(
                    "header",
                    "the header is missing",
                    "give the packet's addresses and ports",
                )
            })?;
            let pair = pair(&network, &header.source, &header.destination, request.family)?;
            let fields = fields_of(header, pair.addresses, network.rules().ttl)?;
            let walk = network.walk(pair.from, &fields)?;
            Ok(v1::DecodeResponse {
                from: response::name(&network, pair.from),
                to: response::name(&network, pair.to),
                hops: walk.steps.into_iter().map(response::hop).collect(),
                outcome: response::outcome(walk.end).into(),
            })
        })
    }
}

/// Two hosts and their addresses.
pub(super) fn pair(network: &Network, from: &str, to: &str, family: i32) -> Result<Pair, Problem> {
    let (from, to) = (request::name("from", from)?, request::name("to", to)?);
    Ok(network.pair(from, to, request::family(family)?)?)
}

/// A filter for header fields whose source port is not among those that the sender has in use.
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

/// The path with the request's number or nodes.
fn path_of(network: &Network, pair: &Pair, request: &v1::EncodeRequest) -> Result<Path, Problem> {
    let &Pair { from, to, .. } = pair;
    match (request.path, &request.nodes[..]) {
        (Some(number), []) => Ok(network.path_by_number(from, to, number)?),
        (None, [_, ..]) => {
            let nodes = request::nodes(&request.nodes)?;
            let ends = [from, to].map(|host| network.fabric().node(host).name.as_str());
            match &nodes[..] {
                [first, switches @ .., last] if [*first, *last] == ends => {
                    Ok(network.path_by_names(from, to, switches)?)
                }
                _ => Err(Problem::invalid(
                    "nodes",
                    "the path does not begin at the sender and end at the receiver",
                    "give the nodes as the list of the pair's paths has them",
                )),
            }
        }
        _ => Err(Problem::invalid(
            "path",
            "the path is missing, or given twice",
            "give either the path's number or its nodes",
        )),
    }
}

fn fields_of(header: &v1::Header, addresses: Addresses, ttl: u8) -> Result<Fields, Problem> {
    let (source, destination) = (
        request::port("source_port", header.source_port)?,
        request::port("destination_port", header.destination_port)?,
    );
    Ok(Fields {
        addresses,
        protocol: request::protocol(header.protocol)?,
        ports: Some(Ports { source, destination }),
        flow_label: request::flow_label(header.flow_label, addresses)?,
        ttl: request::ttl(header.ttl, ttl)?,
    })
}
