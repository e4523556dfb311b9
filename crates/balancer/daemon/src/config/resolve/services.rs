//! Services and their backends.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use heddle_config::Problem;
use heddle_hashing::hash::ServiceKey;

use super::super::raw;
use super::super::resolved::{
    Backend, Balancer, ClosedPorts, Echo, Forwarding, MAX_WEIGHT, Ports, Service, Unparsable,
};
use super::access::access;
use super::addresses::{can_reach, check_unicast, own_addresses};
use super::groups;
use super::health;
use super::ids::check_id;
use super::names::check_name;
use super::quic;
use super::shared;
use crate::ids::WireId;
use crate::service::{MptcpMode, NO_SERVICE, Protocol};

const MAX_SLOW_START: Duration = Duration::from_secs(3600);

pub(super) fn services(
    file: &[raw::Service],
    balancer: &Balancer,
) -> Result<Vec<Service>, Problem> {
    let mut services = Vec::<Service>::new();
    for (number, raw) in file.iter().enumerate() {
        let place = format!("service.{number}");
        let service = service(raw, balancer).map_err(|problem| problem.inside(&place))?;
        check_unique(&service, &services)?;
        check_agreement(&service, &services).map_err(|problem| problem.inside(&place))?;
        services.push(service);
    }
    shared::check(file, &services)?;
    shared::fill(&mut services);
    for (number, service) in services.iter().enumerate() {
        groups::check(service, &services[..number])
            .map_err(|problem| problem.inside(&format!("service.{number}")))?;
    }
    Ok(services)
}

fn check_unique(new: &Service, before: &[Service]) -> Result<(), Problem> {
    let at = |number: usize, key: &str| format!("service.{number}.{key}");
    let number = before.len();
    if before.iter().any(|old| old.name == new.name) {
        let problem = Problem::at(&at(number, "name"), format!("`{}` is given twice", new.name));
        return Err(problem.help("another name"));
    }
    let meets = |old: &&Service| {
        (old.address, old.protocol) == (new.address, new.protocol)
            && old.ports.conflict_with(new.ports)
    };
    let Some(met) = before.iter().position(|old| meets(&old)) else { return Ok(()) };
    let message = format!("`{}` has this address, port and protocol already", before[met].name);
    let causes =
        [met, number].into_iter().flat_map(|n| ["port", "ports", "protocol"].map(|key| at(n, key)));
    let problem = Problem::at(&at(number, "address"), message).because_of(causes);
    Err(problem.help("one of them must differ"))
}

/// Packets to an address that are for none of its services are handled by address: all services of
/// one address must make the same choice.
fn check_agreement(new: &Service, before: &[Service]) -> Result<(), Problem> {
    let there = before.iter().filter(|old| old.address == new.address);
    for old in there {
        for (key, differs) in [
            ("closed_ports", differ(new.closed_ports, old.closed_ports)),
            ("echo", differ(new.echo, old.echo)),
        ] {
            if differs {
                let message = format!("`{}`, at the same address, has another one", old.name);
                let help = format!("leave `{key}` out of one of them, or give both the same");
                return Err(Problem::at(key, message).help(help));
            }
        }
    }
    Ok(())
}

/// True if both are given, and differ.
fn differ<T: Copy + PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.is_some() && other.is_some() && one != other
}

fn service(raw: &raw::Service, balancer: &Balancer) -> Result<Service, Problem> {
    check_address(raw, balancer)?;
    let mut service = Service {
        name: raw.name.clone(),
        address: raw.address,
        ports: ports(raw)?,
        protocol: raw.protocol,
        group: raw.group.clone(),
        mptcp: mptcp(raw)?,
        quic: quic::server_ids(raw)?,
        translated: translated(raw)?,
        forwarding: match raw.forwarding {
            raw::Forwarding::L2 => Forwarding::L2,
            raw::Forwarding::Ipip => Forwarding::Ipip,
            raw::Forwarding::Gue => Forwarding::Gue,
        },
        unparsable: match raw.unparsable {
            raw::Unparsable::Pass => Unparsable::Pass,
            raw::Unparsable::Drop => Unparsable::Drop,
        },
        closed_ports: raw.closed_ports.map(|choice| match choice {
            raw::ClosedPorts::Pass => ClosedPorts::Pass,
            raw::ClosedPorts::Drop => ClosedPorts::Drop,
            raw::ClosedPorts::Refuse => ClosedPorts::Refuse,
        }),
        echo: raw.echo.map(|choice| match choice {
            raw::Echo::Pass => Echo::Pass,
            raw::Echo::Drop => Echo::Drop,
            raw::Echo::Answer => Echo::Answer,
        }),
        access: access(raw)?,
        health: health::check(raw, balancer)?,
        slow_start: slow_start(raw)?,
        backends_of: raw.backends_of.clone(),
        backends: Vec::new(),
    };
    for (number, raw) in raw.backend.iter().enumerate() {
        let place = format!("backend.{number}");
        let backend = backend(raw, &service, balancer).map_err(|problem| problem.inside(&place))?;
        service.backends.push(backend);
    }
    Ok(service)
}

fn check_address(raw: &raw::Service, balancer: &Balancer) -> Result<(), Problem> {
    let address = raw.address;
    check_name("name", &raw.name)?;
    if raw.name == NO_SERVICE {
        let message = format!("`{NO_SERVICE}` stands for packets of no service in metrics");
        return Err(Problem::at("name", message).help("another name"));
    }
    check_unicast("address", address)?;
    if address.is_loopback() {
        return Err(Problem::at("address", format!("{address} is a loopback address"))
            .help("a unicast address"));
    }
    if own_addresses(balancer).any(|own| own == address) {
        let problem = Problem::at("address", format!("{address} is this balancer's own address"));
        return Err(problem.help("an address of the service alone, routed to the balancers"));
    }
    Ok(())
}

fn ports(raw: &raw::Service) -> Result<Ports, Problem> {
    match (raw.port, &raw.ports) {
        (Some(0), None) => Err(Problem::at("port", "0 is not a port number").help("1 to 65535")),
        (Some(port), None) => Ok(Ports::One(port)),
        (None, Some(text)) => several_ports(raw, text),
        (Some(_), Some(_)) => {
            Err(Problem::at("ports", "the service has a `port` already").help("leave one out"))
        }
        (None, None) => Err(Problem::at("port", "this key is missing")
            .help("port = 443; or several: ports = \"8000-8099\", ports = \"all\"")),
    }
}

fn several_ports(raw: &raw::Service, text: &str) -> Result<Ports, Problem> {
    if raw.mptcp == Some(MptcpMode::CFlag) {
        let problem = Problem::at("ports", "`mptcp = \"c-flag\"` has one port for each service");
        return Err(problem.help("port = 443, and a service for each other port"));
    }
    text.parse().map_err(|()| {
        Problem::at("ports", format!("`{text}` is no range of ports"))
            .help("as in \"8000-8099\", the first before the last; or \"all\"; one: port = 443")
    })
}

fn mptcp(raw: &raw::Service) -> Result<MptcpMode, Problem> {
    match (raw.mptcp, raw.protocol) {
        (None, Protocol::Tcp) => Ok(MptcpMode::Learn),
        (None, Protocol::Udp) => Ok(MptcpMode::Off),
        (Some(mode @ (MptcpMode::Off | MptcpMode::SourceIp)), _) => Ok(mode),
        (Some(mode), Protocol::Tcp) => Ok(mode),
        (Some(_), Protocol::Udp) => {
            let problem = Problem::at("mptcp", "UDP has no MPTCP subflows");
            Err(problem.help("\"off\", or \"source-ip\" to spread by source address"))
        }
    }
}

fn slow_start(raw: &raw::Service) -> Result<Duration, Problem> {
    match raw.slow_start.map_or(Duration::ZERO, |given| given.0) {
        time if time > MAX_SLOW_START => {
            Err(Problem::at("slow_start", "out of range").help("at most 1h; \"0s\": at once"))
        }
        time => Ok(time),
    }
}

fn translated(raw: &raw::Service) -> Result<bool, Problem> {
    match (raw.mptcp == Some(MptcpMode::Assign), raw.translated) {
        (false, true) => {
            let problem = Problem::at("translated", "only `mptcp = \"assign\"` uses it");
            Err(problem.help("remove it: other modes change no keys"))
        }
        // Of `backends_of` there is a refusal of its own.
        (true, false) if raw.backends_of.is_none() => {
            Err(Problem::at("mptcp", UNTRANSLATED).help(TRANSLATE))
        }
        _ => Ok(raw.translated),
    }
}

const UNTRANSLATED: &str = "stock kernels choose keys of their own and refuse the balancer's, so that MPTCP connections fail";
const TRANSLATE: &str = "mptcp = \"learn\"; or translated = true, if `heddle lb translate` runs on each backend and puts the assigned keys in place of the kernel's";

/// A backend that a service gets besides those that it has.
pub(super) fn backend(
    raw: &raw::Backend,
    service: &Service,
    balancer: &Balancer,
) -> Result<Backend, Problem> {
    check_name("name", &raw.name)?;
    check_id(raw.id)?;
    check_reachable(raw.address, service, balancer)?;
    if raw.weight > MAX_WEIGHT {
        let problem = Problem::at("weight", format!("{} is above the maximum", raw.weight));
        return Err(problem.help(format!("0 to {MAX_WEIGHT}; weights are relative")));
    }
    if service.backends.iter().any(|other| other.name == raw.name) {
        return Err(Problem::at("name", format!("`{}` is given twice in this service", raw.name)));
    }
    if service.backends.iter().any(|other| other.address == raw.address) {
        let problem =
            Problem::at("address", format!("{} is given twice in this service", raw.address));
        return Err(problem.help("a larger `weight` gives a backend more flows"));
    }
    Ok(Backend {
        id: wire_id(raw, &service.key()),
        name: raw.name.clone(),
        address: raw.address,
        weight: raw.weight,
        drained: raw.state == raw::BackendState::Drain,
        in_maintenance: raw.state == raw::BackendState::Maintenance,
        sorry: raw.sorry,
        join_address: join_address(raw, service)?,
        server_id: quic::server_id(raw, service)?,
    })
}

fn wire_id(raw: &raw::Backend, service: &ServiceKey) -> WireId {
    let given = raw.id.and_then(NonZeroU32::new).map(WireId);
    given.unwrap_or_else(|| WireId::of_backend(service, raw.address))
}

fn check_reachable(address: IpAddr, service: &Service, balancer: &Balancer) -> Result<(), Problem> {
    check_unicast("address", address)?;
    if address.is_loopback() {
        let message = format!("{address} is a loopback address: packets cannot be sent there");
        return Err(Problem::at("address", message).help("the address of another machine"));
    }
    if address == service.address {
        return Err(Problem::at(
            "address",
            format!("{address} is the service's address, not a backend's own"),
        ));
    }
    if !encapsulates(service) && address.is_ipv6() != service.address.is_ipv6() {
        let message = format!(
            "{address} is of another address family than the service's {}",
            service.address
        );
        return Err(Problem::at("address", message).help("forwarding = \"ipip\" or \"gue\""));
    }
    if encapsulates(service) && !can_reach(balancer, address) {
        let family = if address.is_ipv6() { "IPv6" } else { "IPv4" };
        let message = format!("this balancer has no {family} address to send to {address} from");
        return Err(Problem::at("address", message).help("add one to `balancer.addresses`"));
    }
    Ok(())
}

fn join_address(raw: &raw::Backend, service: &Service) -> Result<Option<IpAddr>, Problem> {
    match (service.mptcp, raw.join_address) {
        (MptcpMode::CFlag, None) => Err(Problem::new("`join_address` is missing")
            .help("join_address = an address of this backend alone, routed to the balancers")),
        (MptcpMode::CFlag, Some(join)) if join.is_ipv6() != service.address.is_ipv6() => {
            let message = format!(
                "{join} is of another address family than the service's {}",
                service.address
            );
            Err(Problem::at("join_address", message).help("an address of the service's family"))
        }
        (MptcpMode::CFlag, Some(join)) => check_unicast("join_address", join).map(|()| Some(join)),
        (_, Some(_)) => Err(Problem::at("join_address", "only `mptcp = \"c-flag\"` uses it")),
        (_, None) => Ok(None),
    }
}

/// True if packets to a backend get an outer IP header.
fn encapsulates(service: &Service) -> bool {
    service.forwarding != Forwarding::L2
}
