//! Results of a run.

use std::borrow::Cow;
use std::fmt::Write as _;

use heddle_report::Report;
use heddle_study::remarks::remarks;
use heddle_study::results::{FLOW_COLUMNS, LINK_COLUMNS};
use heddle_study::steady::Steadiness;
use heddle_study::summary::RunSummary;
use heddle_study::view;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::made::Tables;
use crate::scenario::Scenario;
use crate::table::Table;

/// The inputs that make a run anew.
type Parts = (Scenario, String, Cow<'static, [u8]>, Option<Cow<'static, [u8]>>);

/// Results of one scenario with one seed.
#[pyclass(frozen, from_py_object, module = "heddle._core")]
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) summary: RunSummary,
    pub(crate) tables: Tables,
}

#[pymethods]
impl Run {
    /// Scenario, summary as JSON text, and the tables of flows and links as files of Apache Arrow:
    /// what makes it anew, in another process too.
    fn parts(&self) -> PyResult<Parts> {
        let flows = self.flows()?.to_file()?.into();
        let links = self.links()?.map(|links| links.to_file()).transpose()?.map(Into::into);
        Ok((self.scenario.clone(), self.summary_json()?, flows, links))
    }

    /// Makes it of its parts.
    #[new]
    fn new(scenario: Scenario, summary: &str, flows: &[u8], links: Option<&[u8]>) -> PyResult<Run> {
        let summary = serde_json::from_str(summary);
        let summary = summary.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let flows = Table::lines_of_file(FLOW_COLUMNS, flows)?;
        let links = links.map(|links| Table::lines_of_file(LINK_COLUMNS, links)).transpose()?;
        Ok(Run { scenario, summary, tables: Tables { flows, links } })
    }

    #[getter]
    fn scenario(&self) -> Scenario {
        self.scenario.clone()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.summary.seed
    }

    /// Hash over all events: equal digests mean equal runs.
    #[getter]
    fn digest(&self) -> &str {
        &self.summary.digest
    }

    /// Processor time that it took, in seconds.
    #[getter]
    fn cpu_seconds(&self) -> f64 {
        self.summary.cpu_seconds
    }

    /// Packet-hops of the whole run.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.summary.totals.packet_hops
    }

    /// The summary, as in `summary.json`, as JSON text.
    fn summary_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.summary)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// A row for each measured flow, as in `flows.csv`.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        Table::of_lines(FLOW_COLUMNS, &self.tables.flows)
    }

    /// A row for each sample of a port; None where the scenario takes none
    /// (`measure.sample_every`).
    #[getter]
    fn links(&self) -> PyResult<Option<Table>> {
        self.tables.links.as_ref().map(|lines| Table::of_lines(LINK_COLUMNS, lines)).transpose()
    }

    /// A row for each port between switches: mean utilisation and drops; without rows where the
    /// scenario takes no samples.
    #[getter]
    fn ports(&self) -> PyResult<Table> {
        let mut lines = String::new();
        for port in &self.summary.ports {
            let _ =
                writeln!(lines, "{},{},{},{}", port.from, port.to, port.utilisation, port.dropped);
        }
        Table::of_lines("from,to,utilisation,dropped", &lines)
    }

    /// Utilisation over time: a row for each port between switches and span of time, by the span's
    /// end.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        let mut lines = String::new();
        for port in &self.summary.ports {
            for (end, thousandths) in self.summary.frames.iter().zip(&port.series) {
                let utilisation = f64::from(*thousandths) / 1000.0;
                let _ = writeln!(lines, "{end},{},{},{utilisation}", port.from, port.to);
            }
        }
        Table::of_lines("time_s,from,to,utilisation", &lines)
    }

    /// The measured steadiness, as in `over_seeds.steadiness` of `summary.json`, as JSON text.
    fn steadiness_json(&self) -> PyResult<String> {
        serde_json::to_string(&Steadiness::of(std::slice::from_ref(&self.summary)))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Warnings that a reader needs before runs are compared: unfinished flows, means that still
    /// grow, and the like.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        let runs = std::slice::from_ref(&self.summary);
        remarks(&[(self.scenario.resolved.scheme.name(), runs)])
    }

    /// The HTML report, as `heddle run` writes it.
    fn report_html(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.report(py)?.to_html())
    }

    /// The report's plots: name and SVG text of each.
    fn plots(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        Ok(self.report(py)?.svgs())
    }
}

impl Run {
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        let (scenario, runs) = (&self.scenario.resolved, std::slice::from_ref(&self.summary));
        let overload = self.scenario.overload(py)?;
        let notices = self.scenario.resolved.notices.iter().cloned();
        let remarks: Vec<String> = notices.chain(overload).chain(self.remarks()).collect();
        let made = self.scenario.provenance(py)?;
        Ok(view::with_origin(view::of_run(scenario, runs), &made, &remarks))
    }
}
