//! Names and addresses of all hosts, and the lines of `ip` and `sysctl` that set them.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{Builder, Mac, Node};

/// The role of a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Router,
    Balancer,
    Backend,
}

/// Settings of every host. Links made later take `default` over.
const COMMON: &[&str] = &[
    // Routing is asymmetric: replies bypass the balancers.
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv4.conf.all.send_redirects=0",
    "net.ipv4.conf.default.send_redirects=0",
    "net.ipv6.conf.all.accept_dad=0",
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.conf.all.accept_ra=0",
    "net.ipv6.conf.default.accept_ra=0",
];

const ROUTER: &[&str] = &[
    "net.ipv4.ip_forward=1",
    "net.ipv6.conf.all.forwarding=1",
    // ECMP by addresses, protocol and ports. Policy 1 would take the hash that the client's socket
    // left in the packet, which Linux changes at a timeout: a flow would wander.
    "net.ipv4.fib_multipath_hash_policy=3",
    "net.ipv4.fib_multipath_hash_fields=0x37",
    "net.ipv6.fib_multipath_hash_policy=3",
    "net.ipv6.fib_multipath_hash_fields=0x37",
];

const BACKEND: &[&str] = &["net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2"];

const CLIENT: &[&str] = &["net.mptcp.blackhole_timeout=0"];

impl Role {
    pub(crate) fn settings(self) -> impl Iterator<Item = &'static str> {
        let of_role = match self {
            Role::Client => CLIENT,
            Role::Router => ROUTER,
            Role::Balancer => &[],
            Role::Backend => BACKEND,
        };
        COMMON.iter().chain(of_role).copied()
    }

    /// The host with the number `index` of this role, in the lab `prefix`.
    pub(crate) fn node(self, prefix: &str, index: u8) -> Node {
        let name = match self {
            Role::Client => "client".to_string(),
            Role::Router => "router".to_string(),
            Role::Balancer => format!("balancer-{index}"),
            Role::Backend => format!("backend-{index}"),
        };
        let (v4, v6) = self.addresses(index);
        Node { namespace: format!("{prefix}-{name}"), name, v4, v6, mac: self.mac(index) }
    }

    fn addresses(self, index: u8) -> (Ipv4Addr, Ipv6Addr) {
        match self {
            Role::Client => client_addresses(0),
            Role::Router => lan_addresses(1, 1),
            Role::Balancer => lan_addresses(11 + index, 0x11 + u16::from(index)),
            Role::Backend => lan_addresses(101 + index, 0x101 + u16::from(index)),
        }
    }

    fn mac(self, index: u8) -> Mac {
        // The second-lowest bit of the first byte: locally administered.
        Mac([2, 0, 0, 0, self as u8, index])
    }
}

fn lan_addresses(v4: u8, v6: u16) -> (Ipv4Addr, Ipv6Addr) {
    (Ipv4Addr::new(10, 0, 0, v4), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, v6))
}

/// The client's addresses on its link `link`; the router's are [`gateways`].
pub(crate) fn client_addresses(link: u8) -> (Ipv4Addr, Ipv6Addr) {
    (Ipv4Addr::new(10, 1, link, 2), Ipv6Addr::new(0xfd01, 0, 0, link.into(), 0, 0, 0, 2))
}

fn gateways(link: u8) -> (Ipv4Addr, Ipv6Addr) {
    (Ipv4Addr::new(10, 1, link, 1), Ipv6Addr::new(0xfd01, 0, 0, link.into(), 0, 0, 0, 1))
}

/// The line of `ip` that adds a link: from a host's device to a device of the router, whose address
/// differs in one byte.
pub(crate) fn link(
    node: &Node,
    device: &str,
    mac: Mac,
    router: &Node,
    port: &str,
    mtu: u16,
) -> String {
    let (host, router, peer) = (&node.namespace, &router.namespace, peer_mac(mac));
    format!(
        "link add {device} netns {host} mtu {mtu} address {mac} type veth \
         peer name {port} netns {router} mtu {mtu} address {peer}\n"
    )
}

fn peer_mac(mut mac: Mac) -> Mac {
    mac.0[3] = 1;
    mac
}

/// Static neighbour entries of a device. Without them a first solicitation may come before the
/// neighbour listens, and the second one comes a second later.
fn neighbours(device: &str, mac: Mac, (v4, v6): (Ipv4Addr, Ipv6Addr)) -> String {
    format!(
        "neighbour replace {v4} lladdr {mac} dev {device} nud permanent
neighbour replace {v6} lladdr {mac} dev {device} nud permanent
"
    )
}

/// The Ethernet address of the client's device number `link`.
pub(crate) fn client_mac(link: u8) -> Mac {
    Role::Client.mac(link)
}

/// The client: an address and a route on each link, and an MPTCP endpoint for each but the first.
pub(crate) fn client_lines(links: u8) -> String {
    let base = "link set lo up\nmptcp limits set subflows 8 add_addr_accepted 8\n";
    [base.into()].into_iter().chain((0..links).map(client_link)).collect()
}

/// A link of the client. The device that an endpoint is bound to selects the default route; without
/// one, the first applies.
fn client_link(link: u8) -> String {
    let (v4, v6) = client_addresses(link);
    let (via4, via6) = gateways(link);
    let router = neighbours(&format!("eth{link}"), peer_mac(client_mac(link)), gateways(link));
    let endpoints = if link == 0 { String::new() } else { endpoint_lines(link) };
    format!(
        "address add {v4}/24 dev eth{link}
address add {v6}/64 dev eth{link} nodad
link set eth{link} up
route add 0.0.0.0/0 via {via4} dev eth{link} metric 10{link}
route add ::/0 via {via6} dev eth{link} metric 10{link}
{router}{endpoints}"
    )
}

/// The MPTCP endpoints of a link of the client.
pub(crate) fn endpoint_lines(link: u8) -> String {
    let (v4, v6) = client_addresses(link);
    let endpoint = |address| format!("mptcp endpoint add {address} dev eth{link} subflow\n");
    [v4.to_string(), v6.to_string()].map(endpoint).concat()
}

/// The router: a bridge to the balancers and backends, whose hosts and ports are `ports`, and a
/// link to each client address.
pub(crate) fn router_lines<'a>(
    router: &Node,
    links: u8,
    ports: impl Iterator<Item = (&'a Node, String)>,
    mtu: u16,
) -> String {
    let bridge = format!(
        "link set lo up
link add lan address {} mtu {mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0
address add {}/24 dev lan
address add {}/64 dev lan nodad
link set lan up
",
        router.mac, router.v4, router.v6
    );
    let ports = ports
        .map(|(node, port)| port_lines(&port) + &neighbours("lan", node.mac, (node.v4, node.v6)));
    [bridge].into_iter().chain(ports).chain((0..links).map(router_link)).collect()
}

/// A port of the bridge.
pub(crate) fn port_lines(port: &str) -> String {
    format!("link set {port} master lan up\nlink set {port} type bridge_slave flood off\n")
}

/// The bridge's forwarding table, as lines of `bridge`. Its ports do not flood, as each balancer
/// that got a copy of a frame would send it on: a frame for an address that the table lacks is
/// dropped.
pub(crate) fn forwarding_lines<'a>(ports: impl Iterator<Item = (&'a Node, String)>) -> String {
    ports.map(|(node, port)| format!("fdb add {} dev {port} master static\n", node.mac)).collect()
}

fn router_link(link: u8) -> String {
    let (v4, v6) = gateways(link);
    let client = neighbours(&format!("c{link}"), client_mac(link), client_addresses(link));
    format!(
        "address add {v4}/24 dev c{link}
address add {v6}/64 dev c{link} nodad
link set c{link} up
{client}"
    )
}

/// A balancer or a backend.
pub(crate) fn lan_lines(node: &Node, router: &Node) -> String {
    let gateway = neighbours("eth0", router.mac, (router.v4, router.v6));
    format!(
        "link set lo up
address replace {}/24 dev eth0
address replace {}/64 dev eth0 nodad
link set eth0 up
route replace 0.0.0.0/0 via {}
route replace ::/0 via {}
{gateway}",
        node.v4, node.v6, router.v4, router.v6
    )
}

/// The additional lines of a backend: the VIPs, and the limits on subflows.
pub(crate) fn backend_lines(plan: &Builder) -> String {
    format!(
        "address add {}/32 dev lo
address add {}/128 dev lo nodad
mptcp limits set subflows 8 add_addr_accepted 8
",
        plan.vip4, plan.vip6
    )
}
