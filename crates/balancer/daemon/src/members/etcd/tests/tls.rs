//! TLS and authentication, against the real etcd.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair,
};
use tempfile::TempDir;

use super::*;

/// An authority that signs certificates.
struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "heddle test authority");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    fn write(&self, directory: &Path, name: &str) -> PathBuf {
        write(directory, &format!("{name}.pem"), &self.certificate.pem(), 0o644)
    }

    /// A certificate for 127.0.0.1 and its key.
    fn sign(&self, directory: &Path, name: &str) -> Files {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Files {
            certificate: write(directory, &format!("{name}.pem"), &certificate.pem(), 0o644),
            key: write(directory, &format!("{name}.key"), &key.serialize_pem(), 0o600),
        }
    }
}

fn write(directory: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

/// An etcd that wants client certificates, with the user `lb`, who has the password `open sesame`
/// and may write below `heddle/lb/`.
struct SecureEtcd {
    _etcd: Etcd,
    store: Store,
    directory: TempDir,
}

impl SecureEtcd {
    #[track_caller]
    fn start() -> Option<SecureEtcd> {
        let (directory, authority) = (tempfile::tempdir().unwrap(), Authority::new());
        let folder = directory.path();
        let ca_file = authority.write(folder, "ca");
        let server = authority.sign(folder, "server");
        let client = authority.sign(folder, "client");
        let files = [
            ("--cert-file", &server.certificate),
            ("--key-file", &server.key),
            ("--trusted-ca-file", &ca_file),
        ];
        let files = files.into_iter().flat_map(|(name, path)| [name.into(), path.into()]);
        // Tokens expire while the test runs.
        let more = ["--client-cert-auth", "--auth-token-ttl", "2"].map(OsString::from);
        let etcd = Etcd::start_with("https", files.chain(more).collect())?;
        let password_file = write(folder, "password", "open sesame\n", 0o600);
        let credentials = Credentials {
            ca_file: Some(ca_file),
            certificate: Some(client),
            user: Some(User { name: "lb".into(), password_file }),
        };
        // A login takes long where processors are busy.
        let store = Store { credentials, time_to_live: Duration::from_secs(6), ..etcd.store() };
        let secure = SecureEtcd { _etcd: etcd, store, directory };
        secure.enable_authentication();
        Some(secure)
    }

    fn enable_authentication(&self) {
        for arguments in [
            "user add root:secret",
            "user grant-role root root",
            "role add balancer",
            "role grant-permission balancer --prefix=true readwrite heddle/lb/",
            "user add lb --new-user-password OPEN",
            "user grant-role lb balancer",
            "auth enable",
        ] {
            self.etcdctl(arguments);
        }
    }

    /// etcd may still be starting.
    fn etcdctl(&self, arguments: &str) {
        let Files { certificate, key } = self.store.credentials.certificate.as_ref().unwrap();
        let words = arguments.split(' ').map(|word| word.replace("OPEN", "open sesame"));
        let words: Vec<String> = words.collect();
        let deadline = std::time::Instant::now() + LONG;
        loop {
            let mut command = Command::new("etcdctl");
            command.env("ETCDCTL_API", "3").args(["--endpoints", &self.store.endpoints[0]]);
            command.arg("--cacert").arg(self.store.credentials.ca_file.as_ref().unwrap());
            command.arg("--cert").arg(certificate).arg("--key").arg(key).args(&words);
            let run = command.output().expect("install Debian's package etcd-client");
            if run.status.success()
                || String::from_utf8_lossy(&run.stderr).contains("already exists")
            {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{arguments}: {run:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        write(self.directory.path(), name, text, mode)
    }

    /// The error of a session that begins with other credentials.
    async fn refusal(&self, change: impl FnOnce(&mut Credentials)) -> String {
        let mut store = Store { time_to_live: Duration::from_secs(20), ..self.store.clone() };
        change(&mut store.credentials);
        let known = View::default();
        let joining = member(1);
        let begun = Session::begin(&joining, &store, &store.endpoints[0], &known);
        let begun = timeout(LONG, begun).await;
        match begun.unwrap() {
            Ok(_) => panic!("the session began"),
            Err(error) => error.to_string(),
        }
    }
}

/// They stay members for longer than the token that they got at first is good for.
#[tokio::test]
async fn members_join_and_stop_with_tls_and_authentication() {
    let Some(etcd) = SecureEtcd::start() else { return };
    let mut one = balancer(1, etcd.store.clone());
    let mut two = balancer(2, etcd.store.clone());
    one.sees(&[1, 2], Source::Current).await;
    two.sees(&[1, 2], Source::Current).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    one.sees(&[1, 2], Source::Current).await;
    two.stop().await;
    one.sees_lapsed(&[1], &[2], Source::Current).await;
}

#[tokio::test]
async fn each_wrong_credential_has_its_error() {
    let Some(etcd) = SecureEtcd::start() else { return };
    let wrong = etcd.file("wrong", "open barley", 0o600);
    let error = etcd.refusal(|to| to.user.as_mut().unwrap().password_file = wrong).await;
    assert!(error.contains("authentication failed"), "{error}");
    assert!(!error.contains("barley"), "{error}");

    // Without a user, etcd takes the certificate's common name for one.
    let error = etcd.refusal(|to| to.user = None).await;
    assert!(error.contains("permission denied"), "{error}");

    let other = Authority::new().write(etcd.directory.path(), "other");
    let error = etcd.refusal(|to| to.ca_file = Some(other)).await;
    assert!(error.contains("invalid peer certificate"), "{error}");

    let stranger = Authority::new().sign(etcd.directory.path(), "stranger");
    let error = etcd.refusal(|to| to.certificate = Some(stranger)).await;
    assert_ne!(error, StoreError::Timeout.to_string());

    let error = etcd.refusal(|to| to.certificate = None).await;
    assert_ne!(error, StoreError::Timeout.to_string());

    let open = etcd.file("open", "open sesame", 0o644);
    let error = etcd.refusal(|to| to.user.as_mut().unwrap().password_file = open).await;
    assert!(error.contains("mode 644") && error.contains("chmod 600"), "{error}");

    let error = etcd.refusal(|to| to.ca_file = Some("/nonexistent/ca.pem".into())).await;
    assert!(error.starts_with("cannot read /nonexistent/ca.pem"), "{error}");
}
