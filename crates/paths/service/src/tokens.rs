//! Bearer tokens (RFC 6750): whoever has one of them may use the service.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Fewer characters are guessed too easily.
const SHORTEST: usize = 16;

/// The tokens of a service, of which only digests are kept; without tokens everyone may use it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tokens(Vec<[u8; 32]>);

/// A line of a token file that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is no token.
    #[error("there is no token in it")]
    None,
    /// A token is too short.
    #[error("the token in line {line} is shorter than {SHORTEST} characters")]
    Short {
        /// The line, from 1.
        line: usize,
    },
    /// A token has other characters than RFC 6750 allows.
    #[error("the token in line {line} has other characters than letters, digits and -._~+/=")]
    Characters {
        /// The line, from 1.
        line: usize,
    },
}

/// The reason for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It has no token.
    Missing,
    /// Its token is none of the service's.
    Unknown,
}

impl Refusal {
    /// The explanation.
    pub(crate) const fn detail(self) -> &'static str {
        match self {
            Refusal::Missing => "the request has no bearer token",
            Refusal::Unknown => "the request's bearer token is not one of this service",
        }
    }

    /// Advice to the caller.
    pub(crate) const HELP: &'static str =
        "send the header Authorization: Bearer TOKEN, with a token of the service's operator";
}

impl Tokens {
    /// The tokens of a file, one a line; empty lines and those from # on count for nothing.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn parse(text: &str) -> Result<Tokens, TokenError> {
        let mut tokens = Vec::new();
        for (line, token) in (1..).zip(text.lines().map(str::trim)) {
            if token.is_empty() || token.starts_with('#') {
                continue;
            }
            if token.len() < SHORTEST {
                return Err(TokenError::Short { line });
            }
            if !token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b)) {
                return Err(TokenError::Characters { line });
            }
            tokens.push(Sha256::digest(token).into());
        }
        if tokens.is_empty() { Err(TokenError::None) } else { Ok(Tokens(tokens)) }
    }

    /// True if everyone may use the service.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks the value of an `Authorization` header. Digests are compared, so that the time taken
    /// tells nothing of a token.
    pub(crate) fn check(&self, authorization: Option<&[u8]>) -> Result<(), Refusal> {
        if self.is_open() {
            return Ok(());
        }
        let (scheme, token) =
            authorization.and_then(|value| value.split_at_checked(7)).ok_or(Refusal::Missing)?;
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return Err(Refusal::Missing);
        }
        let digest: [u8; 32] = Sha256::digest(token.trim_ascii()).into();
        if self.0.contains(&digest) { Ok(()) } else { Err(Refusal::Unknown) }
    }
}

/// Omits the digests.
impl fmt::Debug for Tokens {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} tokens", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# of rack 1\nabcdefghijklmnop\n\n  0123456789ABCDEF-._~+/=  \n";

    #[test]
    fn a_request_needs_one_of_the_tokens() {
        let tokens = Tokens::parse(FILE).unwrap();
        let check = |value: &str| tokens.check(Some(value.as_bytes()));
        assert_eq!(check("Bearer abcdefghijklmnop"), Ok(()));
        assert_eq!(check("bearer  0123456789ABCDEF-._~+/="), Ok(()));
        assert_eq!(check("Bearer abcdefghijklmno"), Err(Refusal::Unknown));
        assert_eq!(check("Bearer # of rack 1"), Err(Refusal::Unknown));
        for other in ["Basic YWJjOmRlZg==", "Bearer", ""] {
            assert_eq!(check(other), Err(Refusal::Missing), "{other}");
        }
        assert_eq!(tokens.check(None), Err(Refusal::Missing));
        assert_eq!(format!("{tokens:?}"), "2 tokens");
        assert_eq!(Tokens::default().check(None), Ok(()));
    }

    #[test]
    fn lines_that_are_no_tokens_are_refused() {
        assert_eq!(Tokens::parse("# none\n"), Err(TokenError::None));
        assert_eq!(Tokens::parse("\nshort\n"), Err(TokenError::Short { line: 2 }));
        let spaced = Tokens::parse("two words, sixteen letters");
        assert_eq!(spaced, Err(TokenError::Characters { line: 1 }));
    }
}
