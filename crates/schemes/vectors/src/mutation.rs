//! Configurations that are wrong by one: a port that reads a parameter in this way must fail a
//! trace.

use crate::config::SwitchInfo;
use crate::schemes::Config;

/// A switch with one parameter wrong.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The mistake.
    pub name: &'static str,
    /// The switch.
    pub switch: SwitchInfo,
    /// Its configuration.
    pub config: Config,
}

/// The mistakes that are possible with a configuration.
pub fn mutations(switch: &SwitchInfo, config: &Config) -> Vec<Mutation> {
    let mistakes = config.traced().mistakes().into_iter();
    let wrong = |(name, config)| Mutation { name, switch: switch.clone(), config };
    let mut all: Vec<Mutation> = mistakes.map(wrong).collect();
    let reads = config.traced().reads();
    let mut other = |name, switch| all.push(Mutation { name, switch, config: config.clone() });
    if reads.tor {
        let tor = switch.tor.xor(Some(0));
        other(
            "a ToR taken for another switch, or the reverse",
            SwitchInfo { tor, ..switch.clone() },
        );
    }
    if reads.salt {
        other("another salt", SwitchInfo { salt: switch.salt ^ 1, ..switch.clone() });
    }
    all
}
