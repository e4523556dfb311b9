use super::*;
use heddle_claims::Verdict::{Agrees, NotRun};
use heddle_study::paper::Evidence;

#[test]
fn without_evidence_only_arithmetic_is_judged() {
    let evidence = Evidence::default();
    for claim in CLAIMS {
        let verdict = claim.find(&evidence).verdict;
        let computed = matches!(claim.measure, Measure::Computed(_));
        assert_eq!(verdict, if computed { Agrees } else { NotRun }, "{}", claim.text);
    }
}

#[test]
fn claims_are_h1_to_h12_in_order() {
    let mut ids: Vec<u32> = CLAIMS.iter().map(|claim| claim.id[1..].parse().unwrap()).collect();
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids, (1..=12).collect::<Vec<_>>());
}
