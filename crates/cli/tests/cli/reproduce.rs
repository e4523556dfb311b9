//! `heddle reproduce`: claims that need no long simulation.

use crate::support::{Folder, keys};

/// Table 1 is arithmetic; the probes of section 4.5 are simulated for 50 ms.
#[test]
fn hula_h11_and_h12_agree() {
    let folder = Folder::new();
    let ran = folder.heddle("reproduce hula h12 H11 --json --out o");
    let printed = ran.json();
    assert_eq!(printed, folder.json("o/claims.json"));
    for key in ["command", "engine", "heddle", "program"] {
        assert!(printed[key].is_string(), "{key}: {printed}");
    }
    let findings = printed["claims"].as_array().unwrap();
    let ids: Vec<&str> = findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [["H11"; 8].as_slice(), &["H12"; 2]].concat(), "the paper's order");
    let shape = ["bound", "claim", "here", "id", "paper", "remark", "source", "unit", "verdict"];
    for finding in findings {
        assert_eq!(keys(finding), shape);
        assert_eq!(finding["verdict"], "agrees", "{finding}");
        assert!(finding["here"]["mean"].is_f64() && finding["paper"].is_f64(), "{finding}");
    }
    for file in ["claims.json", "claims.md", "report.html"] {
        assert!(folder.list("o").contains(&file.into()), "{file}");
    }
    let markdown = folder.read("o/claims.md");
    let profile = "Profile ns2-window (inference): ";
    assert!(markdown.contains(profile), "{markdown}");
    assert_eq!(markdown.lines().count(), 2 + 2 + 10 + 2 + 2);
    assert!(markdown.contains("| 4160512 entries |"), "{markdown}");
}

#[test]
fn the_table_has_claim_paper_here_verdict() {
    let folder = Folder::new();
    let table = folder.heddle("reproduce hula H12 --quick --out o").ok();
    for text in ["claim", "paper", "here", "verdict", "section 4.5", "1.28 %", "agrees"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    assert!(!table.contains("H11"), "{table}");
}

/// Section 2.6 is arithmetic.
#[test]
fn mp_hula_m7_agrees() {
    let folder = Folder::new();
    let printed = folder.heddle("reproduce mp-hula M7 --json").json();
    assert_eq!(printed, folder.json("results/mp-hula/claims.json"));
    let findings = printed["claims"].as_array().unwrap();
    assert_eq!(findings.len(), 2);
    assert_eq!((&findings[0]["here"]["mean"], &findings[0]["unit"]), (&21.0.into(), &"MB".into()));
    assert!(findings.iter().all(|finding| finding["verdict"] == "agrees"), "{printed}");
    let said = folder.heddle("reproduce mp-hula H1").failed(1);
    assert!(said.contains("M1 to M7"), "{said}");
}

#[test]
fn a_claim_that_is_not_there() {
    let folder = Folder::new();
    let said = folder.heddle("reproduce hula H99 H1").failed(1);
    assert!(said.contains("H99") && said.contains("H1 to H12"), "{said}");
    assert_eq!(folder.list("results"), [""; 0]);
}

/// RomanRoads' evaluation is a program of its own, which is not even looked for.
#[test]
fn evaluations_without_variants() {
    let folder = Folder::new();
    for paper in ["romanroads", "uet"] {
        let said = folder.heddle(&format!("reproduce {paper} --sensitivity")).failed(2);
        assert!(said.contains("has no --sensitivity"), "{said}");
        assert!(said.contains(&format!("heddle reproduce {paper} --quick")), "{said}");
    }
    assert_eq!(folder.list("results"), [""; 0]);
}

/// Eight senders of 2 MB share a link: in both programs the last flow takes about eight times as
/// long as one flow alone.
#[test]
fn uet_u5_is_within_a_tenth_of_the_recorded_figures() {
    let folder = Folder::new();
    let printed = folder.heddle("reproduce uet u5 --json").json();
    let findings = printed["claims"].as_array().unwrap();
    assert_eq!(findings.len(), 10);
    assert!(findings.iter().all(|finding| finding["verdict"] == "agrees"), "{printed}");
    let measured = folder.json("results/uet/measured.json");
    let worst = measured[0]["heddle"]["worst"].as_f64().unwrap();
    assert!((7.0..8.5).contains(&worst), "{measured}");
}
