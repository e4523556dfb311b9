//! The C on all traces of vectors/schemes.
#![allow(clippy::unwrap_used, reason = "tests")]

use heddle_switch_conformance::native;
use heddle_vectors::{Config, VectorFile, replay};

/// MP-HULA and CFLB are not in C yet.
const fn is_in_c(config: &Config) -> bool {
    matches!(config, Config::Ecmp(_) | Config::Hula(_) | Config::Dre(_))
}

#[test]
fn the_c_decides_as_the_traces_do() {
    let mut traces = 0;
    for (name, file) in VectorFile::all().unwrap() {
        for trace in file.traces.iter().filter(|trace| is_in_c(&trace.config)) {
            let mut target = native(&trace.switch, &trace.config).unwrap();
            if let Err(mismatch) = replay(trace, &mut target) {
                panic!("{name}, {}: {mismatch}", trace.name);
            }
            traces += 1;
        }
    }
    assert!(traces > 40, "{traces}");
}
