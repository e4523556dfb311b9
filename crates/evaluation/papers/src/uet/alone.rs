//! Completion times over those of flows alone, in the same program, between hosts as far apart.

use heddle_study::paper::EvaluationError;

use super::cells::{Cell, HOSTS, Links, Pair};

/// A flow with its completion time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) pair: Pair,
    pub(super) micros: f64,
}

/// Hosts within a ToR, a pod, or all.
pub(super) struct Distance {
    /// Hosts of one of them.
    hosts: u32,
    /// A host so far from the first.
    other: u32,
    /// Links on the way.
    pub(super) links: u32,
}

const DISTANCES: [Distance; 3] = [
    Distance { hosts: 4, other: 1, links: 2 },
    Distance { hosts: 16, other: 4, links: 4 },
    Distance { hosts: HOSTS, other: 16, links: 6 },
];

impl Distance {
    /// That of two hosts.
    pub(super) fn of((from, to): Pair) -> &'static Distance {
        let is_it = |distance: &&Distance| from / distance.hosts == to / distance.hosts;
        DISTANCES.iter().find(is_it).unwrap_or(&DISTANCES[2])
    }
}

/// The ratio of each flow of a cell, in a program that simulates pairs over links.
pub(super) fn over_alone(
    cell: Cell,
    seed: u64,
    simulate: impl Fn(&[Pair], Links) -> Result<Vec<Timed>, EvaluationError>,
) -> Result<Vec<f64>, EvaluationError> {
    let mut alone = Vec::new();
    for Distance { links, other, .. } in &DISTANCES {
        let times = simulate(&[(0, *other)], Links::Healthy)?;
        alone.extend(times.first().map(|timed| (*links, timed.micros)));
    }
    let over_ideal = |Timed { pair, micros }: Timed| {
        let links = Distance::of(pair).links;
        let ideal = alone.iter().find(|(of, _)| *of == links);
        micros / ideal.map_or(f64::NAN, |(_, ideal)| *ideal)
    };
    let times = simulate(&cell.place.pairs(seed), cell.place.links)?;
    Ok(times.into_iter().map(over_ideal).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uet::cells::{PLACES, SELECTIONS};

    #[test]
    fn a_flow_is_compared_with_one_over_as_many_links() {
        let links =
            [(0, 3), (0, 4), (15, 0), (0, 16), (17, 19)].map(|pair| Distance::of(pair).links);
        assert_eq!(links, [2, 4, 4, 6, 2]);
        let cell = Cell { place: &PLACES[1], selection: &SELECTIONS[1] };
        let ratios = over_alone(cell, 1, |pairs, links| {
            assert_eq!(links == Links::Healthy, pairs.len() == 1, "alone, links are as built");
            let micros = |pair| {
                f64::from(Distance::of(pair).links) * if pairs.len() == 1 { 1.0 } else { 3.0 }
            };
            Ok(pairs.iter().map(|&pair| Timed { pair, micros: micros(pair) }).collect())
        });
        assert_eq!(ratios.unwrap(), [3.0; HOSTS as usize]);
    }
}
