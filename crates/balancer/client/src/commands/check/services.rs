//! Services that cannot work, or that nobody watches.

use heddled::config::{Config, Service, without_usable_backend};

use heddle_program::output::counted;

use super::finding::Finding;

/// Findings about all services of a configuration.
pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    config.services.iter().enumerate().flat_map(|(number, one)| of_service(number, one)).collect()
}

fn of_service(number: usize, service: &Service) -> Vec<Finding> {
    let name = service.name.as_str();
    let key = |key: &str| format!("service.{number}.{key}");
    let mut found = Vec::new();
    if service.backends_of.is_some() {
        return found; // What is found is the other service's.
    }
    if let Some(fault) = without_usable_backend(service) {
        found.push(Finding::error(name, fault.message).at(key("backend")).fix(fault.help));
    }
    if service.backends.len() > MOST_BACKENDS {
        let message = format!(
            "{} share a hash table of 65537 entries: their shares of new connections are uneven",
            counted(service.backends.len() as u64, "backend")
        );
        found.push(Finding::warning(name, message).at(key("backend")).fix(format!(
            "{MOST_BACKENDS} backends at most, as in several services with an address each"
        )));
    }
    found.extend(scarce_server_ids(service).map(|finding| finding.at(key("quic"))));
    if service.health.is_none() && !service.backends.is_empty() {
        let message = "no health check: a backend that fails keeps its share of new connections";
        let finding = Finding::warning(name, message).at(key("health"));
        found.push(finding.fix("health = { kind = \"tcp\" }"));
    }
    found
}

/// A hundred entries of the table for each backend keep the shares within 1 %.
const MOST_BACKENDS: usize = 655;

/// The share of clients' random connection ids that may name a backend.
const MOST_BY_CHANCE: f64 = 0.001;

/// A warning of server ids that are too short: clients' first connection ids are random, and one
/// that names a backend opens a connection there, also where the backend drains or fails its
/// checks.
fn scarce_server_ids(service: &Service) -> Option<Finding> {
    let ids = service.quic?;
    let by_chance = service.backends.len() as f64 / 8.0 / 256_f64.powi(ids.length().into());
    let message = format!(
        "server ids of {}: one new connection in {:.0} has an id that names a backend by chance, and goes there whatever its weight and state",
        counted(ids.length().into(), "byte"),
        by_chance.recip()
    );
    (by_chance > MOST_BY_CHANCE).then(|| {
        let longer = ids.length() + 1;
        Finding::warning(&service.name, message)
            .fix(format!("quic = {{ server_id_length = {longer} }}, on the servers, too"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    fn found(service: &str) -> Vec<(Severity, String)> {
        let text = format!(
            "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\n[[service]]\nname = \"web\"\naddress = \"192.0.2.10\"\nport = 443\n{service}"
        );
        let config = heddled::config::load("lb.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        findings(&config).into_iter().map(|found| (found.severity, found.message)).collect()
    }

    const CHECKED: &str = "health = { kind = \"tcp\" }\n";
    const BACKEND: &str = "[[service.backend]]\nname = \"be1\"\naddress = \"10.0.0.1\"\n";

    #[test]
    fn a_sound_service_has_none() {
        assert_eq!(found(&format!("{CHECKED}{BACKEND}")), []);
    }

    #[test]
    fn a_service_whose_only_backend_has_weight_0_is_refused() {
        let found = found(&format!("{CHECKED}{BACKEND}weight = 0\n"));
        assert_eq!(found[0].0, Severity::Error);
        assert!(found[0].1.contains("its only backend has weight 0"), "{found:?}");
    }

    #[test]
    fn a_weight_of_0_beside_another_backend_is_fine() {
        let second = BACKEND.replace("be1", "be2").replace("0.1", "0.2");
        assert_eq!(found(&format!("{CHECKED}{BACKEND}weight = 0\n{second}")), []);
    }

    #[test]
    fn few_server_ids_are_a_warning() {
        let quic = |bytes: usize, backends: u8| {
            let backend = |n: u8| {
                let id = format!("{n:02x}").repeat(bytes);
                BACKEND.replace("be1", &format!("be{n}")).replace("0.1", &format!("0.{n}"))
                    + &format!("server_id = \"{id}\"\n")
            };
            let backends: String = (1..=backends).map(backend).collect();
            let health = "health = { kind = \"tcp\", port = 80 }";
            found(&format!(
                "protocol = \"udp\"\nquic = {{ server_id_length = {bytes} }}\n{health}\n{backends}"
            ))
        };
        let [(severity, message)] = &quic(1, 4)[..] else { panic!("{:?}", quic(1, 4)) };
        assert_eq!(*severity, Severity::Warning);
        assert!(message.contains("one new connection in 512 "), "{message}");
        assert_eq!(quic(1, 2), []);
        assert_eq!(quic(2, 200), []);
    }

    #[test]
    fn more_backends_than_the_hash_table_spreads_evenly_are_a_warning() {
        let backends = |count: usize| -> String {
            let backend = |n: usize| {
                let name = BACKEND.replace("be1", &format!("be{n}"));
                name.replace("0.0.1", &format!("0.{}.{}", n / 250, n % 250 + 1))
            };
            (0..count).map(backend).collect()
        };
        assert_eq!(found(&format!("{CHECKED}{}", backends(655))), []);
        let many = found(&format!("{CHECKED}{}", backends(656)));
        let told = "656 backends share a hash table of 65537 entries";
        assert!(many[0].0 == Severity::Warning && many[0].1.starts_with(told), "{many:?}");
    }

    #[test]
    fn a_service_without_health_check_is_a_warning() {
        assert_eq!(found(BACKEND)[0].0, Severity::Warning);
        assert_eq!(found("")[0].0, Severity::Error, "no backend");
    }
}
