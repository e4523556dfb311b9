//! Flowlet gaps: each flowlet scheme with gaps around the papers' 100 us, on a whole fabric and
//! with a link down.

use super::rivals::{self, Hosts, PathSelection, Rival, Setup};
use super::{Overrides, Point};
use heddle_claims::Effort;

pub(super) const ABOUT: &str = "Flowlet schemes with other gaps than the papers' 100 us. Fabric, hosts and traffic are those of the study rivals: \
     web search between two pods of 16 hosts a ToR, under DCTCP and under MPTCP of two subflows (LIA), both with RACK-TLP. A short gap reorders \
     packets, a long one keeps flows where they are.";

/// Flowlet gaps in microseconds.
const GAPS: [u16; 5] = [50, 100, 200, 500, 1000];

const RIVALS: [(Hosts, [PathSelection; 3]); 2] = [
    (Hosts::Dctcp, [PathSelection::LetItFlow, PathSelection::Hula, PathSelection::Shuttle]),
    (Hosts::Mptcp, [PathSelection::Hula, PathSelection::MpHula, PathSelection::Shuttle]),
];

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let gaps: &[u16] = if effort == Effort::Demo { &[100] } else { &GAPS };
    let setups = [(Setup::Whole, 80), (Setup::LinkDown, 45)];
    let rivals = RIVALS.into_iter().flat_map(|(hosts, selections)| {
        selections.into_iter().map(move |selection| Rival { hosts, selection })
    });
    let at = |rival| {
        setups.into_iter().flat_map(move |(setup, load)| {
            gaps.iter().map(move |&micros| Point::Gaps { setup, load, rival, micros })
        })
    };
    rivals.flat_map(at).collect()
}

pub(super) fn setting(setup: Setup, rival: Rival, micros: u16) -> String {
    format!("{}, {micros} us", rivals::setting(setup, rival))
}

pub(super) fn overrides(effort: Effort, setup: Setup, rival: Rival, micros: u16) -> Overrides {
    let mut overrides = rivals::overrides(effort, setup, rival);
    overrides.push(("scheme.flowlet_gap", format!("{micros}us")));
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_scenario::Scheme;
    use heddle_study::point::Point as _;

    #[test]
    fn each_scheme_has_the_points_gap() {
        for point in points(Effort::Quick) {
            let Point::Gaps { micros, .. } = point else { unreachable!() };
            let gap = match point.scenario(Effort::Quick).unwrap().scheme {
                Scheme::LetItFlow(flowlets) => flowlets.flowlet_gap,
                Scheme::Hula(scheme) => scheme.flowlet_gap,
                Scheme::MpHula(scheme) => scheme.hula.flowlet_gap,
                Scheme::Shuttle(scheme) => scheme.hula.flowlet_gap,
                other => panic!("{}: {other:?}", point.label()),
            };
            assert_eq!(gap.as_nanos(), u64::from(micros) * 1000, "{}", point.label());
        }
    }
}
