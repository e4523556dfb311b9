//! A paper's claims with what was found, as text and as a section of a report.

use heddle_report::{Cell, Section, Status, Table};

use crate::evaluation::{Bound, Finding, Verdict};

/// A finding as text: id, claim, where, paper, here, verdict.
pub fn finding_cells(finding: &Finding) -> [String; 6] {
    [
        finding.id.into(),
        finding.claim.into(),
        finding.source.into(),
        paper_figure(finding),
        here_figure(finding),
        verdict_text(finding.verdict).into(),
    ]
}

/// The findings as a Markdown table.
pub fn claims_markdown(findings: &[Finding]) -> String {
    let head =
        "| | Claim | Where | Paper | Here | Verdict |\n| --- | --- | --- | --- | --- | --- |\n";
    let rows = findings.iter().map(|f| format!("| {} |\n", finding_cells(f).join(" | ")));
    head.to_owned() + &rows.collect::<String>()
}

/// Claim, paper, here, verdict.
pub fn claims_table(findings: &[Finding]) -> Table {
    let header = ["", "Claim", "Where", "Paper", "Here", "Verdict"];
    findings.iter().fold(Table::new(header), |table, finding| {
        table.row([
            Cell::from(finding.id),
            Cell::from(finding.claim),
            Cell::from(finding.source),
            Cell::from(paper_figure(finding)),
            Cell::from(here_figure(finding)),
            verdict(finding.verdict),
        ])
    })
}

/// The claims, and how they are judged.
pub(super) fn section(findings: &[Finding]) -> Section {
    Section::new("claims", "The paper's claims")
        .block("A ratio **agrees** if its excess over 1 is between half and twice the paper's; **direction only** has the sign right and the size not. Nothing was tuned to a figure: the scenario file states every choice.")
        .block(claims_table(findings))
}

/// The paper's figure with its unit.
fn paper_figure(finding: &Finding) -> String {
    let bound = match finding.bound {
        Bound::AtMost => "at most ",
        Bound::AtLeast => "at least ",
        Bound::About | Bound::Exact => "",
    };
    format!("{bound}{}", with_unit(finding.paper, finding.unit))
}

fn here_figure(finding: &Finding) -> String {
    let Some(here) = finding.here else { return "-".into() };
    let half = here.half_width.map_or_else(String::new, |half| format!(" ± {half:.2}"));
    format!("{}{half}", with_unit(here.mean, finding.unit))
}

fn with_unit(figure: f64, unit: &str) -> String {
    let digits = match figure {
        whole if whole.fract() == 0.0 => format!("{figure:.0}"),
        small if small.abs() < 0.01 => format!("{figure:.3}"),
        _ => format!("{figure:.2}"),
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
        Verdict::NotRun => Status::Neutral,
    };
    Cell::badge(verdict_text(verdict), status)
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::DirectionOnly => "direction only",
        Verdict::Differs => "differs",
        Verdict::NotRun => "not run",
    }
}
