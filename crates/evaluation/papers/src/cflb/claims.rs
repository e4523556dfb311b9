//! CFLB's claims with their measurements.

use super::Cflb as Paper;
use super::connections::chance;
use super::experiments::{Experiment, Measured, Model, Routers};
use super::mix::Mix;
use super::points::{Choice, Network, Point};
use super::spread::Spread;
use heddle_claims::{Bound, Claim, stated};
use heddle_study::measure::ratio;
use heddle_study::metric::seconds_per_gigabyte;
use heddle_study::paper::Measure;
use heddle_study::summary::RunSummary;

/// A bar of figure 9.
pub(super) const fn bar(choice: Choice, subflows: u8) -> Point {
    Point { network: Network::FatTree, choice, subflows }
}

/// Payload of a full packet, as a share of what it takes of a link.
pub(crate) const PAYLOAD: f64 = 1460.0 / 1518.0;

/// Goodput of all hosts of the paper's fabric, in percent of what their links can carry.
fn of_optimum(run: &RunSummary) -> Option<f64> {
    Some(100.0 * run.totals.goodput_bps / (Network::FatTree.capacity() * PAYLOAD))
}

const fn diversity(model: Model, figure: fn(&Measured) -> Option<f64>) -> Measure<Paper> {
    Measure::Experiment(Experiment::Diversity(model), figure)
}
fn several_paths(made: &Measured) -> Option<f64> {
    made.diversity().map(|stats| 100.0 * stats.several_paths)
}
fn several_next_hops(made: &Measured) -> Option<f64> {
    made.diversity().map(|stats| 100.0 * stats.mean_several_next_hops)
}
fn most_paths(made: &Measured) -> Option<f64> {
    made.diversity()?.pairs_by_paths.keys().next_back().map(|paths| *paths as f64)
}
fn most_next_hops(made: &Measured) -> Option<f64> {
    made.diversity().map(|stats| f64::from(stats.most_next_hops))
}

const fn backbone(routers: Routers, figure: fn(&Measured) -> Option<f64>) -> Measure<Paper> {
    Measure::Experiment(Experiment::Spread(Mix::Backbone, routers), figure)
}
const fn spread(
    mix: Mix,
    routers: Routers,
    figure: fn(&Measured) -> Option<f64>,
) -> Measure<Paper> {
    Measure::Experiment(Experiment::Spread(mix, routers), figure)
}
/// The paper's CFLB.
const RC5: &str = "rc5, B = 4, as published";
const SKIP32: &str = "skip32, B = 4, as published";
/// With a B whose highest digit is 0 too often, as published and corrected.
const ODD_RADIX_PUBLISHED: &str = "rc5, B = 3, as published";
const ODD_RADIX: &str = "rc5, B = 3";
/// The source port alone, as published and corrected.
const SOURCE_PORT_PUBLISHED: &str = "feistel on the source port, B = 4, as published";
const SOURCE_PORT: &str = "feistel on the source port, B = 4";
/// Choosers whose cost is measured: as published they cost the same, but for a multiplication.
const RC5_COST: &str = "rc5, B = 4";
const SKIP32_COST: &str = "skip32, B = 4";

fn of<'a>(made: &'a Measured, chooser: &str) -> Option<&'a Spread> {
    made.spread()?.iter().find(|spread| spread.chooser == chooser)
}
fn is_router(spread: &&Spread) -> bool {
    spread.chooser.contains("B = ")
}
fn most(made: &Measured, chooser: &str) -> Option<f64> {
    of(made, chooser).map(|spread| spread.links.max)
}
fn crc16_most(made: &Measured) -> Option<f64> {
    most(made, "crc16")
}
fn crc32_most(made: &Measured) -> Option<f64> {
    most(made, "crc32")
}
fn md5_most(made: &Measured) -> Option<f64> {
    most(made, "md5")
}
fn rc5_most(made: &Measured) -> Option<f64> {
    most(made, RC5)
}
fn skip32_most(made: &Measured) -> Option<f64> {
    most(made, SKIP32)
}
fn any_radix_most(made: &Measured) -> Option<f64> {
    made.spread()?.iter().filter(is_router).map(|spread| spread.links.max).reduce(f64::max)
}
fn over_md5(made: &Measured, chooser: &str) -> Option<f64> {
    Some(of(made, chooser)?.links.mean / of(made, "md5")?.links.mean)
}
fn rc5_over_md5(made: &Measured) -> Option<f64> {
    over_md5(made, RC5)
}
fn odd_radix_over_md5(made: &Measured) -> Option<f64> {
    over_md5(made, ODD_RADIX)
}
fn published_over_md5(made: &Measured) -> Option<f64> {
    over_md5(made, ODD_RADIX_PUBLISHED)
}
fn paths_over_md5(made: &Measured, chooser: &str) -> Option<f64> {
    Some(of(made, chooser)?.paths.mean / of(made, "md5")?.paths.mean)
}
fn paths_rc5_over_md5(made: &Measured) -> Option<f64> {
    paths_over_md5(made, RC5)
}
fn paths_skip32_over_md5(made: &Measured) -> Option<f64> {
    paths_over_md5(made, SKIP32)
}
fn rc5_p(made: &Measured) -> Option<f64> {
    of(made, RC5).map(|spread| spread.flows.p_value)
}
fn paths_source_port_over_md5(made: &Measured) -> Option<f64> {
    paths_over_md5(made, SOURCE_PORT)
}
fn paths_source_port_published_over_md5(made: &Measured) -> Option<f64> {
    paths_over_md5(made, SOURCE_PORT_PUBLISHED)
}
fn share(made: &Measured, chooser: &str, choose: fn(f64, f64) -> f64) -> Option<f64> {
    of(made, chooser)?.shares.iter().flatten().copied().reduce(choose)
}
fn md5_least_share(made: &Measured) -> Option<f64> {
    share(made, "md5", f64::min)
}
fn md5_greatest_share(made: &Measured) -> Option<f64> {
    share(made, "md5", f64::max)
}
fn rc5_least_share(made: &Measured) -> Option<f64> {
    share(made, RC5, f64::min)
}
fn rc5_greatest_share(made: &Measured) -> Option<f64> {
    share(made, RC5, f64::max)
}

const fn cost(figure: fn(&Measured) -> Option<f64>) -> Measure<Paper> {
    Measure::Experiment(Experiment::Cost, figure)
}
fn kpps(made: &Measured, chooser: &str) -> Option<f64> {
    let cost = made.cost()?.iter().find(|cost| cost.chooser == chooser)?;
    Some(cost.papers_rate / 1e3)
}
fn crc16_kpps(made: &Measured) -> Option<f64> {
    kpps(made, "crc16")
}
fn rc5_kpps(made: &Measured) -> Option<f64> {
    kpps(made, RC5_COST)
}
fn skip32_kpps(made: &Measured) -> Option<f64> {
    kpps(made, SKIP32_COST)
}
fn rc5_costs(made: &Measured) -> Option<f64> {
    Some(100.0 * (1.0 - rc5_kpps(made)? / crc16_kpps(made)?))
}

const fn seven(choice: Choice, figure: fn(&Measured) -> Option<f64>) -> Measure<Paper> {
    Measure::Experiment(Experiment::SevenLinks(choice), figure)
}
fn all_seven(made: &Measured) -> Option<f64> {
    made.seven_links().map(|used| used.percent(7))
}
fn four_or_five(made: &Measured) -> Option<f64> {
    made.seven_links().map(|used| used.percent(4) + used.percent(5))
}

const fn two(choice: Choice, figure: fn(&Measured) -> Option<f64>) -> Measure<Paper> {
    Measure::Experiment(Experiment::TwoInterfaces(choice), figure)
}
/// Goodput with so many subflows, in percent of what two links of 100 Mbps can carry.
fn saturation(made: &Measured, subflows: u8) -> Option<f64> {
    Some(100.0 * made.two_interfaces()?.with(subflows)? / (200e6 * PAYLOAD))
}
fn saturation_of_two(made: &Measured) -> Option<f64> {
    saturation(made, 2)
}
fn saturation_of_eight(made: &Measured) -> Option<f64> {
    saturation(made, 8)
}

use Bound::{About, AtLeast, AtMost, Exact};
use Choice::{Hash, Ideal, Scheduler};
use Model::{Bcube, FatTree, Vl2};
use Routers::{FourInARow, One, OneOfFour};

/// Every claim of the paper, in its order.
#[rustfmt::skip]
pub(super) const CLAIMS: &[Claim<Measure<Paper>>] = &[
    Claim::new("C1", "Fig. 1", "fat-tree: pairs of servers with two paths or more", stated(AtLeast, 80.0, "%"), diversity(FatTree, several_paths)),
    Claim::new("C1", "Fig. 1", "VL2: pairs of servers with two paths or more", stated(AtLeast, 80.0, "%"), diversity(Vl2, several_paths)),
    Claim::new("C1", "Fig. 1", "BCube: pairs of servers with two paths or more", stated(AtLeast, 80.0, "%"), diversity(Bcube, several_paths)),
    Claim::new("C1", "section 2.2", "BCube: most paths of a pair", stated(About, 64.0, "paths"), diversity(Bcube, most_paths)),
    Claim::new("C1", "Fig. 2", "fat-tree: destinations with several next hops, mean over switches", stated(About, 70.0, "%"), diversity(FatTree, several_next_hops)),
    Claim::new("C1", "Fig. 2", "VL2: destinations with several next hops, mean over switches", stated(About, 70.0, "%"), diversity(Vl2, several_next_hops)),
    Claim::new("C1", "Fig. 2", "BCube: destinations with several next hops, mean over switches and servers", stated(About, 70.0, "%"), diversity(Bcube, several_next_hops)),
    Claim::new("C1", "section 2.2", "VL2: most next hops", stated(AtMost, 10.0, "next hops"), diversity(Vl2, most_next_hops)),
    Claim::new("C2", "Fig. 6a", "N = 2: largest deviation of a second, CRC16 (the one that exceeds it)", stated(AtLeast, 4.0, "points"), backbone(One, crc16_most)),
    Claim::new("C2", "Fig. 6a", "N = 2: largest deviation of a second, CRC32", stated(AtMost, 4.0, "points"), backbone(One, crc32_most)),
    Claim::new("C2", "Fig. 6a", "N = 2: largest deviation of a second, MD5", stated(AtMost, 4.0, "points"), backbone(One, md5_most)),
    Claim::new("C2", "Fig. 6a", "N = 2: largest deviation of a second, CFLB by RC5", stated(AtMost, 4.0, "points"), backbone(One, rc5_most)),
    Claim::new("C2", "Fig. 6a", "N = 2: largest deviation of a second, CFLB by Skip32", stated(AtMost, 4.0, "points"), backbone(One, skip32_most)),
    Claim::new("C2", "section 4.1.1", "N = 2: largest deviation of a second, CFLB by any function with any B", stated(AtMost, 4.0, "points"), backbone(One, any_radix_most)),
    Claim::new("C2", "Fig. 6a", "N = 2: mean deviation, CFLB by RC5 over MD5, alike (read as 1.5)", stated(AtMost, 1.5, "x"), backbone(One, rc5_over_md5)),
    Claim::new("C2", "Fig. 6b", "four routers in a row: mean deviation of paths, CFLB by RC5 over MD5", stated(AtMost, 1.5, "x"), backbone(FourInARow, paths_rc5_over_md5)),
    Claim::new("C2", "Fig. 6b", "four routers in a row: mean deviation of paths, CFLB by Skip32 over MD5", stated(AtMost, 1.5, "x"), backbone(FourInARow, paths_skip32_over_md5)),
    Claim::new("C2", "Fig. 6b", "four routers in a row: flows over paths, CFLB by RC5: chance of a chi-square as large", stated(AtLeast, 0.001, ""), backbone(FourInARow, rc5_p)),
    Claim::new("C2", "section 5", "four routers in a row: mean deviation of paths, source port alone by a Feistel network over MD5", stated(AtMost, 1.5, "x"), backbone(FourInARow, paths_source_port_published_over_md5)),
    Claim::new("C2", "section 5", "the same with the source port alone, each digit shifted by a hash of its own", stated(AtMost, 1.5, "x"), backbone(FourInARow, paths_source_port_over_md5)),
    Claim::new("C2", "section 4.1.1", "N = 2, data-centre mix: mean deviation, CFLB by RC5 over MD5", stated(AtMost, 1.5, "x"), spread(Mix::DataCentre, One, rc5_over_md5)),
    Claim::new("C2", "section 4.1.1", "N = 2, one pair of hosts: mean deviation, CFLB by RC5 over MD5", stated(AtMost, 1.5, "x"), spread(Mix::OnePair, One, rc5_over_md5)),
    Claim::new("C2", "section 4.1.1", "N = 2, one pair of hosts: the same with B = 3, selectors that nobody writes hashed", stated(AtMost, 1.5, "x"), spread(Mix::OnePair, One, odd_radix_over_md5)),
    Claim::new("C2", "section 4.1.1", "N = 2, one pair of hosts: the same with B = 3, as published", stated(AtMost, 1.5, "x"), spread(Mix::OnePair, One, published_over_md5)),
    Claim::new("C3", "Fig. 7a", "N = 4: least share of a link in any second, MD5", stated(AtLeast, 22.0, "%"), backbone(OneOfFour, md5_least_share)),
    Claim::new("C3", "Fig. 7a", "N = 4: greatest share of a link in any second, MD5", stated(AtMost, 28.0, "%"), backbone(OneOfFour, md5_greatest_share)),
    Claim::new("C3", "Fig. 7b", "N = 4: least share of a link in any second, CFLB by RC5", stated(AtLeast, 22.0, "%"), backbone(OneOfFour, rc5_least_share)),
    Claim::new("C3", "Fig. 7b", "N = 4: greatest share of a link in any second, CFLB by RC5", stated(AtMost, 28.0, "%"), backbone(OneOfFour, rc5_greatest_share)),
    Claim::new("C4", "Fig. 8", "the paper's router with this machine's decision: CRC16", stated(About, 570.0, "kpps"), cost(crc16_kpps)),
    Claim::new("C4", "Fig. 8", "the paper's router with this machine's decision: CFLB by RC5", stated(About, 560.0, "kpps"), cost(rc5_kpps)),
    Claim::new("C4", "Fig. 8", "the paper's router with this machine's decision: CFLB by Skip32", stated(About, 500.0, "kpps"), cost(skip32_kpps)),
    Claim::new("C4", "Fig. 8", "what CFLB by RC5 costs of CRC16's rate", stated(AtMost, 2.0, "%"), cost(rc5_costs)),
    ratio("C5", "Fig. 9", "MPTCP-CFLB, 2 subflows, close to the optimum: goodput of one big switch over its own", 1.0, seconds_per_gigabyte, bar(Scheduler, 2), bar(Ideal, 2)),
    Claim::new("C5", "Fig. 9", "the same as a share of what hosts' links can carry (read as 90 %)", stated(AtLeast, 90.0, "%"), Measure::At(of_optimum, bar(Scheduler, 2))),
    Claim::new("C5", "Fig. 9", "MPTCP-CFLB, 1 subflow, a good utilisation: the same share (read as 80 %)", stated(AtLeast, 80.0, "%"), Measure::At(of_optimum, bar(Scheduler, 1))),
    ratio("C5", "Fig. 9", "1 subflow: goodput of CFLB over ECMP, considerable (read as 1.5)", 1.5, seconds_per_gigabyte, bar(Hash, 1), bar(Scheduler, 1)),
    ratio("C5", "Fig. 9", "MPTCP over ECMP needs about 8 subflows: goodput of CFLB with 2 over ECMP with 8", 1.0, seconds_per_gigabyte, bar(Hash, 8), bar(Scheduler, 2)),
    Claim::new("C6", "Fig. 10", "7 links, 7 subflows, 400 runs: CFLB uses all 7", stated(Exact, 100.0, "%"), seven(Scheduler, all_seven)),
    Claim::new("C6", "Fig. 10", "the same with random ports: all 7, 2 runs of 400", stated(AtMost, 2.0, "%"), seven(Hash, all_seven)),
    Claim::new("C6", "section 4.2.2", "the same by the formula", stated(About, 0.6, "%"), Measure::Computed(|| 100.0 * chance(7, 7, 7))),
    Claim::new("C6", "Fig. 10", "the same with random ports: 4 or 5, most runs", stated(AtLeast, 50.0, "%"), seven(Hash, four_or_five)),
    Claim::new("C7", "Fig. 11", "two interfaces behind 7 paths: CFLB with 2 subflows saturates both (read as 95 %)", stated(AtLeast, 95.0, "%"), two(Scheduler, saturation_of_two)),
    Claim::new("C7", "Fig. 11", "the same with random ports and 2 subflows: far from it (read as 75 %)", stated(AtMost, 75.0, "%"), two(Hash, saturation_of_two)),
    Claim::new("C7", "Fig. 11", "the same with random ports and 8 subflows: still short of it", stated(AtMost, 95.0, "%"), two(Hash, saturation_of_eight)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_study::paper::Experiment as _;

    #[test]
    fn claims_name_choosers_that_exist() {
        for routers in [One, FourInARow, OneOfFour] {
            let names: Vec<String> = routers.choosers().into_iter().map(|c| c.name).collect();
            for name in ["crc16", "crc32", "md5", RC5, SKIP32] {
                assert!(names.iter().any(|known| known == name), "{name} of {names:?}");
            }
        }
        let names: Vec<String> = One.choosers().into_iter().map(|c| c.name).collect();
        let named = [ODD_RADIX, ODD_RADIX_PUBLISHED, SOURCE_PORT, SOURCE_PORT_PUBLISHED];
        assert!(named.iter().all(|name| names.iter().any(|known| known == name)));
        let costs: Vec<String> =
            super::super::speed::subjects().into_iter().map(|c| c.name).collect();
        for name in ["crc16", RC5_COST, SKIP32_COST] {
            assert!(costs.iter().any(|known| known == name), "{name} of {costs:?}");
        }
    }

    /// Figures 1 and 2 are structure: no noise, nothing drawn.
    #[test]
    fn the_diversity_of_the_papers_fabrics() {
        let most: Vec<f64> = [FatTree, Vl2, Bcube]
            .map(|model| most_paths(&Experiment::Diversity(model).run(1, &[]).unwrap()).unwrap())
            .to_vec();
        // (k/2)^2; two ToRs apart in VL2 have 2 aggregation switches each and 10 intermediate ones
        // between; 4 digits in any order.
        assert_eq!(most, [49.0, 40.0, 24.0]);
    }
}
