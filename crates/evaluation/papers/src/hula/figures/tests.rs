use heddle_claims::{Finding, Paper as _, report, table::markdown};

use super::*;

#[test]
fn a_report_without_any_evidence() {
    let evidence = Evidence::<Hula>::default();
    let findings: Vec<Finding> = Hula::CLAIMS.iter().map(|claim| claim.find(&evidence)).collect();
    for findings in [&findings[..], &[]] {
        assert!(report::<Hula>("HULA", &evidence, findings).to_html().contains("HULA"));
    }
    assert_eq!(markdown(&findings).lines().count(), 2 + Hula::CLAIMS.len());
}
