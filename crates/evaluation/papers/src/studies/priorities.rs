//! Priorities for short flows: connections of several subflows, the long ones, leave the best hop
//! to others.

use super::{Column, Overrides, Point};
use crate::mp_hula::points::{HULA, flows};
use crate::two_pod::Sizes;
use heddle_claims::Effort;
use heddle_study::metric::{
    mean_all, mean_large, mean_small, p99_all, p99_small, shared_link_percent,
};

pub(super) const ABOUT: &str = "Web search on the paper's fabric, coupled MPTCP of two subflows. With yield-best a connection of \
     several subflows leaves the best hop to others while it has another one.";

/// Treatment of connections of several subflows by the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LongFlows {
    /// HULA: the best hop for all.
    Hula,
    /// MP-HULA as published.
    Alike,
    /// They leave the best hop to others.
    YieldBest,
}

impl LongFlows {
    pub(super) fn title(self) -> &'static str {
        match self {
            LongFlows::Hula => "HULA",
            LongFlows::Alike => "MP-HULA, alike",
            LongFlows::YieldBest => "MP-HULA, yield-best",
        }
    }
}

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let loads: &[u8] = match effort {
        Effort::Demo => &[50],
        Effort::Quick | Effort::Medium => &[50, 70, 90],
        Effort::Full => &[10, 20, 30, 40, 50, 60, 70, 80, 90],
    };
    let settings = [LongFlows::Hula, LongFlows::Alike, LongFlows::YieldBest];
    let at = |long_flows| loads.iter().map(move |&load| Point::Priorities { load, long_flows });
    settings.into_iter().flat_map(at).collect()
}

pub(super) fn overrides(effort: Effort, long_flows: LongFlows) -> Overrides {
    let scheme = match long_flows {
        LongFlows::Hula => ("scheme", HULA.to_owned()),
        LongFlows::Alike => ("scheme.long_flows", "alike".to_owned()),
        LongFlows::YieldBest => ("scheme.long_flows", "yield-best".to_owned()),
    };
    let flows = flows(effort, Sizes::WebSearch).to_string();
    vec![scheme, ("measure.sample_every", "100us".to_owned()), ("measure.flows", flows)]
}

pub(super) const COLUMNS: &[Column] = &[
    Column::millis("fct_mean_small", "< 100 KB", mean_small),
    Column::millis("fct_p99_small", "< 100 KB, p99", p99_small),
    Column::millis("fct_mean_large", "> 10 MB", mean_large),
    Column::millis("fct_mean", "mean FCT", mean_all),
    Column::millis("fct_p99", "p99", p99_all),
    Column::percent("shared_link", "shared a link", shared_link_percent),
];
