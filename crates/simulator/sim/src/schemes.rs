//! Selection of the policy and its parameters from a scenario.

use heddle_policy as policy;
use heddle_policy::Scheme as Policy;
use heddle_policy::cflb::{Codec, CodecError};
use heddle_scenario::{Cflb, Entropy, Scheme};

use crate::progress::SimError;
use crate::random::{Random, Stream};

/// An action that is generic over the scheme.
pub(crate) trait WithScheme {
    type Output;
    fn with<S: Policy>(self, config: S::Config) -> Self::Output;
}

/// Runs the action `then` with the policy of a scenario.
///
/// # Errors
/// CFLB constants that make no codec; the loader of scenarios rejects these. A scheme in a shared
/// library: the engine opens no files.
pub(crate) fn dispatch<W: WithScheme>(
    scheme: &Scheme,
    seed: u64,
    then: W,
) -> Result<W::Output, SimError> {
    Ok(match scheme {
        Scheme::Cflb(cflb) => then.with::<policy::Cflb>(codec(cflb, seed)?),
        Scheme::Ecmp | Scheme::Ideal => then.with::<policy::Ecmp>(()),
        Scheme::EcmpNs2 => then.with::<policy::EcmpNs2>(()),
        Scheme::Hula(config) => then.with::<policy::Hula>(*config),
        Scheme::MpHula(config) => then.with::<policy::MpHula>(*config),
        Scheme::Shuttle(config) => then.with::<policy::Shuttle>(*config),
        Scheme::CongaPrime(config) => then.with::<policy::CongaPrime>(*config),
        Scheme::Conga(config) => then.with::<policy::Conga>(*config),
        Scheme::LetItFlow(config) => then.with::<policy::LetItFlow>(*config),
        Scheme::Drill(config) => then.with::<policy::Drill>(*config),
        Scheme::Flowcut(config) => then.with::<policy::Flowcut>(*config),
        Scheme::Spray => then.with::<policy::Spray>(()),
        Scheme::External(external) => {
            let reason = "its library is to be loaded by the caller, and run by `simulate_with`";
            return Err(SimError::External(format!("{}: {reason}", external.library)));
        }
    })
}

/// CFLB codec of the routers and senders of a run; the key is derived from the seed.
pub(crate) fn codec(cflb: &Cflb, seed: u64) -> Result<Codec, CodecError> {
    let mut random = Random::new(seed, Stream::CflbKey);
    let key: [u8; 16] = std::array::from_fn(|_| random.bits() as u8);
    let config = cflb.constants;
    Codec::new(&config, &key[..config.cipher.key_bytes()])
}

/// The policy by which hosts choose entropy values; `None` if they choose none.
pub(crate) fn entropy_config(entropy: &Entropy) -> Option<policy::entropy::Config> {
    use policy::entropy::Config;
    match *entropy {
        Entropy::Flow => None,
        Entropy::Spray => Some(Config::Spray),
        Entropy::Bitmap => Some(Config::Bitmap),
        Entropy::FlowBender(flowbender) => Some(Config::FlowBender(flowbender)),
        Entropy::Plb(plb) => Some(Config::Plb(plb)),
        Entropy::Reps(reps) => Some(Config::Reps(reps)),
    }
}
