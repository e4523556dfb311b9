//! A network as a fabric file describes it.

use heddle_fabric::Fabric;
use heddle_policy::cflb::PortRange;
use heddle_scenario::FabricFile;

use crate::{Key, Network, Parts, PathEncoderError, PortRules};

impl Network {
    /// The network of a fabric file, its failed links down; the key is checked if the file has a
    /// check value.
    ///
    /// # Errors
    /// [`PathEncoderError::WrongKey`], and those of [`Network::new`].
    pub fn from_file(file: &FabricFile, key: &Key) -> Result<Network, PathEncoderError> {
        let FabricFile { fabric, cflb, addresses } = file;
        if let Some(check_value) = &cflb.key_check {
            key.verify(check_value)?;
        }
        let range = |&(low, high): &(u16, u16)| PortRange { low, high };
        let rules = PortRules {
            ttl: cflb.ttl,
            ttls: cflb.ttls.0..=cflb.ttls.1,
            reserved: cflb.reserved.iter().map(range).collect(),
        };
        let config = cflb.constants;
        let graph = &fabric.graph;
        let mut network =
            Network::new(Parts { graph, down: &[], config: &config, addresses, rules }, key)?;
        let failed = fabric.failed.iter().map(|(a, b)| network.links_between(a, b));
        let down = failed.collect::<Result<Vec<_>, _>>()?.concat();
        network.set_down(&down)?;
        Ok(network)
    }

    /// The links between two nodes by name, as indices of the graph's links: all parallel ones, at
    /// least one.
    ///
    /// # Errors
    /// [`PathEncoderError::Unknown`], [`PathEncoderError::NoLink`].
    pub fn links_between(&self, a: &str, b: &str) -> Result<Vec<u32>, PathEncoderError> {
        let (from, to) = (self.node(a)?, self.node(b)?);
        let fabric: &Fabric = self.fabric();
        let between = fabric.ports_of(from).iter().filter(|port| port.to == to);
        let links: Vec<u32> = between.map(|port| port.link).collect();
        match links.is_empty() {
            true => Err(PathEncoderError::NoLink { a: a.to_owned(), b: b.to_owned() }),
            false => Ok(links),
        }
    }
}
