//! TLS 1.2 and 1.3 on accepted connections.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error as RustlsError, ServerConfig};

/// The time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// PEM files of the service's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and behind it those between it and its authority.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
}

/// An error of [`TlsFiles`].
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or holds nothing of its kind.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: PemError,
    },
    /// The key is not the certificate's, or of a kind that TLS does not have.
    #[error("the certificate and the key: {0}")]
    Pair(#[from] RustlsError),
}

/// A connection, with TLS or without.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Makes connections secure, or leaves them as they are.
#[derive(Clone)]
pub(crate) struct Security(Option<TlsAcceptor>);

impl Security {
    /// TLS with the certificate of some files, that negotiates `protocol` (ALPN); none without
    /// files.
    pub(crate) fn new(files: Option<&TlsFiles>, protocol: &str) -> Result<Security, TlsError> {
        let Some(TlsFiles { certificate, key }) = files else { return Ok(Security(None)) };
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| TlsError::File { path, error }
        };
        let chain: Result<Vec<_>, PemError> =
            CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
        let chain = chain.map_err(at(certificate))?;
        if chain.is_empty() {
            return Err(at(certificate)(PemError::NoItemsFound));
        }
        let private = PrivateKeyDer::from_pem_file(key).map_err(at(key))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, private)?;
        config.alpn_protocols = vec![protocol.into()];
        Ok(Security(Some(TlsAcceptor::from(Arc::new(config)))))
    }

    /// The connection behind its handshake.
    ///
    /// # Errors
    /// The client speaks no TLS, does not trust the certificate, or takes too long.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Socket>> {
        let Some(acceptor) = &self.0 else { return Ok(Box::new(stream)) };
        let shaken = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
        Ok(Box::new(shaken.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??))
    }
}
