//! Values of a cell's run in both programs.

use serde::Serialize;

/// Completion times of flows over their ideal ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratios {
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub worst: f64,
}

impl Ratios {
    /// Of some flows; `None` of no flows.
    pub(super) fn of(ratios: &[f64]) -> Option<Ratios> {
        let worst = ratios.iter().copied().reduce(f64::max)?;
        Some(Ratios { mean: ratios.iter().sum::<f64>() / ratios.len() as f64, worst })
    }
}

/// A seed's values in both programs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// The seed.
    pub seed: u64,
    /// Heddle's.
    pub heddle: Ratios,
    /// uet-htsim's.
    pub htsim: Ratios,
}

impl Measured {
    /// Heddle's mean over uet-htsim's.
    pub(super) fn means(&self) -> Option<f64> {
        Some(self.heddle.mean / self.htsim.mean)
    }

    /// Heddle's worst flow over uet-htsim's.
    pub(super) fn worsts(&self) -> Option<f64> {
        Some(self.heddle.worst / self.htsim.worst)
    }
}
