//! The files of a trace of Chakra's, of one rank or two: one is refused with a message, or its table
//! is a flow graph.
#![no_main]

use heddle_scenario::{Contents, ImportSettings, InputFile, Source, import, load};
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "two-pod" }
    workload = { kind = "flow-graph", file = "job.csv" }
"#;

fuzz_target!(|ranks: (&[u8], &[u8])| {
    let file = |rank: usize, bytes: &[u8]| InputFile {
        name: format!("step.{rank}.et"),
        bytes: bytes.to_vec(),
    };
    match import(&[file(0, ranks.0), file(1, ranks.1)], &ImportSettings::default()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(imported) => {
            let Contents::Table(table) = imported.contents else { panic!("a table") };
            let files = |_: &str| Ok(table.clone());
            load(&Source::new("fuzz.toml", SCENARIO), &files).expect("a flow graph");
        }
    }
});
