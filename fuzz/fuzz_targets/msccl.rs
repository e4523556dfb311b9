//! A plan of MSCCL's: it is refused with a message, or its table is a flow graph.
#![no_main]

use heddle_scenario::{Contents, ImportSettings, InputFile, Source, import, load};
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = r#"
    scheme = "ecmp"
    fabric = { kind = "two-pod" }
    workload = { kind = "flow-graph", file = "job.csv" }
"#;

fuzz_target!(|text: &str| {
    let file = InputFile { name: "plan.xml".into(), bytes: text.into() };
    let size = Some(heddle_units::Bytes(1 << 20));
    match import(&[file], &ImportSettings { size, ..ImportSettings::default() }) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(imported) => {
            let Contents::Table(table) = imported.contents else { panic!("a table") };
            let files = |_: &str| Ok(table.clone());
            // A plan of more GPUs than the fabric has hosts is refused there.
            if let Err(error) = load(&Source::new("fuzz.toml", SCENARIO), &files) {
                assert!(error.message().contains("host-"), "{error}");
            }
        }
    }
});
