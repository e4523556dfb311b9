//! The files that a configuration names, opened as the daemon opens them.

use std::error::Error;
use std::path::Path;

use super::{Config, Membership, Secret, SecretError};
use crate::private_file::PrivateFileError;

/// A key whose value is well formed and cannot be used on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The key, dotted.
    pub key: String,
    /// The fault.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
}

impl Flaw {
    /// An error of the key's value, whose text may have a fix behind `help: `.
    pub fn new(key: &str, error: &dyn Error) -> Flaw {
        let text = error.to_string();
        let (message, help) = match text.split_once("\nhelp: ") {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (text, None),
        };
        Flaw { key: key.to_owned(), message, help }
    }

    fn help(self, help: String) -> Flaw {
        Flaw { help: self.help.or(Some(help)), ..self }
    }
}

/// The flaws of all files that a configuration names: secrets, certificates, keys, passwords. For
/// the user that asks: a file of root's alone is none for others.
pub fn file_flaws(config: &Config) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if let Some(steering) = &config.steering {
        let accepted = steering.accepted_secret_file.as_deref();
        let seed = Some(&*steering.seed_file).filter(|seed| *seed != steering.secret_file);
        let secrets = [
            ("steering.secret_file", Some(&*steering.secret_file)),
            ("steering.accepted_secret_files.0", accepted),
            ("steering.seed_file", seed),
        ];
        flaws.extend(secrets.into_iter().filter_map(|(key, path)| secret(key, path?)));
    }
    if let Membership::Etcd(etcd) = &config.membership {
        let found = etcd.credentials.flaws();
        flaws.extend(
            found.iter().map(|(key, error)| Flaw::new(&format!("membership.etcd.{key}"), error)),
        );
    }
    flaws
}

fn secret(key: &str, path: &Path) -> Option<Flaw> {
    let error = Secret::read(path).err()?;
    let flaw = Flaw::new(key, &error);
    Some(match error {
        SecretError::File(PrivateFileError::Unreadable { error, .. })
            if error.kind() == std::io::ErrorKind::NotFound =>
        {
            flaw.help(format!(
                "(umask 077; openssl rand -hex 32 > {}), the same on all balancers",
                path.display()
            ))
        }
        _ => flaw,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn each_file_has_a_flaw_of_its_own_by_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let put = |name: &str, text: &str, mode| {
            fs::write(path(name), text).unwrap();
            fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
        };
        put("secret", "0123456789abcdef", 0o644);
        put("short", "0123", 0o600);
        put("ca", "no certificate", 0o644);
        put("key", "no key", 0o644);
        put("password", "\u{e9}", 0o600);
        let text = format!(
            "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\naddresses = [\"10.0.0.1\"]\n\
             [steering]\nsecret_file = \"{}\"\naccepted_secret_files = [\"{}\"]\nseed_file = \"{}\"\n\
             [membership.etcd]\nendpoints = [\"https://10.0.0.5:2379\"]\nca_file = \"{}\"\n\
             certificate_file = \"{}\"\nkey_file = \"{}\"\nuser = \"lb\"\npassword_file = \"{}\"\n",
            path("secret"),
            path("short"),
            path("missing"),
            path("ca"),
            path("ca"),
            path("key"),
            path("password"),
        );
        let config = crate::config::load("lb.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let flaws = file_flaws(&config);
        let found: Vec<(&str, &str)> = flaws
            .iter()
            .map(|flaw| (&*flaw.key, flaw.help.as_deref().unwrap_or(&flaw.message)))
            .collect();
        let wanted = [
            ("steering.secret_file", "chmod 600"),
            ("steering.accepted_secret_files.0", "openssl rand -hex 32"),
            ("steering.seed_file", "umask 077"),
            ("membership.etcd.ca_file", "no certificate"),
            ("membership.etcd.certificate_file", "no certificate"),
            ("membership.etcd.key_file", "chmod 600"),
        ];
        assert_eq!(found.len(), wanted.len(), "{flaws:?}");
        for ((key, text), (wanted_key, word)) in found.iter().zip(wanted) {
            assert_eq!(*key, wanted_key);
            assert!(text.contains(word), "{key}: {text}");
        }
    }
}
