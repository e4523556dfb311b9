//! The papers' claims, judged by simulations.

use std::fmt::Write as _;
use std::path::PathBuf;

use heddle_claims::table::cells;
use heddle_claims::{Effort, Finding, Monitor, Profile, Request};
use heddle_papers::cflb::Cflb;
use heddle_papers::hula::Hula;
use heddle_papers::mp_hula::MpHula;
use heddle_papers::uet::Uet;
use heddle_study::paper::SimulatedPaper;
use heddle_study::sweep::csv_fields;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{HeddleError, Interrupted};
use crate::table::Table;
use crate::watch::Watch;

/// The papers whose claims simulations judge.
const PAPERS: &str = "\"hula\", \"mp-hula\", \"cflb\" or \"uet\"";

/// The columns of the claims' table: the paper's value and the mean here have one unit;
/// `half_width` is that of the 95 % confidence interval over the seeds.
const COLUMNS: &str = "claim,source,text,paper,here,half_width,unit,verdict,remark";

/// A row for each claim. The effort is "quick", "medium" or "full". Ids choose some of them; all if
/// there are none. Runs are kept in `runs/` below the folder, as by `heddle reproduce`.
#[pyfunction]
pub(crate) fn reproduce(
    py: Python<'_>,
    paper: &str,
    ids: Vec<String>,
    effort: &str,
    profile: Option<&str>,
    folder: PathBuf,
    watch: &Watch,
) -> PyResult<Table> {
    let effort = match effort {
        "quick" => Effort::Quick,
        "medium" => Effort::Medium,
        "full" => Effort::Full,
        other => return Err(PyValueError::new_err(format!("there is no effort {other:?}"))),
    };
    let asked = Asked { ids, effort, profile, folder };
    let findings = py.detach(|| match paper {
        "hula" => asked.judge::<Hula>(watch),
        "mp-hula" => asked.judge::<MpHula>(watch),
        "cflb" => asked.judge::<Cflb>(watch),
        "uet" => asked.judge::<Uet>(watch),
        other => Err(Refused::Value(format!("there is no paper {other:?}: {PAPERS}"))),
    });
    Table::of_lines(COLUMNS, &lines(&findings.map_err(PyErr::from)?))
}

struct Asked<'a> {
    ids: Vec<String>,
    effort: Effort,
    profile: Option<&'a str>,
    folder: PathBuf,
}

/// An evaluation that cannot be made.
enum Refused {
    Value(String),
    Failed(String),
    Stopped,
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> PyErr {
        match refused {
            Refused::Value(message) => PyValueError::new_err(message),
            Refused::Failed(message) => HeddleError::new_err(message),
            Refused::Stopped => Interrupted::new_err("the evaluation was stopped"),
        }
    }
}

impl Asked<'_> {
    fn judge<P: SimulatedPaper>(&self, watch: &Watch) -> Result<Vec<Finding>, Refused> {
        let profile = Profile::find(P::PROFILES, self.profile, P::SYSTEM)
            .map_err(|error| Refused::Value(error.to_string()))?;
        let request = Request::<P>::new(&self.ids, self.effort, profile, &self.folder)
            .map_err(|error| Refused::Value(error.to_string()))?;
        let evidence = P::gather(&request, watch).map_err(|error| {
            if watch.stopped() { Refused::Stopped } else { Refused::Failed(error.to_string()) }
        })?;
        Ok(request.findings(&evidence))
    }
}

fn lines(findings: &[Finding]) -> String {
    let mut lines = String::new();
    for finding in findings {
        let number = |figure: Option<f64>| figure.map_or_else(String::new, |f| f.to_string());
        let texts = |texts: &[&str]| {
            csv_fields(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        let head = texts(&[finding.id, finding.source, finding.claim]);
        let here =
            (number(finding.here.map(|h| h.mean)), number(finding.here.and_then(|h| h.half_width)));
        let tail = texts(&[
            finding.unit,
            &cells(finding)[5],
            finding.remark.as_deref().unwrap_or_default(),
        ]);
        let tail = tail.trim_end_matches(',');
        let _ = writeln!(lines, "{head}{},{},{},{tail}", finding.paper, here.0, here.1);
    }
    lines
}
