//! Summaries of flows by their sizes: classes, and slowdowns over size.

use heddle_claims::stats::quantile;
use heddle_scenario::DEFAULT_SIZE_CLASSES;
use heddle_sim::FlowRecord;
use heddle_units::Bytes;
use serde::{Deserialize, Serialize};

use super::{ClassSummary, slowdown, sorted};

/// Sizes over which slowdowns are drawn: each has a twentieth of the flows, as HPCC (SIGCOMM 2019)
/// figure 10 has them.
const STEPS: usize = 20;

/// A class of flow sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeClass {
    /// Its name in tables: `small`, `medium` and `large` for the default classes, as in
    /// `below-64KB`, `64KB-1MB`, `above-1MB` for others.
    pub name: String,
    /// The same for readers, as in `< 100 KB`, `100 KB-10 MB`, `> 10 MB`.
    pub title: String,
    /// Its flows, if there are any.
    pub summary: Option<ClassSummary>,
}

/// Flows of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeStep {
    /// The largest size, in bytes.
    pub bytes: u64,
    /// Number of flows.
    pub flows: u64,
    /// Their median slowdown.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// The flows of each class: below the first bound, between two, both included, above the last.
pub(super) fn classes(flows: &[FlowRecord], bounds: &[Bytes]) -> Vec<SizeClass> {
    let names = names(bounds);
    let class = |(number, (name, title)): (usize, (String, String))| {
        let of_class = flows.iter().filter(|flow| class_of(flow.size, bounds) == number);
        SizeClass { name, title, summary: ClassSummary::new(of_class) }
    };
    names.into_iter().enumerate().map(class).collect()
}

/// The number of a size's class.
fn class_of(size: Bytes, bounds: &[Bytes]) -> usize {
    match bounds {
        [first, ..] if size < *first => 0,
        [_] => 1,
        [_, rest @ ..] => 1 + rest.iter().filter(|bound| size > **bound).count(),
        [] => 0,
    }
}

/// Names and titles of the classes between some bounds.
fn names(bounds: &[Bytes]) -> Vec<(String, String)> {
    let (Some(first), Some(last)) = (bounds.first(), bounds.last()) else {
        return vec![("all-sizes".to_owned(), "all sizes".to_owned())];
    };
    let above = if bounds.len() == 1 { ">=" } else { ">" };
    let between = bounds.windows(2).map(|pair| {
        let title = format!("{}-{}", spaced(pair[0]), spaced(pair[1]));
        (format!("{}-{}", pair[0], pair[1]), title)
    });
    let mut names = vec![(format!("below-{first}"), format!("< {}", spaced(*first)))];
    names.extend(between);
    names.push((format!("above-{last}"), format!("{above} {}", spaced(*last))));
    if bounds == DEFAULT_SIZE_CLASSES {
        let short = ["small", "medium", "large"];
        names.iter_mut().zip(short).for_each(|((name, _), short)| *name = short.to_owned());
    }
    names
}

/// A size with a space in front of its unit.
fn spaced(size: Bytes) -> String {
    let text = size.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

/// Slowdowns over size: flows in the order of their sizes, a twentieth of them at a time, flows of
/// one size together.
pub(super) fn slowdown_by_size(flows: &[FlowRecord]) -> Vec<SizeStep> {
    let mut flows: Vec<&FlowRecord> = flows.iter().collect();
    flows.sort_by_key(|flow| flow.size);
    let each = flows.len().div_ceil(STEPS).max(1);
    let mut steps = Vec::new();
    let mut rest = &flows[..];
    while let Some(last) = rest.get(each.min(rest.len()).wrapping_sub(1)) {
        let bytes = last.size;
        let (step, behind) = rest.split_at(rest.partition_point(|flow| flow.size <= bytes));
        steps.extend(size_step(step));
        rest = behind;
    }
    steps
}

fn size_step(flows: &[&FlowRecord]) -> Option<SizeStep> {
    let slowdowns = sorted(flows.iter().map(|flow| slowdown(flow)));
    Some(SizeStep {
        bytes: flows.last()?.size.0,
        flows: flows.len() as u64,
        p50: quantile(&slowdowns, 0.5)?,
        p95: quantile(&slowdowns, 0.95)?,
        p99: quantile(&slowdowns, 0.99)?,
    })
}

#[cfg(test)]
mod tests {
    use heddle_units::Time;

    use super::*;

    /// A flow of some bytes that took so many times ten microseconds.
    fn flow(bytes: u64, slowdown: u64) -> FlowRecord {
        let (start, ideal_fct) = (Time::ZERO, Time::micros(10));
        let (size, fct) = (Bytes(bytes), ideal_fct * slowdown);
        FlowRecord { id: 1, index: 0, workload: 0, start, from: 0, to: 1, size, fct, ideal_fct }
    }

    fn counted(sizes: &[u64], bounds: &[u64]) -> Vec<(String, String, u64)> {
        let flows: Vec<FlowRecord> = sizes.iter().map(|&bytes| flow(bytes, 2)).collect();
        let bounds: Vec<Bytes> = bounds.iter().map(|&bytes| Bytes(bytes)).collect();
        let count = |class: SizeClass| {
            let flows = class.summary.map_or(0, |summary| summary.flows);
            (class.name, class.title, flows)
        };
        classes(&flows, &bounds).into_iter().map(count).collect()
    }

    fn expected(classes: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
        classes.iter().map(|&(name, title, n)| (name.to_owned(), title.to_owned(), n)).collect()
    }

    /// HULA section 6.2: small is under 100 KB, large is over 10 MB; both bounds are of the middle.
    #[test]
    fn sizes_at_the_bounds_of_the_default_classes() {
        let sizes = [1, 99_999, 100_000, 10_000_000, 10_000_001];
        let found = counted(&sizes, &[100_000, 10_000_000]);
        let wanted =
            [("small", "< 100 KB", 2), ("medium", "100 KB-10 MB", 2), ("large", "> 10 MB", 1)];
        assert_eq!(found, expected(&wanted));
    }

    #[test]
    fn classes_of_other_bounds_have_their_names() {
        let found =
            counted(&[1, 64_000, 65_000, 1_000_000, 1_000_001], &[64_000, 1_000_000, 2_000_000]);
        let wanted = [
            ("below-64KB", "< 64 KB", 1),
            ("64KB-1MB", "64 KB-1 MB", 3),
            ("1MB-2MB", "1 MB-2 MB", 1),
            ("above-2MB", "> 2 MB", 0),
        ];
        assert_eq!(found, expected(&wanted));
        let one = counted(&[999, 1000], &[1000]);
        assert_eq!(one, expected(&[("below-1KB", "< 1 KB", 1), ("above-1KB", ">= 1 KB", 1)]));
    }

    /// 200 flows of 200 sizes, each as many times slower as its number: ten a step.
    #[test]
    fn each_step_has_a_twentieth_of_the_flows() {
        let flows: Vec<FlowRecord> = (1..=200).rev().map(|n| flow(n, n)).collect();
        let steps = slowdown_by_size(&flows);
        assert_eq!(steps.len(), 20);
        assert!(steps.iter().all(|step| step.flows == 10));
        assert_eq!((steps[0].bytes, steps[19].bytes), (10, 200));
        assert!((steps[0].p50 - 5.5).abs() < 1e-9 && (steps[19].p50 - 195.5).abs() < 1e-9);
    }

    #[test]
    fn flows_of_one_size_are_one_step() {
        let flows: Vec<FlowRecord> =
            (0..100).map(|n| flow(if n < 90 { 5 } else { 9 }, 3)).collect();
        let steps: Vec<(u64, u64)> =
            slowdown_by_size(&flows).iter().map(|step| (step.bytes, step.flows)).collect();
        assert_eq!(steps, [(5, 90), (9, 10)]);
        assert!(slowdown_by_size(&[]).is_empty());
    }
}
