//! The etcd cluster in which balancers find each other.

use std::time::Duration;

use heddle_config::Problem;

use super::super::raw;
use crate::members::etcd::{Credentials, Files, User};

const SHORTEST_LEASE: Duration = Duration::from_secs(2);

pub(super) fn check(etcd: &raw::Etcd) -> Result<(), Problem> {
    if etcd.endpoints.is_empty() {
        let problem = Problem::at("endpoints", "at least one is needed");
        return Err(problem.help("endpoints = [\"https://10.0.0.5:2379\"]"));
    }
    for (number, url) in etcd.endpoints.iter().enumerate() {
        check_endpoint(url, etcd.ca_file.is_some())
            .map_err(|problem| problem.inside(&format!("endpoints.{number}")))?;
    }
    check_credentials(etcd)?;
    if etcd.prefix.trim_matches('/').is_empty() {
        return Err(Problem::at("prefix", "it is empty").help("prefix = \"/heddle/balancers\""));
    }
    if etcd.lease.0 < SHORTEST_LEASE {
        return Err(Problem::at("lease", "too short to be kept alive").help("2s or more"));
    }
    Ok(())
}

fn check_endpoint(url: &str, has_ca: bool) -> Result<(), Problem> {
    let (is_tls, host) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(host), _) => (true, host),
        (None, Some(host)) => (false, host),
        (None, None) => (false, ""),
    };
    if host.is_empty() || host.contains('/') {
        let problem = Problem::new(format!("`{url}` is not understood"));
        return Err(problem.help("a URL as in \"https://10.0.0.5:2379\""));
    }
    match (is_tls, has_ca) {
        (true, false) => Err(Problem::new("`https` needs `ca_file`")
            .help("ca_file = \"/etc/heddle/etcd-ca.pem\", with the authority's certificate")),
        (false, true) => Err(Problem::new("`ca_file` is given, and this is not `https`")
            .help(format!("https://{host}"))),
        _ => Ok(()),
    }
}

/// Files and names come in pairs, and a password is not sent in clear.
fn check_credentials(etcd: &raw::Etcd) -> Result<(), Problem> {
    let has = [
        ("certificate_file", etcd.certificate_file.is_some()),
        ("key_file", etcd.key_file.is_some()),
        ("user", etcd.user.is_some()),
        ("password_file", etcd.password_file.is_some()),
    ];
    for pair in has.chunks(2) {
        let [(one, has_one), (other, has_other)] = [pair[0], pair[1]];
        if has_one != has_other {
            let (given, missing) = if has_one { (one, other) } else { (other, one) };
            return Err(Problem::at(given, format!("`{missing}` is missing"))
                .help(format!("give both, or neither: {one}, {other}")));
        }
        if has_one && etcd.ca_file.is_none() {
            return Err(Problem::at(one, "this needs TLS").help("`https` endpoints and `ca_file`"));
        }
    }
    Ok(())
}

pub(super) fn credentials(etcd: &raw::Etcd) -> Credentials {
    let files = etcd.certificate_file.clone().zip(etcd.key_file.clone());
    let user = etcd.user.clone().zip(etcd.password_file.clone());
    Credentials {
        ca_file: etcd.ca_file.clone(),
        certificate: files.map(|(certificate, key)| Files { certificate, key }),
        user: user.map(|(name, password_file)| User { name, password_file }),
    }
}
