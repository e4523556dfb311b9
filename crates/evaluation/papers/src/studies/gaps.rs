//! Flowlet gaps: each flowlet scheme with gaps around the papers' 100 us, on a whole fabric and
//! with a link down.

use super::rivals::{Hosts, PathSelection, Rival};
use super::{Overrides, Point};
use heddle_claims::Effort;

pub(super) const ABOUT: &str = "Flowlet schemes with other gaps than the papers' 100 us: \
     web search between two pods of 16 hosts a ToR, under DCTCP and under MPTCP of two subflows (LIA), both with RACK-TLP. A short gap reorders \
     packets, a long one keeps flows where they are.";

/// The papers' fabric of two pods, 16 hosts a ToR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pods {
    /// With all links.
    Whole,
    /// Without one of eight links between core and aggregation.
    LinkDown,
}

impl Pods {
    pub(super) fn title(self) -> &'static str {
        match self {
            Pods::Whole => "two pods",
            Pods::LinkDown => "link down",
        }
    }
}

/// Flowlet gaps in microseconds.
const GAPS: [u16; 5] = [50, 100, 200, 500, 1000];

const RIVALS: [(Hosts, [PathSelection; 3]); 2] = [
    (Hosts::Dctcp, [PathSelection::LetItFlow, PathSelection::Hula, PathSelection::Shuttle]),
    (Hosts::Mptcp, [PathSelection::Hula, PathSelection::MpHula, PathSelection::Shuttle]),
];

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let gaps: &[u16] = if effort == Effort::Demo { &[100] } else { &GAPS };
    let pods = [(Pods::Whole, 80), (Pods::LinkDown, 45)];
    let rivals = RIVALS.into_iter().flat_map(|(hosts, selections)| {
        selections.into_iter().map(move |selection| Rival { hosts, selection })
    });
    let at = |rival| {
        pods.into_iter().flat_map(move |(pods, load)| {
            gaps.iter().map(move |&micros| Point::Gaps { pods, load, rival, micros })
        })
    };
    rivals.flat_map(at).collect()
}

pub(super) fn setting(pods: Pods, rival: Rival, micros: u16) -> String {
    let Rival { hosts, selection } = rival;
    format!("{}: {}, {}, {micros} us", pods.title(), hosts.title(), selection.title())
}

pub(super) fn overrides(effort: Effort, pods: Pods, rival: Rival, micros: u16) -> Overrides {
    let flows = match effort {
        Effort::Demo => 100,
        Effort::Quick | Effort::Medium => 1_000,
        Effort::Full => 20_000,
    };
    let transport = format!(
        r#"{{ {}, initial_window = 10, min_rto = "10ms", receive_window = "128KB" }}"#,
        rival.hosts.transport()
    );
    let mut overrides = vec![
        ("fabric.hosts_per_tor", "16".to_owned()),
        ("measure.flows", flows.to_string()),
        ("transport", transport),
        ("scheme", rival.selection.kind().to_owned()),
        ("scheme.flowlet_gap", format!("{micros}us")),
    ];
    if pods == Pods::LinkDown {
        overrides.push(("fabric.failed", r#"["core-2 agg-4"]"#.to_owned()));
    }
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
