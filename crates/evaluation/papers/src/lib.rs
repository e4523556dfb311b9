//! The evaluations of papers by simulation: HULA's, MP-HULA's and CFLB's, that of Ultra Ethernet's
//! hosts beside another simulator, and studies beyond them.
//!
//! A paper is a type that implements [`heddle_claims::Paper`] and
//! [`heddle_study::paper::SimulatedPaper`]: its points, its claims and the figures of its report
//! are data of its own module. Simulation, verdicts and output are the same for all.

pub mod cflb;
pub mod hula;
pub mod mp_hula;
pub mod studies;
pub mod two_pod;
pub mod uet;
