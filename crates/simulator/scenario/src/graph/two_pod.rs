//! The fabric of HULA's and MP-HULA's experiments (HULA figure 4).

use heddle_config::Problem;

use super::limits::{Base, Counts, some};
use super::{AGG, Builder, CORE, HOST, TOR, check_rate, part};
use crate::Graph;
use crate::raw::TwoPod;

/// Two pods of two ToRs and two aggregation switches, each of these linked to both of two core
/// switches.
pub(crate) fn two_pod(shape: &TwoPod, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    some("hosts_per_tor", shape.hosts_per_tor)?;
    check_rate("host_rate", shape.host_rate)?;
    check_rate("core_rate", shape.core_rate)?;
    let hosts = 4 * u64::from(shape.hosts_per_tor);
    Counts { hosts, tors: 4, upper: 6, links: hosts + 16 }.check(most_links)?;
    let per_tor = shape.hosts_per_tor;
    let mut fabric = Builder::new(delay);
    let hosts = fabric.nodes("host", HOST, 4 * per_tor, Some(2 * per_tor));
    let tors = fabric.nodes("tor", TOR, 4, Some(2));
    let aggs = fabric.nodes("agg", AGG, 4, Some(2));
    let cores = fabric.nodes("core", CORE, 2, None);
    fabric.link_hosts(hosts, tors.clone(), per_tor, shape.host_rate);
    for pod in 0..2 {
        fabric.mesh(part(&tors, 2, pod), part(&aggs, 2, pod), shape.core_rate);
    }
    fabric.mesh(aggs, cores, shape.core_rate);
    Ok(fabric.graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_units::{Rate, Time};

    /// HULA section 6: 8 hosts a ToR; 8 paths between ToRs of different pods; 160 Gbps between
    /// pods.
    #[test]
    fn it_is_the_papers_fabric() {
        let graph = two_pod(&TwoPod::default(), Time::micros(1)).map_err(|_| ()).unwrap();
        let (hosts, switches): (Vec<_>, Vec<_>) = graph.nodes.iter().partition(|n| n.tier == 0);
        assert_eq!((hosts.len(), switches.len(), graph.links.len()), (32, 10, 32 + 8 + 8));
        let named = |name: &str| graph.nodes.iter().position(|n| n.name == name).unwrap() as u32;
        let has = |a, b| graph.links.iter().any(|l| l.ends == (named(a), named(b)));
        assert!(has("host-1", "tor-1") && has("host-9", "tor-2") && has("host-32", "tor-4"));
        assert!(has("tor-3", "agg-4") && !has("tor-2", "agg-3"));
        assert!(has("agg-4", "core-2") && has("agg-1", "core-1"));
        let up = |l: &&crate::Link| {
            graph.nodes[l.ends.1 as usize].tier == CORE && l.ends.0 < named("agg-3")
        };
        assert_eq!(graph.links.iter().filter(up).map(|l| l.rate.0).sum::<u64>(), Rate::gbps(160).0);
        assert_eq!(graph.nodes[15].pod, Some(1));
        assert_eq!(graph.nodes[16].pod, Some(2));
    }
}
