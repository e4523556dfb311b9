//! Claims of papers, judged by evidence.
//!
//! A [`Claim`] is a sentence of a paper with a number in it, and the measurement that tests it. A
//! [`Finding`] has the measured value beside the paper's, and a [`Verdict`] by one rule for all
//! ([`Bound::judge`]). A [`Paper`] is a set of claims with the experiments behind them, be they
//! simulations or programs. This crate runs none itself and knows none.
//!
//! ```
//! use heddle_claims::{Bound, Claim, Measure, Verdict, stated};
//!
//! /// Mean completion times by seed, in seconds: ECMP's over HULA's.
//! struct Speedup;
//!
//! impl Measure for Speedup {
//!     type Evidence = Vec<(f64, f64)>;
//!
//!     fn values(&self, evidence: &Vec<(f64, f64)>) -> Vec<f64> {
//!         evidence.iter().map(|(ecmp, hula)| ecmp / hula).collect()
//!     }
//! }
//!
//! let bound = stated(Bound::About, 3.7, "x");
//! let claim = Claim::new("H1", "Fig. 5a, 70 %", "mean FCT of ECMP over HULA", bound, Speedup);
//! let finding = claim.find(&vec![(0.012, 0.004), (0.018, 0.005), (0.0132, 0.004)]);
//! assert_eq!(finding.verdict, Verdict::Agrees);
//! let row = "| H1 | mean FCT of ECMP over HULA | Fig. 5a, 70 % | 3.70x | median 3.30x (3.00 to 3.60) | agrees |";
//! assert!(heddle_claims::table::markdown(&[finding]).contains(row));
//! ```

mod bound;
mod claim;
mod effort;
#[cfg(test)]
mod figures;
pub mod files;
pub mod interval;
mod monitor;
mod origin;
mod paper;
mod profile;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod rivals;
pub mod stats;
pub mod table;

pub use bound::{Bound, Verdict};
pub use claim::{Claim, Finding, Measure, Stated, stated};
pub use effort::Effort;
pub use monitor::{Monitor, Progress, Unattended};
pub use origin::Origin;
pub use paper::{Evidence, Extent, Paper, Request, UnknownClaim, possessive, report};
pub use profile::{Basis, Profile, Setting, UnknownProfile};
