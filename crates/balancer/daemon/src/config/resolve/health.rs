//! Health checks.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::Balancer;
use super::addresses::can_reach;
use crate::health::{Check, Probe, Through};
use crate::service::Protocol;

/// The longest time for which a backend that is down may keep its flows.
const LONGEST_KEEP: Duration = Duration::from_secs(3600);

/// A shorter interval asks backends as a flood does; a longer one is no check.
const INTERVALS: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(86_400);

/// Time for an answer where the file says none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1);

/// The check of a service's backends, and the TCP port asked.
pub(super) fn check(
    service: &raw::Service,
    balancer: &Balancer,
) -> Result<Option<(Check, u16)>, Problem> {
    let Some(health) = &service.health else { return Ok(None) };
    resolve(service, health, balancer).map(Some).map_err(|problem| problem.inside("health"))
}

fn resolve(
    service: &raw::Service,
    health: &raw::Health,
    balancer: &Balancer,
) -> Result<(Check, u16), Problem> {
    let count = |key: &str, count| {
        NonZeroU32::new(count).ok_or_else(|| Problem::at(key, "must be at least 1"))
    };
    let check = Check {
        probe: probe(service, health)?,
        through: through(service, health, balancer)?,
        interval: interval(health)?,
        timeout: timeout(health)?,
        rise: count("rise", health.rise)?,
        fall: count("fall", health.fall)?,
        keep_flows: keep_flows(health)?,
    };
    Ok((check, port(service, health)?))
}

fn through(
    service: &raw::Service,
    health: &raw::Health,
    balancer: &Balancer,
) -> Result<Through, Problem> {
    if health.through == raw::HealthThrough::Address {
        return Ok(Through::Address);
    }
    if !can_reach(balancer, service.address) {
        let message = format!("this balancer has no address to probe {} from", service.address);
        let problem = Problem::at("through", message);
        return Err(problem.help("add one of its family to `balancer.addresses`"));
    }
    Ok(Through::Forwarding)
}

fn interval(health: &raw::Health) -> Result<Duration, Problem> {
    match health.interval.0 {
        time if INTERVALS.contains(&time) => Ok(time),
        _ => Err(Problem::at("interval", "out of range").help("10ms to 1d")),
    }
}

fn timeout(health: &raw::Health) -> Result<Duration, Problem> {
    let interval = health.interval.0;
    let timeout = health.timeout.map_or(interval.min(DEFAULT_TIMEOUT), |timeout| timeout.0);
    if timeout.is_zero() || timeout > interval {
        let problem =
            Problem::at("timeout", "the timeout must be longer than 0s and at most `interval`");
        return Err(problem.help(format!("at most {}", health.interval)));
    }
    Ok(timeout)
}

fn keep_flows(health: &raw::Health) -> Result<Duration, Problem> {
    match health.keep_flows.0 {
        time if time > LONGEST_KEEP => {
            Err(Problem::at("keep_flows", "out of range").help("at most 1h"))
        }
        time => Ok(time),
    }
}

fn port(service: &raw::Service, health: &raw::Health) -> Result<u16, Problem> {
    match (health.port, service.protocol, service.port) {
        (Some(0), ..) => Err(Problem::at("port", "0 is not a port number").help("1 to 65535")),
        (Some(port), ..) => Ok(port),
        (None, Protocol::Tcp, Some(port)) => Ok(port),
        (None, Protocol::Tcp, None) => {
            Err(Problem::new("a health check probes one port, and this service has several")
                .help("port = the TCP port to probe"))
        }
        (None, Protocol::Udp, _) => {
            Err(Problem::new("health checks go over TCP, and this service is UDP")
                .help("port = the TCP port to probe"))
        }
    }
}

fn probe(service: &raw::Service, health: &raw::Health) -> Result<Probe, Problem> {
    match health.kind {
        raw::HealthKind::Tcp => tcp(health),
        raw::HealthKind::Http => http(service, health),
    }
}

fn tcp(health: &raw::Health) -> Result<Probe, Problem> {
    let of_http = [
        ("path", health.path.is_some()),
        ("host", health.host.is_some()),
        ("expect", health.expect.is_some()),
    ];
    match of_http.into_iter().find(|&(_, given)| given) {
        Some((key, _)) => {
            Err(Problem::at(key, "only HTTP checks have this key").help("kind = \"http\""))
        }
        None => Ok(Probe::Tcp),
    }
}

fn http(service: &raw::Service, health: &raw::Health) -> Result<Probe, Problem> {
    let path = health.path.as_deref().unwrap_or("/");
    if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::at("path", format!("`{}` is not an HTTP path", path.escape_debug()))
            .help("path = \"/health\""));
    }
    let address = match service.address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    };
    let host = health.host.clone().unwrap_or(address);
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::at("host", format!("`{host}` is not a host name"))
            .help("host = \"www.example.com\""));
    }
    let expect = health.expect.unwrap_or(200);
    if !(100..=599).contains(&expect) {
        return Err(Problem::at("expect", format!("{expect} is not an HTTP status code"))
            .help("100 to 599"));
    }
    Ok(Probe::Http { path: path.to_owned(), host, expect: expect..=expect })
}
