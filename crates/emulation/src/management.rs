//! A network beside the fabric: links without limits from each host to the namespace of the path
//! service.

use std::net::Ipv4Addr;

use heddle_lab::tools;

use crate::EmulationError;
use crate::network::Network;

/// The namespace of the path service.
pub(crate) const SERVICE: &str = "path-service";

/// The service's address.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(172, 31, 255, 254);

/// The host's device.
const DEVICE: &str = "manage";

/// Connects all hosts with a namespace for the service. It goes with the lab's others.
pub(crate) fn connect(network: &Network) -> Result<(), EmulationError> {
    let service = network.state.namespace(SERVICE);
    tools::run("ip", ["-batch", "-"], &format!("netns add {service}\n"))?;
    let links: String = network.hosts().map(|host| link(network, host, &service)).collect();
    tools::run("ip", ["-batch", "-"], &links)?;
    let mut lines = format!("link set dev lo up\naddr add {ADDRESS}/32 dev lo\n");
    for host in network.hosts() {
        let address = address_of(host);
        lines += &format!(
            "link set dev host{host} up\nroute add {address}/32 dev host{host} src {ADDRESS}\n"
        );
        network.ip(
            host,
            &format!(
                "link set dev {DEVICE} up\naddr add {address}/32 dev {DEVICE}\nroute add {ADDRESS}/32 dev {DEVICE} src {address}\n"
            ),
        )?;
    }
    Ok(tools::run("ip", ["-n", &service, "-batch", "-"], &lines).map(drop)?)
}

fn link(network: &Network, host: u32, service: &str) -> String {
    let namespace = network.namespace(host);
    format!("link add {DEVICE} netns {namespace} type veth peer name host{host} netns {service}\n")
}

/// A host's address in this network.
fn address_of(host: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(172, 31, 0, 0)) + host + 1)
}
