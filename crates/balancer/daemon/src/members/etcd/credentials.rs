//! TLS and authentication with etcd, from files that are read at the beginning of each session: a
//! renewed certificate or password needs no restart.

use std::path::{Path, PathBuf};
use std::{fs, io};

use etcd_client::ConnectOptions;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use zeroize::Zeroizing;

use crate::private_file::{self, PrivateFileError};

/// The most bytes of a private key or a password.
const MOST_BYTES: u64 = 64 << 10;

/// The proofs by which balancer and etcd know each other. Endpoints begin with `https://` if and
/// only if there is a `ca_file`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Certificates (PEM) of the authorities that may sign etcd's.
    pub ca_file: Option<PathBuf>,
    /// This balancer's certificate.
    pub certificate: Option<Files>,
    /// The user that this balancer is in etcd.
    pub user: Option<User>,
}

/// A client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate, and those that lead from it to its authority (PEM).
    pub certificate: PathBuf,
    /// Its private key (PEM), which only its owner may read.
    pub key: PathBuf,
}

/// A user of etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// A file with the password, which only its owner may read. Spaces and line ends around it do
    /// not count.
    pub password_file: PathBuf,
}

/// Files that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A private key or a password.
    #[error(transparent)]
    Private(#[from] PrivateFileError),
    /// A certificate.
    #[error("cannot read {}: {error}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file has no certificate.
    #[error("there is no certificate (PEM) in {}", .0.display())]
    NoCertificate(PathBuf),
    /// The password is not UTF-8.
    #[error("the password in {} is not UTF-8", .0.display())]
    Password(PathBuf),
}

impl Credentials {
    /// The settings of TLS; none without TLS.
    pub(super) fn tls(&self) -> Result<Option<ClientTlsConfig>, CredentialsError> {
        let Some(ca_file) = &self.ca_file else { return Ok(None) };
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca_file)?));
        if let Some(Files { certificate, key }) = &self.certificate {
            let key = private_file::read(key, MOST_BYTES)?;
            tls = tls.identity(Identity::from_pem(read(certificate)?, key.as_slice()));
        }
        Ok(Some(tls))
    }

    /// The files that cannot be used, by key.
    pub(crate) fn flaws(&self) -> Vec<(&'static str, CredentialsError)> {
        let certificate = self.certificate.as_ref();
        let found = [
            ("ca_file", self.ca_file.as_deref().and_then(|path| certificates(path).err())),
            (
                "certificate_file",
                certificate.and_then(|files| certificates(&files.certificate).err()),
            ),
            (
                "key_file",
                certificate
                    .and_then(|files| private_file::read(&files.key, MOST_BYTES).err())
                    .map(CredentialsError::from),
            ),
            ("password_file", self.options().err()),
        ];
        found.into_iter().filter_map(|(key, error)| Some((key, error?))).collect()
    }

    /// The user and the password; tokens that expire are renewed.
    pub(super) fn options(&self) -> Result<ConnectOptions, CredentialsError> {
        let options = ConnectOptions::new();
        let Some(User { name, password_file }) = &self.user else { return Ok(options) };
        let bytes = private_file::read(password_file, MOST_BYTES)?;
        let password = std::str::from_utf8(bytes.trim_ascii());
        let password = password.map_err(|_| CredentialsError::Password(password_file.clone()))?;
        let password = Zeroizing::new(password.to_owned());
        Ok(options.with_user(name, password.as_str()).with_auto_token_refresh(true))
    }
}

/// A file with certificates (PEM).
fn certificates(path: &Path) -> Result<(), CredentialsError> {
    let text = read(path)?;
    let marker = b"-----BEGIN CERTIFICATE-----";
    match text.windows(marker.len()).any(|bytes| bytes == marker) {
        true => Ok(()),
        false => Err(CredentialsError::NoCertificate(path.to_owned())),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CredentialsError> {
    fs::read(path).map_err(|error| CredentialsError::Certificate { path: path.to_owned(), error })
}
