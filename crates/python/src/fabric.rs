//! Fabrics: their paths, and the header fields that name them (CFLB).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use heddle_path_encoder::{
    End, Family, Flow, Key, ListedPath, Network, Pair, PathEncoderError, number_of,
};
use heddle_path_files::files::{folder, read_limited};
use heddle_path_files::{keys, network};
use heddle_policy::cflb::{Field, Fields, Ports};
use heddle_scenario::{FabricFile, Source, load_fabric};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{self, HeddleError};

/// Number, nodes, next hops, and how many there are at each router.
type PathParts = (u64, Vec<String>, Vec<u16>, Vec<u16>);

/// Router, TTL, next node, next hop, next hops.
type StepParts = (String, u8, String, u16, u16);

/// A fabric whose routers read next hops from ports. It does not change.
#[pyclass(frozen, module = "heddle._core")]
pub(crate) struct Fabric {
    network: Network,
    has_key: bool,
}

#[pymethods]
impl Fabric {
    /// Reads a fabric file with settings `(dotted key, value as TOML)`. Its key is the given one in
    /// hexadecimal digits, or that of the file's `cflb.key_file` if it is there.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 makes owned paths")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        settings: Vec<(String, String)>,
        key: Option<&str>,
    ) -> PyResult<Fabric> {
        let text = read_limited(&path)
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
        let source = Source { name: path.display().to_string(), text, overrides: settings };
        let read = |name: &str| read_limited(&folder(&path).join(Path::new(name)));
        let file = load_fabric(&source, &read).map_err(|error| errors::of_scenario(py, &error))?;
        let cipher = file.cflb.constants.cipher;
        let named = file.cflb.key_file.as_ref().map(|name| folder(&path).join(name));
        let key = match (key, named.filter(|path| path.exists())) {
            (Some(digits), _) => Some(Key::parse(digits, cipher).map_err(refused)?),
            (None, Some(path)) => Some(keys::read(&path, cipher).map_err(failed)?),
            (None, None) => None,
        };
        Fabric::of(&file, key)
    }

    /// Names of the hosts.
    #[getter]
    fn hosts(&self) -> Vec<String> {
        let name = |host| self.network.fabric().node(host).name.clone();
        (0..self.network.fabric().hosts).map(name).collect()
    }

    /// The number of paths between two hosts, by name or address.
    fn count(&self, from: &str, to: &str) -> PyResult<u64> {
        let (from, to) = self.hosts_of(from, to)?;
        Ok(self.network.find(from, to).map_err(refused)?.count())
    }

    /// The first paths between two hosts, at most so many.
    fn paths(&self, from: &str, to: &str, most: NonZeroUsize) -> PyResult<Vec<PathParts>> {
        let (from, to) = self.hosts_of(from, to)?;
        let paths = self.network.first_paths(from, to, most.get()).map_err(refused)?;
        Ok(paths.into_iter().map(parts).collect())
    }

    /// Paths between two hosts that share no link between routers, at most so many.
    fn disjoint(&self, from: &str, to: &str, most: NonZeroUsize) -> PyResult<Vec<PathParts>> {
        let (from, to) = self.hosts_of(from, to)?;
        let paths = self.network.disjoint_paths(from, to, most.get()).map_err(refused)?;
        Ok(paths.into_iter().map(parts).collect())
    }

    /// Source port, destination port, flow label and TTL that make a flow take the path of a
    /// number. A port that names no path is the flow's own.
    fn encode(
        &self,
        from: &str,
        to: &str,
        number: u64,
        protocol: u8,
        ports: (u16, u16),
    ) -> PyResult<(u16, u16, u32, u8)> {
        let pair = self.pair(from, to)?;
        let path = self.network.path_by_number(pair.from, pair.to, number).map_err(refused)?;
        let ports = Ports { source: ports.0, destination: ports.1 };
        let flow = Flow { addresses: pair.addresses, protocol, ports };
        let fields = self.network.encode(&path, &flow, 0, |_| true).map_err(refused)?.fields;
        let ports = fields.ports.unwrap_or_default();
        Ok((ports.source, ports.destination, fields.flow_label, fields.ttl))
    }

    /// The path of a packet: its number (None if it is lost), its end, and a step for each router.
    /// A TTL of None is the fabric's own.
    fn decode(
        &self,
        from: &str,
        to: &str,
        protocol: u8,
        ports: (u16, u16),
        flow_label: u32,
        ttl: Option<u8>,
    ) -> PyResult<(Option<u64>, &'static str, Vec<StepParts>)> {
        let pair = self.pair(from, to)?;
        let fields = Fields {
            addresses: pair.addresses,
            protocol,
            ports: Some(Ports { source: ports.0, destination: ports.1 }),
            flow_label,
            ttl: ttl.unwrap_or(self.network.rules().ttl),
        };
        let walk = self.network.walk(pair.from, &fields).map_err(refused)?;
        let next_hops: Vec<u16> = walk.steps.iter().map(|step| step.decision.next_hop).collect();
        let number = match walk.end {
            End::Delivered if !next_hops.is_empty() => {
                let paths = self.network.find(pair.from, pair.to).map_err(refused)?;
                Some(number_of(&paths, &next_hops))
            }
            _ => None,
        };
        let step = |step: heddle_path_encoder::Step| {
            (step.name, step.ttl, step.next_name, step.decision.next_hop, step.next_hops)
        };
        Ok((number, end(walk.end), walk.steps.into_iter().map(step).collect()))
    }
}

impl Fabric {
    fn of(file: &FabricFile, key: Option<Key>) -> PyResult<Fabric> {
        let has_key = key.is_some();
        let network = match key {
            Some(key) => Network::from_file(file, &key).map_err(refused)?,
            None => network::without_key(file).map_err(failed)?,
        };
        Ok(Fabric { network, has_key })
    }

    fn hosts_of(&self, from: &str, to: &str) -> PyResult<(u32, u32)> {
        let host = |name| self.network.host(name).map_err(refused);
        Ok((host(from)?, host(to)?))
    }

    /// Two hosts whose packets' header fields matter, which takes the key.
    fn pair(&self, from: &str, to: &str) -> PyResult<Pair> {
        if !self.has_key {
            let message = "the fabric has no key: give key=\"...\", or put the file that cflb.key_file names beside the fabric's (heddle path keygen)";
            return Err(HeddleError::new_err(message));
        }
        let family = match self.network.codec().field() {
            Field::FlowLabel => Family::V6,
            Field::Ports | Field::SourcePort(_) => Family::V4,
        };
        self.network.pair(from, to, family).map_err(refused)
    }
}

fn parts(path: ListedPath) -> PathParts {
    (path.number, path.nodes, path.next_hops, path.out_of)
}

const fn end(end: End) -> &'static str {
    match end {
        End::Delivered => "delivered",
        End::TtlExpired => "ttl-expired",
        End::NoRoute | End::NoSuchHost => "no-route",
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(error: PathEncoderError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(failure: heddle_program::Failure) -> PyErr {
    HeddleError::new_err(failure.report(heddle_path_files::describe).text)
}
