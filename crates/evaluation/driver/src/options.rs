//! Options of an evaluation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use heddle_claims::{Effort, Paper, Profile, UnknownProfile};

/// The name that stands for every profile.
const ALL: &str = "all";

/// Options of an evaluation.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Claims, as in H1 [default: all].
    pub claims: Vec<String>,
    /// One seed, few loads, few flows: within ten minutes on two cores (the default).
    #[arg(long, conflicts_with_all = ["medium", "full"])]
    pub quick: bool,
    /// Five seeds with the loads and flows of --quick: five times as long. Verdicts are those of
    /// the seeds' 95 % interval.
    #[arg(long, conflicts_with = "full")]
    pub medium: bool,
    /// Five seeds, loads from 10 to 90 %, many flows: hours. Verdicts are as with --medium.
    #[arg(long)]
    pub full: bool,
    /// Settings under which the claims are judged, where a paper contradicts itself or leaves much
    /// open: a profile's name, or "all" for each in turn and a table of the claims side by side
    /// (hula: ns2-window, persistent, pool, per-flow, times, ns2-window-one-hash, ns2-defaults;
    /// mp-hula: 8-hosts, text, ns-2) [default: the paper's first].
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Folder for claims.json, claims.md and report.html; finished runs are kept in runs/ below it.
    /// Profiles but the first have a folder below it each [default: results/PAPER].
    #[arg(long)]
    pub out: Option<PathBuf>,
}

impl Options {
    /// The size of the evaluation.
    pub fn effort(&self) -> Effort {
        Effort::of(self.medium, self.full)
    }

    /// The profiles that they name.
    ///
    /// # Errors
    /// If the paper has no profile of that name.
    pub fn profiles<P: Paper>(&self) -> Result<Vec<&'static Profile>, UnknownProfile> {
        match self.profile.as_deref() {
            Some(ALL) => Ok(P::PROFILES.iter().collect()),
            name => Ok(vec![Profile::find(P::PROFILES, name, P::SYSTEM)?]),
        }
    }

    /// The folder of a profile's results: the paper's for the first profile, one below it for
    /// another.
    pub fn folder_of<P: Paper>(&self, profile: &Profile) -> PathBuf {
        let folder = self.folder::<P>();
        let is_first = P::PROFILES.first().is_some_and(|first| first.name == profile.name);
        if is_first { folder } else { folder.join(profile.name) }
    }

    /// The folder of a paper's results.
    pub fn folder<P: Paper>(&self) -> PathBuf {
        let default = || Path::new("results").join(P::SYSTEM.to_lowercase());
        self.out.clone().unwrap_or_else(default)
    }

    /// The options as arguments for another program.
    pub fn arguments(&self) -> Vec<OsString> {
        let flags = [(self.quick, "--quick"), (self.medium, "--medium"), (self.full, "--full")];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.into());
        let out = self.out.iter().flat_map(|out| ["--out".into(), out.into()]);
        let profile = self.profile.iter().flat_map(|name| ["--profile".into(), name.into()]);
        let claims = self.claims.iter().map(OsString::from);
        flags.chain(profile).chain(out).chain(["--".into()]).chain(claims).collect()
    }
}
