//! Switches in a trace, and the parameters that no policy has.

use heddle_policy::Tor;
use heddle_policy::cflb::{CflbConfig, Cipher, Codec, CodecError, Field, Rules};
use serde::{Deserialize, Serialize};

use crate::input::hex_bytes;

/// The switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchInfo {
    /// Salt of its hashes; the router's number for CFLB.
    pub salt: u32,
    /// Its number if it is a ToR.
    pub tor: Option<u16>,
    /// Number of ports, at most 64.
    pub ports: u16,
    /// Number of ToRs in the fabric.
    pub tors: u16,
}

/// ECMP has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcmpConfig {}

/// CFLB's network-wide constants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CflbConstants {
    /// Controllable fields.
    pub field: Field,
    /// F.
    pub cipher: Cipher,
    /// B.
    pub radix: u16,
    /// Rules of selectors.
    pub rules: Rules,
    /// Key in hex: 16 bytes, for Skip32 10.
    #[serde(with = "hex_bytes")]
    pub key: Vec<u8>,
}

/// Parameters of the utilisation estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DreConfig {
    /// Tau is 2^shift nanoseconds.
    pub shift: u32,
    /// Bytes that the link carries in tau.
    pub full: u64,
}

impl SwitchInfo {
    /// As the policy has it.
    pub fn policy(&self) -> heddle_policy::SwitchInfo {
        heddle_policy::SwitchInfo {
            salt: self.salt,
            tor: self.tor.map(Tor),
            ports: self.ports,
            tors: self.tors,
            same_pod: Vec::new(),
        }
    }
}

impl CflbConstants {
    /// The constants without the key.
    pub fn config(&self) -> CflbConfig {
        let CflbConstants { field, cipher, radix, rules, .. } = *self;
        CflbConfig { field, cipher, radix, rules }
    }

    /// As the policy has it.
    ///
    /// # Errors
    /// Those of [`Codec::new`].
    pub fn policy(&self) -> Result<Codec, CodecError> {
        Codec::new(&self.config(), &self.key)
    }
}
