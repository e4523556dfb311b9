//! `[entropy]`.

use heddle_config::Problem;

use super::times::bounded;
use crate::{Entropy, Fabric, Scheme};

/// Most congested rounds that Linux counts.
const MOST_ROUNDS: u8 = 31;

pub(super) fn resolve(
    entropy: Entropy,
    scheme: &Scheme,
    fabric: &Fabric,
) -> Result<Entropy, Problem> {
    check_parameters(&entropy).map_err(|problem| problem.inside("entropy"))?;
    check(&entropy, scheme, fabric).map_err(|problem| problem.inside("entropy.kind"))?;
    Ok(entropy)
}

fn check_parameters(entropy: &Entropy) -> Result<(), Problem> {
    match entropy {
        Entropy::Flow | Entropy::Spray | Entropy::Bitmap => Ok(()),
        Entropy::FlowBender(flowbender) => {
            check_share(flowbender.threshold)?;
            check_rounds("rounds", flowbender.rounds, 1)
        }
        Entropy::Plb(plb) => {
            check_share(plb.threshold)?;
            check_rounds("rehash_rounds", plb.rehash_rounds, 1)?;
            check_rounds("idle_rehash_rounds", plb.idle_rehash_rounds, 0)?;
            bounded("suspend", plb.suspend).map(drop)
        }
        Entropy::Reps(reps) => bounded("freeze", reps.freeze).map(drop),
    }
}

fn check_share(threshold: f64) -> Result<(), Problem> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    Err(Problem::at("threshold", format!("{threshold} is no share of the acknowledgements"))
        .help("above 0, at most 1"))
}

fn check_rounds(key: &str, rounds: u8, least: u8) -> Result<(), Problem> {
    if (least..=MOST_ROUNDS).contains(&rounds) {
        return Ok(());
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
