//! `[entropy]`.

use heddle_config::Problem;

use super::times::bounded;
use crate::{Entropy, Fabric, FlowBender, Plb, Reps, Scheme, raw};

/// Most congested rounds that Linux counts.
const MOST_ROUNDS: u8 = 31;

pub(super) fn resolve(
    entropy: &raw::Entropy,
    scheme: &Scheme,
    fabric: &Fabric,
) -> Result<Entropy, Problem> {
    let entropy = parameters(entropy).map_err(|problem| problem.inside("entropy"))?;
    check(&entropy, scheme, fabric).map_err(|problem| problem.inside("entropy.kind"))?;
    Ok(entropy)
}

fn parameters(entropy: &raw::Entropy) -> Result<Entropy, Problem> {
    Ok(match entropy {
        raw::Entropy::Flow => Entropy::Flow,
        raw::Entropy::Spray => Entropy::Spray,
        raw::Entropy::FlowBender(raw) => Entropy::FlowBender(FlowBender {
            threshold: share(raw.threshold)?,
            rounds: rounds("rounds", raw.rounds, 1)?,
        }),
        raw::Entropy::Plb(raw) => Entropy::Plb(Plb {
            threshold: share(raw.threshold)?,
            rehash_rounds: rounds("rehash_rounds", raw.rehash_rounds, 1)?,
            idle_rehash_rounds: rounds("idle_rehash_rounds", raw.idle_rehash_rounds, 0)?,
            suspend: bounded("suspend", raw.suspend)?,
        }),
        raw::Entropy::Reps(raw) => {
            Entropy::Reps(Reps { freeze: bounded("freeze", raw.freeze)?, explore: raw.explore })
        }
    })
}

fn share(threshold: f64) -> Result<f64, Problem> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(threshold);
    }
    Err(Problem::at("threshold", format!("{threshold} is no share of the acknowledgements"))
        .help("above 0, at most 1"))
}

fn rounds(key: &str, rounds: u8, least: u8) -> Result<u8, Problem> {
    if (least..=MOST_ROUNDS).contains(&rounds) {
        return Ok(rounds);
    }
    Err(Problem::at(key, format!("{rounds} round trips cannot be counted"))
        .help(format!("from {least} to {MOST_ROUNDS}")))
}

/// Only ECMP's switches choose by the hash of the packet; all policies but spraying wait for marks.
fn check(entropy: &Entropy, scheme: &Scheme, fabric: &Fabric) -> Result<(), Problem> {
    let name = entropy.name();
    if *entropy == Entropy::Flow {
        return Ok(());
    }
    if *scheme != Scheme::Ecmp {
        let message =
            format!("hosts choose paths by \"{name}\", and switches by \"{}\"", scheme.name());
        return Err(Problem::new(message).help("`scheme = \"ecmp\"`, or `entropy = \"flow\"`"));
    }
    if *entropy != Entropy::Spray && !fabric.marks() {
        return Err(Problem::new(format!("\"{name}\" needs ports that mark")).help(
            "`fabric.mark_above`, as in `mark_above = \"97.5KB\"`, or `transport.control = \"dctcp\"`",
        ));
    }
    Ok(())
}
