//! A configuration with all of its mistakes.

use heddle_config::{ConfigError, Document};

use super::{Config, raw, resolve};

/// A configuration that may have mistakes.
pub struct Examined {
    /// The configuration without the mistakes; none if too little is left.
    pub sound: Option<Config>,
    /// All mistakes, in the order of their lines.
    pub mistakes: Vec<ConfigError>,
    /// False: there may be more, which cannot be told before these are corrected.
    pub complete: bool,
    document: Option<Document>,
}

impl Examined {
    /// The line of a key, dotted, or of the nearest table around it.
    pub fn line(&self, key: &str) -> Option<usize> {
        let problem = heddle_config::Problem::at(key, "");
        self.document.as_ref()?.locate(problem).line()
    }

    /// True if a key, or what it is in, has a mistake.
    pub fn is_mistaken(&self, key: &str) -> bool {
        self.mistakes.iter().any(|mistake| {
            let (one, other) = (mistake.key(), key);
            let within = |inner: &str, outer: &str| {
                inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            within(one, other) || within(other, one)
        })
    }
}

/// Parses, checks and resolves a configuration, and finds all of its mistakes; `name` is the file's,
/// for messages.
pub fn examine(name: &str, text: &str) -> Examined {
    let parse = || Document::parse(name, text);
    let (Ok(document), again) = (parse(), parse()) else {
        let mistakes = parse().err().into_iter().collect();
        return Examined { sound: None, mistakes, complete: false, document: None };
    };
    let listed = document.text("balancers.0.name").unwrap_or("lb1");
    let own = toml_text(listed);
    let fallbacks = [
        ("balancer", "{ name = \"lb1\", interfaces = [\"lo\"] }"),
        ("balancer.name", &*own),
        ("balancer.interfaces", "[\"lo\"]"),
        ("steering.secret_file", "\"/\""),
        ("service.*.port", "1"),
    ];
    let examined = document.examine(&fallbacks, |file: &raw::File| resolve::resolve(file));
    let heddle_config::Examined { sound, mistakes, complete } = examined;
    Examined { sound, mistakes, complete, document: again.ok() }
}

/// A text in TOML's quotes.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.escape_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[balancer]
name = "lb9"
interfaces = ["eth0", "eth0"]
metrics = "10.0.0.1"

[timeouts]
refresh = "1h"

[[balancers]]
name = "lb1"
address = "10.0.0.11"

[[balancers]]
name = "lb2"
address = "10.0.0.12"
id = 0

[[service]]
name = "web"
adress = "192.0.2.10"
port = 443
health = { kind = "tcp", interval = "1s", timeout = "2s" }
[[service.backend]]
name = "be1"
address = "10.0.0.300"
[[service.backend]]
name = "be2"
address = "10.0.0.102"
weight = 100000

[[service]]
name = "web"
address = "192.0.2.11"
port = 0
"#;

    #[test]
    fn all_mistakes_are_told_at_once_each_with_its_line() {
        let examined = examine("lb.toml", TEXT);
        let place = |mistake: &ConfigError| (mistake.line().unwrap_or(0), mistake.key().to_owned());
        let found: Vec<_> = examined.mistakes.iter().map(place).collect();
        let wanted = [
            (2, "balancer.name"),
            (3, "balancer.interfaces.1"),
            (4, "balancer.metrics"),
            (7, "timeouts.refresh"),
            (9, "balancers"), // no [steering]
            (16, "balancers.1.id"),
            (20, "service.0.adress"),
            (22, "service.0.health.timeout"),
            (25, "service.0.backend.0.address"),
            (29, "service.0.backend.1.weight"),
            (32, "service.1.name"),
            (34, "service.1.port"),
        ];
        for (line, key) in wanted {
            assert!(found.contains(&(line, key.to_owned())), "{line}: {key}\n{found:#?}");
        }
        assert_eq!(found.len(), wanted.len(), "{found:#?}");
        assert!(examined.complete && examined.sound.is_some());
        assert_eq!(examined.line("service.1.port"), Some(34));
        assert!(
            examined.is_mistaken("balancer.interfaces") && !examined.is_mistaken("balancer.pin")
        );
    }

    #[test]
    fn what_is_no_toml_has_one_mistake() {
        let examined = examine("lb.toml", "[balancer\nname = 1");
        assert_eq!((examined.mistakes.len(), examined.complete), (1, false));
        assert_eq!(examined.mistakes[0].line(), Some(1));
    }
}
