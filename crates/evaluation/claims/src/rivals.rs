//! The book's tables of schemes compared follow from the recorded runs.

use std::collections::BTreeMap;

use crate::recorded::read;
use crate::stats::Estimate;

/// A run of one seed.
struct Run {
    seed: String,
    fct_mean: f64,
    over_bound: f64,
    has_ended: bool,
}

/// Runs by column and row of the tables: the set-up with its load, hosts with their selection.
type Runs = BTreeMap<(String, String), Vec<Run>>;

fn recorded() -> Runs {
    let mut runs = Runs::new();
    for line in read("results/rivals/rivals.csv").lines().skip(1) {
        let (setting, rest) =
            line[1..].split_once("\",").expect("a setting in quotation marks, since it has commas");
        let (setup, row) = setting.rsplit_once(": ").expect("a set-up and hosts");
        let fields: Vec<&str> = rest.split(',').collect();
        let [load, seed, fct_mean, over_bound, .., unfinished, _] = fields[..] else {
            panic!("{line}")
        };
        let column = if load == "0" { setup.to_owned() } else { format!("{setup}, {load} %") };
        let number = |text: &str| text.parse().expect("a number");
        let run = Run {
            seed: seed.to_owned(),
            fct_mean: number(fct_mean),
            over_bound: number(over_bound),
            has_ended: unfinished == "0",
        };
        runs.entry((column, row.to_owned())).or_default().push(run);
    }
    runs
}

/// Mean and interval over the seeds of the time over the bound; under web search, of that over UET's with REPS. A star:
/// some flows had not ended.
fn cell(runs: &Runs, column: &str, row: &str) -> String {
    let of = |row: &str| &runs[&(column.to_owned(), row.to_owned())];
    let (these, reps) = (of(row), of("UET, REPS"));
    let is_web = column.starts_with("web search");
    let value = |(run, reps): (&Run, &Run)| {
        assert_eq!(run.seed, reps.seed, "{column}, {row}");
        if is_web { run.fct_mean / reps.fct_mean } else { run.over_bound }
    };
    let values: Vec<f64> = these.iter().zip(reps).map(value).collect();
    let Estimate { mean, half_width, .. } = Estimate::of(&values).expect("seeds");
    let star = if these.iter().all(|run| run.has_ended) { "" } else { " *" };
    format!("{mean:.2} ± {:.2}{star}", half_width.expect("several seeds"))
}

#[test]
fn the_books_cells_are_those_of_the_runs() {
    let (runs, page) = (recorded(), read("docs/src/rivals.md"));
    let (mut columns, mut count) = (Vec::new(), 0);
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells[0] {
            "Hosts, path selection" => columns = cells[1..].to_vec(),
            "---" => {}
            row if line.starts_with('|') => {
                for (column, shown) in columns.iter().zip(&cells[1..]) {
                    assert_eq!(*shown, cell(&runs, column, row), "{column}, {row}");
                    count += 1;
                }
            }
            _ => columns.clear(),
        }
    }
    assert_eq!(count, runs.len());
}

/// Mean completion times in seconds by setting, seed by seed.
fn gaps() -> BTreeMap<String, Vec<f64>> {
    let mut means: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in read("results/gaps/gaps.csv").lines().skip(1) {
        let (setting, rest) = line[1..].split_once("\",").expect("a setting in quotation marks");
        let mean = rest.split(',').nth(2).and_then(|mean| mean.parse().ok());
        means.entry(setting.to_owned()).or_default().push(mean.expect("a mean"));
    }
    means
}

#[test]
fn the_books_gaps_are_those_of_the_runs() {
    let (means, page) = (gaps(), read("docs/src/rivals.md"));
    let table = page.split("| Hosts, scheme of switches |").nth(1).expect("the table");
    let mut lines = table.lines();
    let gaps: Vec<&str> = lines.next().unwrap().trim_matches(['|', ' ']).split(" | ").collect();
    let rows: Vec<&str> = lines.skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!((gaps.len(), rows.len()), (5, 6));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let (hosts, _) = cells[0].split_once(',').expect("hosts and a scheme");
        let base = &means[&format!("two pods: {hosts}, Shuttle, 100 us")];
        for (gap, shown) in gaps.iter().zip(&cells[1..]) {
            let of_gap = means[&format!("two pods: {}, {gap}", cells[0])].iter().zip(base);
            let ratios: Vec<f64> = of_gap.map(|(mean, base)| mean / base).collect();
            let Estimate { mean, half_width, .. } = Estimate::of(&ratios).expect("seeds");
            let half_width = half_width.expect("several seeds");
            assert_eq!(*shown, format!("{mean:.2} ± {half_width:.2}"), "{}, {gap}", cells[0]);
        }
    }
}
