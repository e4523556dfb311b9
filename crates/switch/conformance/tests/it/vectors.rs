//! The C on all traces of vectors/schemes.

use heddle_switch_conformance::native;
use heddle_vectors::{VectorFile, replay};

#[test]
fn the_c_decides_as_the_traces_do() {
    let mut traces = 0;
    for (name, file) in VectorFile::all().unwrap() {
        for trace in &file.traces {
            let mut target = native(&trace.switch, &trace.config).unwrap();
            if let Err(mismatch) = replay(trace, &mut target) {
                panic!("{name}, {}: {mismatch}", trace.name);
            }
            traces += 1;
        }
    }
    assert!(traces > 40, "{traces}");
}
