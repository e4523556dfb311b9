use proptest::prelude::*;

use super::*;
use crate::testing::{cell, run};

#[test]
fn a_key_tells_what_is_run_and_not_how_it_is_written() {
    let one = key(&cell(1, &[]));
    assert!(one.len() == 24 && one.bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
    assert_eq!(key(&Cell { label: "another name".into(), ..cell(1, &[]) }), one);
    let (load, flows) = (("workload.load", "0.5"), ("measure.flows", "30"));
    assert_eq!(key(&cell(1, &[load, flows])), key(&cell(1, &[flows, load])));
    assert_eq!(key(&cell(1, &[("workload.load", "0.40")])), one);
    assert_eq!(key(&cell(1, &[("title", "another title"), ("seeds", "[1, 2, 3]")])), one);
    for other in
        [cell(2, &[]), cell(1, &[load]), cell(1, &[flows]), cell(1, &[("scheme", "spray")])]
    {
        assert_ne!(key(&other), one);
    }
}

#[test]
fn a_run_is_found_again_by_its_cell_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("a/b")).unwrap();
    let (kept, other) = (cell(1, &[]), cell(2, &[]));
    assert_eq!(store.load(&kept).unwrap(), None);
    let summary = run(&kept);
    store.save(&kept, &summary).unwrap();
    assert_eq!(store.load(&kept).unwrap(), Some(summary));
    assert_eq!(store.load(&other).unwrap(), None);
    let renamed = cell(1, &[("title", "another title")]);
    assert_eq!(store.load(&renamed).unwrap().unwrap().title, "another title");
    let file: serde_json::Value =
        serde_json::from_slice(&fs::read(store.path(&kept, "json")).unwrap()).unwrap();
    assert_eq!((file["engine"].as_str(), &file["seed"]), (Some(engine_digest()), &json!(1)));
    assert_eq!(file["scenario"]["workload"]["flows"]["load"], 0.4);
}

#[test]
fn a_damaged_file_counts_as_none_and_an_unreadable_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let cell = cell(1, &[]);
    store.save(&cell, &run(&cell)).unwrap();
    let path = store.path(&cell, "json");
    let whole = fs::read(&path).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(store.load(&cell).unwrap(), None, "{length} bytes");
    }
    fs::write(&path, "{}").unwrap();
    assert_eq!(store.load(&cell).unwrap(), None, "of another shape");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(store.load(&cell).unwrap_err().path, path);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A sweep that goes on after an interruption prints the same digits.
    #[test]
    fn figures_read_back_to_the_last_bit(figures in prop::collection::vec(-1e15..1e15f64, 1..40), tiny in 0.0..1e-6f64) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let cell = cell(1, &[]);
        let mut summary = run(&cell);
        summary.fct.quantiles = figures;
        summary.cpu_seconds = tiny;
        store.save(&cell, &summary).unwrap();
        prop_assert_eq!(store.load(&cell).unwrap(), Some(summary));
    }
}
