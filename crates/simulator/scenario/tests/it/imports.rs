//! Jobs of other programs as flow graphs: traces of Chakra, plans of MSCCL.

mod chakra;
mod mistakes;
mod msccl;
mod trace;

use heddle_scenario::{
    Contents, FlowGraph, ImportSettings, Imported, InputFile, ScenarioError, Source, Workload,
    import, load,
};

/// The table and the notices of an import.
fn table(imported: Imported) -> (String, Vec<String>) {
    match imported.contents {
        Contents::Table(table) => (table, imported.notices),
        Contents::Graph(graph) => panic!("{graph}"),
    }
}

/// A table as a scenario of 8 hosts reads it.
fn resolved(table: &str) -> FlowGraph {
    let text = r#"
        scheme = "ecmp"
        fabric = { kind = "leaf-spine", hosts_per_leaf = 4 }
        workload = { kind = "flow-graph", file = "job.csv" }
    "#;
    let files = |_: &str| Ok(table.to_owned());
    match load(&Source::new("s.toml", text), &files).expect("sound").workload {
        Workload::FlowGraph(graph) => graph,
        other => panic!("{other:?}"),
    }
}

/// A plan for buffers of `size` bytes.
fn plan(text: &str, size: u64) -> Result<Imported, ScenarioError> {
    let settings =
        ImportSettings { size: Some(heddle_units::Bytes(size)), ..ImportSettings::default() };
    import(&[InputFile { name: "plan.xml".into(), bytes: text.into() }], &settings)
}
