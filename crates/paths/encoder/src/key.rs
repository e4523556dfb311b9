//! The secret that all routers and senders of a network share.

use heddle_policy::cflb::Cipher;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::PathEncoderError;

/// The label that the check value covers, before the key.
const LABEL: &[u8] = b"heddle cflb key check 1";

/// The key of a cipher. It is zeroed when dropped, and cannot be printed.
///
/// A [`heddle_policy::cflb::Codec`] made from it holds it expanded, and is not zeroed.
#[derive(Clone)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// From hexadecimal digits, as many as the cipher needs; white space around them is ignored.
    ///
    /// # Errors
    /// [`PathEncoderError::KeyDigit`], [`PathEncoderError::KeyLength`].
    pub fn parse(text: &str, cipher: Cipher) -> Result<Key, PathEncoderError> {
        let text = text.trim();
        if let Some(place) = text.chars().position(|digit| !digit.is_ascii_hexdigit()) {
            return Err(PathEncoderError::KeyDigit { place: place + 1 });
        }
        let needed = 2 * cipher.key_bytes();
        if text.len() != needed {
            return Err(PathEncoderError::KeyLength { needed, given: text.len() });
        }
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
        let pairs = text.as_bytes().chunks_exact(2);
        Ok(Key(Zeroizing::new(pairs.map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())))
    }

    /// The key itself.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The public check value of the key: 8 hexadecimal digits of SHA-256 over a fixed label and
    /// the key.
    pub fn check_value(&self) -> String {
        let digest = Sha256::new().chain_update(LABEL).chain_update(self.bytes()).finalize();
        digest[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Checks that this is the key with a [check value](Key::check_value), upper or lower case.
    ///
    /// # Errors
    /// [`PathEncoderError::WrongKey`].
    pub fn verify(&self, check_value: &str) -> Result<(), PathEncoderError> {
        let (expected, given) = (check_value.trim().to_ascii_lowercase(), self.check_value());
        if expected == given { Ok(()) } else { Err(PathEncoderError::WrongKey { expected, given }) }
    }
}

/// Prints nothing of the key.
impl std::fmt::Debug for Key {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Key(..)")
    }
}
