//! Health checks.

use std::net::IpAddr;
use std::num::NonZeroU32;

use heddle_config::Problem;

use super::super::raw;
use crate::health::{Check, Probe};
use crate::service::Protocol;

/// The check of a service's backends, and the TCP port asked.
pub(super) fn check(service: &raw::Service) -> Result<Option<(Check, u16)>, Problem> {
    let Some(health) = &service.health else { return Ok(None) };
    resolve(service, health).map(Some).map_err(|problem| problem.inside("health"))
}

fn resolve(service: &raw::Service, health: &raw::Health) -> Result<(Check, u16), Problem> {
    let count = |key: &str, count| {
        NonZeroU32::new(count)
            .ok_or_else(|| Problem::at(key, "0 answers say nothing").help("1 or more"))
    };
    if health.timeout.0.is_zero() || health.timeout.0 > health.interval.0 {
        let problem =
            Problem::at("timeout", "an answer is awaited until the next question at most");
        return Err(problem.help("more than 0, at most `interval`"));
    }
    let check = Check {
        probe: probe(service, health)?,
        interval: health.interval.0,
        timeout: health.timeout.0,
        rise: count("rise", health.rise)?,
        fall: count("fall", health.fall)?,
    };
    Ok((check, port(service, health)?))
}

fn port(service: &raw::Service, health: &raw::Health) -> Result<u16, Problem> {
    match (health.port, service.protocol) {
        (Some(0), _) => Err(Problem::at("port", "0 is no port").help("1 to 65535")),
        (Some(port), _) => Ok(port),
        (None, Protocol::Tcp) => Ok(service.port),
        (None, Protocol::Udp) => {
            Err(Problem::new("a UDP service is asked over TCP")
                .help("port = ..., where TCP is served"))
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
        Some((key, _)) => Err(Problem::at(key, "only HTTP has one").help("kind = \"http\"")),
        None => Ok(Probe::Tcp),
    }
}

fn http(service: &raw::Service, health: &raw::Health) -> Result<Probe, Problem> {
    let path = health.path.as_deref().unwrap_or("/");
    if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::at("path", format!("`{path}` is no path")).help("path = \"/health\""));
    }
    let own = match service.address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    };
    let host = health.host.clone().unwrap_or(own);
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::at("host", format!("`{host}` is no host's name")));
    }
    let expect = health.expect.unwrap_or(200);
    if !(100..=599).contains(&expect) {
        return Err(Problem::at("expect", format!("{expect} is no HTTP status")).help("100 to 599"));
    }
    Ok(Probe::Http { path: path.to_owned(), host, expect: expect..=expect })
}
