//! The time that the last flows of a run take.

use heddle_scenario::{SizeDistribution, Until, Workload};
use heddle_units::Time;

use super::flow::{FlowCost, sizes_of};
use super::parts::Part;

/// Points at which the largest flows of a distribution are looked at.
const POINTS: u32 = 200;

/// Time from the start of the last measured flow to the end of all: the median, if flows arrive
/// independently and take [`FlowCost::time`]. None is left at a time with the probability
/// exp(-m), where m is the mean number of flows that started before and last longer.
pub(super) fn time(workload: &Workload, costs: &[FlowCost], parts: &[Part], until: &Until) -> Time {
    let Until::Flows(flows) = *until else { return Time::ZERO };
    let all: f64 = parts.iter().map(Part::flows_per_second).sum();
    if all == 0.0 {
        return Time::ZERO;
    }
    let span = flows as f64 / all;
    let of_part = |((workload, cost), part): ((&Workload, &FlowCost), &Part)| {
        let times = times(sizes_of(workload)?, cost, flows);
        Some((part.flows_per_second(), times))
    };
    let parts: Vec<_> =
        workload.parts().into_iter().zip(costs).zip(parts).filter_map(of_part).collect();
    let left = |after: f64| -> f64 {
        // Of flows that last longer by `more` those of the last `more` seconds are left.
        let longer = |&(time, weight): &(f64, f64)| weight * (time - after).clamp(0.0, span);
        parts.iter().map(|(rate, times)| rate * times.iter().map(longer).sum::<f64>()).sum()
    };
    let longest = parts.iter().flat_map(|(_, times)| times).map(|&(time, _)| time);
    let (mut low, mut high) = (0.0, longest.fold(0.0, f64::max));
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if left(middle) > std::f64::consts::LN_2 { low = middle } else { high = middle }
    }
    super::seconds(high)
}

/// Times of flows with their probabilities, the closer together the longer they are, up to the
/// largest of so many.
fn times(sizes: &SizeDistribution, cost: &FlowCost, flows: u64) -> Vec<(f64, f64)> {
    let step = (libm::log(flows as f64) + 1.0) / f64::from(POINTS);
    let point = |n: u32| {
        let [from, to] = [n, n + 1].map(|n| libm::exp(-step * f64::from(n)));
        let size = sizes.quantile(1.0 - (from + to) / 2.0).max(1.0);
        (cost.time(size), from - to)
    };
    (0..POINTS).map(point).collect()
}

#[cfg(test)]
mod tests {
    use heddle_fabric::Fabric;
    use heddle_scenario::Source;

    use super::super::Work;

    /// Flows of 20 MB arrive at 0.2 * 320 Gbps / 160 Mbit = 400 a second: ten in 25 ms, and each lasts
    /// longer. None is left with a probability of one half when those of the last ln 2 / 400 seconds
    /// are; of the largest flows one in 10 e is not looked at.
    #[test]
    fn flows_that_last_longer_than_all_take_to_arrive_are_waited_for() {
        let text = r#"
            scheme = "ecmp"
            fabric = { kind = "leaf-spine", leaves = 4, spines = 2, hosts_per_leaf = 8 }
            workload = { kind = "flows", sizes = "fixed:20MB", load = 0.2 }
            measure = { flows = 10 }
            "#;
        let files = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let scenario = heddle_scenario::load(&Source::new("test.toml", text), &files)
            .unwrap_or_else(|error| panic!("{error}"));
        let fabric = Fabric::new(&scenario.fabric.graph).expect("sound");
        let routes = fabric.routes(|_| true).expect("sound");
        let work = Work::new(&scenario, &fabric, &routes, 1);
        let expected = work.flow_seconds(0) - std::f64::consts::LN_2 / 400.0;
        let tail = work.tail.as_secs_f64();
        assert!(expected > 0.025 && (tail / expected - 1.0).abs() < 0.005, "{tail} {expected}");
    }
}
