//! A configuration with all of its mistakes.

use heddle_config::{ConfigError, Document, Gone};

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
    gone: Gone,
}

/// The mistakes of a configuration: one at least.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ConfigError::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Mistakes(pub Vec<ConfigError>);

impl Examined {
    /// The configuration, if it has no mistakes.
    ///
    /// # Errors
    /// All mistakes that were found.
    pub fn into_config(self) -> Result<Config, Mistakes> {
        match self.sound {
            Some(config) if self.mistakes.is_empty() => Ok(config),
            _ => Err(Mistakes(self.mistakes)),
        }
    }

    /// The key in the file of a key of [`Examined::sound`], whose lists may be shorter.
    pub fn key_in_file(&self, key: &str) -> String {
        self.gone.key_in_file(key)
    }

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
        let (document, gone) = (None, Gone::default());
        return Examined { sound: None, mistakes, complete: false, document, gone };
    };
    let listed = document.text("balancers.0.name").unwrap_or("lb1");
    let name = toml_text(listed);
    let fallbacks = [
        ("balancer", "{ name = \"lb1\", interfaces = [\"lo\"] }"),
        ("balancer.name", &*name),
        ("balancer.interfaces", "[\"lo\"]"),
        ("steering.secret_file", "\"/\""),
        ("service.*.name", "\"service *\""),
        ("service.*.port", "1"),
        ("service.*.backend.*.name", "\"backend *\""),
    ];
    let examined = document.examine(&fallbacks, |file: &raw::File| resolve::resolve(file));
    let heddle_config::Examined { sound, mistakes, complete, gone } = examined;
    Examined { sound, mistakes, complete, document: again.ok(), gone }
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
        let Mistakes(all) = examine("lb.toml", TEXT).into_config().unwrap_err();
        assert_eq!(all, examined.mistakes);
        assert!(
            examined.is_mistaken("balancer.interfaces") && !examined.is_mistaken("balancer.pin")
        );
    }

    const GOOD: &str = "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\n";

    /// The keys of all mistakes.
    fn mistaken(text: &str) -> Vec<String> {
        let examined = examine("lb.toml", text);
        examined.mistakes.iter().map(|mistake| mistake.key().to_owned()).collect()
    }

    fn service(name: &str, keys: &str) -> String {
        format!("[[service]]\nname = \"{name}\"\naddress = \"192.0.2.10\"\n{keys}\n")
    }

    #[test]
    fn a_wrong_name_hides_nothing_of_what_has_it() {
        let backend = "[[service.backend]]\nname = \"\"\naddress = \"10.0.0.1\"\nweight = 5000\n";
        let wrong = service("", &format!("port = 0\n{backend}"));
        let other = service("\\u001b", "slow_start = \"2h\"\nport = 81");
        let wanted = [
            "service.0.name",
            "service.0.port",
            "service.0.backend.0.name",
            "service.0.backend.0.weight",
            "service.1.name",
            "service.1.slow_start",
        ];
        assert_eq!(mistaken(&format!("{GOOD}{wrong}{other}")), wanted);
    }

    #[test]
    fn a_missing_port_hides_nothing_of_its_service() {
        let wrong = service("web", "slow_start = \"2h\"");
        assert_eq!(mistaken(&format!("{GOOD}{wrong}")), ["service.0.port", "service.0.slow_start"]);
    }

    #[test]
    fn what_a_mistake_makes_of_other_keys_is_no_mistake_of_its_own() {
        let tcp = service("web", "port = 443");
        let wrong = service("quic", "port = 443\nprotocol = \"ospf\"");
        assert_eq!(mistaken(&format!("{GOOD}{tcp}{wrong}")), ["service.1.protocol"]);
        assert_eq!(mistaken(&format!("{GOOD}{wrong}{tcp}")), ["service.0.protocol"]);
        let wrong = tcp.replace("192.0.2.10", "192.0.2.300");
        let with_its = service("alt", "port = 444\nbackends_of = \"web\"");
        assert_eq!(mistaken(&format!("{GOOD}{wrong}{with_its}")), ["service.0.address"]);
        let no_interface = GOOD.replace("eth0", "eth 0");
        assert_eq!(mistaken(&no_interface), ["balancer.interfaces.0"]);
    }

    #[test]
    fn keys_of_what_is_left_are_found_in_the_file() {
        let wrong = service("web", "port = 443").replace("192.0.2.10", "192.0.2.300");
        let examined = examine("lb.toml", &format!("{GOOD}{wrong}{}", service("b", "port = 1")));
        assert_eq!(examined.sound.as_ref().map(|sound| sound.services.len()), Some(1));
        assert_eq!(examined.key_in_file("service.0.port"), "service.1.port");
        assert_eq!(examined.key_in_file("balancer.interfaces.0"), "balancer.interfaces.0");
    }

    #[test]
    fn what_is_no_toml_has_one_mistake() {
        let examined = examine("lb.toml", "[balancer\nname = 1");
        assert_eq!((examined.mistakes.len(), examined.complete), (1, false));
        assert_eq!(examined.mistakes[0].line(), Some(1));
    }
}
