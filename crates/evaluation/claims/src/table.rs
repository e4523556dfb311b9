//! Findings as text, Markdown, and a section of a report.

use heddle_report::{Cell, Section, Status, Table};

use crate::{Bound, Finding, Verdict};

/// The state and the verdict of what is in no steady state, in every table.
pub const OVERLOADED: &str = "overloaded, not judged";

/// A queue's quantile of which nothing but the buffer is told, in every table.
pub const AT_BUFFER: &str = "at the buffer, not judged";

/// A finding as text: id, claim, place, paper, here, verdict.
pub fn cells(finding: &Finding) -> [String; 6] {
    [
        finding.id.into(),
        finding.claim.into(),
        finding.source.into(),
        paper_value(finding),
        here_value(finding),
        verdict_text(finding.verdict).into(),
    ]
}

/// The remarks on some findings, each once, behind the ids of its claims.
pub fn remarks(findings: &[Finding]) -> Vec<String> {
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in findings {
        let Some(text) = &finding.remark else { continue };
        match remarks.iter_mut().find(|(known, _)| known == text) {
            Some((_, ids)) => ids.push(finding.id),
            None => remarks.push((text, vec![finding.id])),
        }
    }
    let said = |(text, mut ids): (&str, Vec<&str>)| {
        ids.dedup();
        format!("{}: {text}", ids.join(", "))
    };
    remarks.into_iter().map(said).collect()
}

/// The findings as a Markdown table, the remarks below.
pub fn markdown(findings: &[Finding]) -> String {
    let head =
        "| | Claim | Where | Paper | Here | Verdict |\n| --- | --- | --- | --- | --- | --- |\n";
    let rows = findings.iter().map(|f| format!("| {} |\n", cells(f).join(" | ")));
    let remarks = remarks(findings);
    let gap = if remarks.is_empty() { "" } else { "\n" };
    let remarks = remarks.iter().map(|remark| format!("- {remark}\n"));
    head.to_owned() + &rows.collect::<String>() + gap + &remarks.collect::<String>()
}

fn table(findings: &[Finding]) -> Table {
    let header = ["", "Claim", "Where", "Paper", "Here", "Verdict"];
    findings.iter().fold(Table::new(header), |table, finding| {
        table.row([
            Cell::from(finding.id),
            Cell::from(finding.claim),
            Cell::from(finding.source),
            Cell::from(paper_value(finding)),
            Cell::from(here_value(finding)),
            verdict(finding.verdict),
        ])
    })
}

/// The findings with the rule of their verdicts.
pub(crate) fn section(rule: &str, findings: &[Finding]) -> Section {
    let section = Section::new("claims", "The paper's claims").block(rule).block(table(findings));
    remarks(findings).into_iter().fold(section, Section::block)
}

/// The paper's value with its unit.
fn paper_value(finding: &Finding) -> String {
    let bound = match finding.bound {
        Bound::AtMost => "at most ",
        Bound::AtLeast => "at least ",
        Bound::About | Bound::Exact => "",
    };
    format!("{bound}{}", with_unit(finding.paper, finding.unit))
}

fn here_value(finding: &Finding) -> String {
    let Some(here) = finding.here else { return "-".into() };
    if here.has_range(finding.unit) {
        let [low, high] = [here.min, here.max].map(|end| format!("{end:.2}"));
        let (kind, middle) = match here.pooled {
            Some(pooled) => ("pooled", pooled),
            None => ("median", here.median),
        };
        return format!("{kind} {} ({low} to {high})", with_unit(middle, finding.unit));
    }
    let half = here.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{}{half}", with_unit(here.mean, finding.unit))
}

fn with_unit(value: f64, unit: &str) -> String {
    let digits = match value {
        whole if whole.fract() == 0.0 => format!("{value:.0}"),
        small if small.abs() < 0.01 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    };
    match unit {
        "" => digits,
        "x" => format!("{digits}x"),
        _ => format!("{digits} {unit}"),
    }
}

fn verdict(verdict: Verdict) -> Cell {
    let status = match verdict {
        Verdict::Agrees => Status::Good,
        Verdict::DirectionOnly => Status::Warn,
        Verdict::Differs => Status::Bad,
        Verdict::Undecided | Verdict::Overloaded | Verdict::AtBuffer | Verdict::NotRun => {
            Status::Neutral
        }
    };
    Cell::badge(verdict_text(verdict), status)
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::DirectionOnly => "direction only",
        Verdict::Differs => "differs",
        Verdict::Undecided => "undecided",
        Verdict::Overloaded => OVERLOADED,
        Verdict::AtBuffer => AT_BUFFER,
        Verdict::NotRun => "not run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Estimate;

    #[test]
    fn findings_as_people_read_them() {
        let finding = |paper, here: Option<f64>, unit, bound| {
            let (id, source, claim, verdict) = ("H1", "Fig. 5a", "ECMP over HULA", Verdict::Agrees);
            let here = here.and_then(|here| Estimate::of(&[here]));
            let cells = cells(&Finding {
                id,
                source,
                claim,
                paper,
                here,
                unit,
                bound,
                verdict,
                remark: None,
            });
            [cells[3].clone(), cells[4].clone()]
        };
        assert_eq!(finding(3.7, Some(2.346), "x", Bound::About), ["3.70x", "2.35x"]);
        let several = Estimate::of(&[2.0, 2.5, 3.0]);
        let text = |here| {
            here_value(&Finding {
                id: "H1",
                source: "",
                claim: "",
                paper: 3.7,
                here,
                unit: "x",
                bound: Bound::About,
                verdict: Verdict::Undecided,
                remark: None,
            })
        };
        assert_eq!(text(several), "median 2.50x (2.00 to 3.00)");
        let pooled = several.map(|here| Estimate { pooled: Some(2.6), ..here });
        assert_eq!(text(pooled), "pooled 2.60x (2.00 to 3.00)");
        assert_eq!(finding(0.0, None, "packets", Bound::AtMost), ["at most 0 packets", "-"]);
        assert_eq!(finding(16.0, Some(16.0), "paths", Bound::Exact), ["16 paths", "16 paths"]);
    }

    #[test]
    fn a_remark_stands_once_behind_its_claims() {
        let finding = |id, remark: Option<&str>| Finding {
            id,
            source: "Fig. 6a",
            claim: "ECMP over HULA",
            paper: 8.0,
            here: Estimate::of(&[27.0]),
            unit: "x",
            bound: Bound::About,
            verdict: Verdict::DirectionOnly,
            remark: remark.map(str::to_owned),
        };
        let full = Some("a link is full");
        let findings =
            [finding("H3", full), finding("H3", full), finding("H4", None), finding("H5", full)];
        assert_eq!(remarks(&findings), ["H3, H5: a link is full"]);
        assert!(markdown(&findings).ends_with("|\n\n- H3, H5: a link is full\n"));
        assert!(markdown(&findings[2..3]).ends_with("direction only |\n"));
    }
}
