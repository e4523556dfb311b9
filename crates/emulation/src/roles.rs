//! The hosts that send, and those that receive.

use std::collections::BTreeSet;

use heddle_scenario::{Pattern, Scenario, Scheme, Transport, Workload};

/// Subflows that agents open for each connection, the first included; `None` if there are none.
pub(crate) fn agent_subflows(scenario: &Scenario) -> Option<u8> {
    match (&scenario.scheme, &scenario.transport) {
        (Scheme::Cflb(_), Transport::Mptcp(mptcp)) if mptcp.subflows > 1 => Some(mptcp.subflows),
        _ => None,
    }
}

/// The hosts of one role; `None` of all.
type Hosts = Option<BTreeSet<u32>>;

/// Roles of a scenario's hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    senders: Hosts,
    receivers: Hosts,
}

impl Roles {
    pub(crate) fn of(scenario: &Scenario) -> Roles {
        let both = |senders: Vec<u32>, receivers: Vec<u32>| Roles {
            senders: Some(senders.into_iter().collect()),
            receivers: Some(receivers.into_iter().collect()),
        };
        let all = Roles { senders: None, receivers: None };
        match &scenario.workload {
            Workload::Flows(flows) => match &flows.pattern {
                Pattern::Sets { clients, servers } | Pattern::Pairs { clients, servers } => {
                    both(clients.clone(), servers.clone())
                }
                Pattern::Permutation | Pattern::Incast { .. } => all,
            },
            Workload::Long(long) => match long.pairs.clone() {
                Some(pairs) => {
                    let (senders, receivers) = pairs.into_iter().unzip();
                    both(senders, receivers)
                }
                None => all,
            },
            Workload::Replay(flows) => {
                let (senders, receivers) = flows.iter().map(|flow| (flow.from, flow.to)).unzip();
                both(senders, receivers)
            }
            Workload::Collective(_)
            | Workload::FlowGraph(_)
            | Workload::Requests(_)
            | Workload::Several(_) => all,
        }
    }

    /// True if the host opens connections.
    pub(crate) fn sends(&self, host: u32) -> bool {
        self.senders.as_ref().is_none_or(|hosts| hosts.contains(&host))
    }

    /// True if the host accepts connections.
    pub(crate) fn receives(&self, host: u32) -> bool {
        self.receivers.as_ref().is_none_or(|hosts| hosts.contains(&host))
    }

    /// The number of hosts that send; `None` if all do.
    pub(crate) fn senders(&self) -> Option<usize> {
        self.senders.as_ref().map(BTreeSet::len)
    }
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Source, load};

    use super::*;

    fn roles(workload: &str) -> Roles {
        let text = format!(
            "scheme = \"ecmp\"\nfabric = {{ kind = \"two-pod\" }}\nmeasure = {{ duration = \"1s\" }}\nworkload = {workload}\n"
        );
        let none = |_: &str| Err(std::io::Error::other("none"));
        Roles::of(&load(&Source::new("a.toml", text), &none).unwrap())
    }

    #[test]
    fn pairs_and_sets_have_senders_and_receivers() {
        let pairs = roles("{ kind = \"long\", pairs = [\"host-1 host-9\", \"host-2 host-9\"] }");
        assert!(pairs.sends(0) && pairs.sends(1) && !pairs.sends(8));
        assert!(pairs.receives(8) && !pairs.receives(0));
        assert_eq!(pairs.senders(), Some(2));
        let permutation = roles("{ kind = \"long\" }");
        assert!(permutation.sends(8) && permutation.receives(8));
        assert_eq!(permutation.senders(), None);
    }
}
