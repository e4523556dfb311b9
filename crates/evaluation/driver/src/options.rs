//! Options of an evaluation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use heddle_claims::{Effort, Paper};

/// Options of an evaluation.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Claims, as in H1 [default: all].
    pub claims: Vec<String>,
    /// One seed, few loads, few flows: within ten minutes on two cores (the default).
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// The paper's three seeds and loads from 10 to 90 %: hours.
    #[arg(long)]
    pub full: bool,
    /// Folder for claims.json, claims.md and report.html; finished runs are kept in runs/ below it [default: results/PAPER].
    #[arg(long)]
    pub out: Option<PathBuf>,
}

impl Options {
    /// The size of the evaluation.
    pub fn effort(&self) -> Effort {
        if self.full { Effort::Full } else { Effort::Quick }
    }

    /// The folder of a paper's results.
    pub fn folder<P: Paper>(&self) -> PathBuf {
        let default = || Path::new("results").join(P::SYSTEM.to_lowercase());
        self.out.clone().unwrap_or_else(default)
    }

    /// The options as arguments for another program.
    pub fn arguments(&self) -> Vec<OsString> {
        let flags = [(self.quick, "--quick"), (self.full, "--full")];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.into());
        let out = self.out.iter().flat_map(|out| ["--out".into(), out.into()]);
        let claims = self.claims.iter().map(OsString::from);
        flags.chain(out).chain(["--".into()]).chain(claims).collect()
    }
}
