//! The secret that the balancers of a cluster share.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::private_file::{self, PrivateFileError};

/// Bytes of a secret at least; `openssl rand -hex 32` writes 64.
const MIN_BYTES: usize = 16;
const MAX_BYTES: u64 = 4096;

/// The secret of a cluster, read from a file of its own. Wiped from memory when dropped; never
/// shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

/// The reasons why a secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// Too short.
    #[error("the secret {} has {bytes} bytes; 16 or more are needed\nhelp: openssl rand -hex 32 > {}", path.display(), path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length without spaces around it.
        bytes: usize,
    },
}

impl Secret {
    /// Reads a secret. Spaces and ends of lines around it do not count.
    ///
    /// # Errors
    /// See [`SecretError`].
    pub fn read(path: &Path) -> Result<Secret, SecretError> {
        let bytes = private_file::read(path, MAX_BYTES)?;
        let secret = Secret(Zeroizing::new(bytes.trim_ascii().to_vec()));
        match secret.0.len() {
            length if length >= MIN_BYTES => Ok(secret),
            bytes => Err(SecretError::Length { path: path.to_owned(), bytes }),
        }
    }

    /// The key of the tags that authenticate steering headers between balancers
    /// (`settings.steering_keys`).
    pub fn steering_key(&self) -> [u64; 2] {
        self.derive(b"heddle steering key")
    }

    /// The seed of the hashes that all balancers agree on (`settings.maglev_seed`).
    pub fn maglev_seed(&self) -> u64 {
        self.derive(b"heddle maglev seed")[0]
    }

    /// SHA-256 of purpose and secret: one use does not tell of another.
    fn derive(&self, purpose: &[u8]) -> [u64; 2] {
        let digest = Sha256::new().chain_update(purpose).chain_update([0]).chain_update(&*self.0);
        let digest = digest.finalize();
        let number = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
        [number(&digest[..8]), number(&digest[8..16])]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn written(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_secret_is_its_owners_alone() {
        let (_folder, path) = written("0123456789abcdef\n", 0o640);
        let error = Secret::read(&path).unwrap_err().to_string();
        assert!(error.contains("mode 640") && error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_secret_is_long_enough_and_never_shown() {
        let (_folder, path) = written(" short \n", 0o600);
        assert!(matches!(Secret::read(&path), Err(SecretError::Length { bytes: 5, .. })));
        let (_folder, path) = written("0123456789abcdef\n", 0o600);
        let secret = Secret::read(&path).unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_ne!(secret.steering_key()[0], secret.maglev_seed());
    }

    /// printf 'heddle steering key\0000123456789abcdef' | sha256sum
    #[test]
    fn a_key_is_the_head_of_a_sha_256() {
        let (_folder, path) = written("0123456789abcdef\n", 0o400);
        let key = Secret::read(&path).unwrap().steering_key();
        assert_eq!(key, [0x3c65_49a8_6b18_6900, 0x6b4d_f58a_529b_fd5f]);
    }
}
