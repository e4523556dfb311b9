//! VL2's Clos network (Greenberg et al., SIGCOMM 2009, section 4.1).

use heddle_config::Problem;

use super::limits::{Base, Counts, some};
use super::{AGG, Builder, CORE, HOST, TOR, check_rate, part};
use crate::Graph;
use crate::raw::Vl2;

/// D_I aggregation switches, each linked to all of D_A/2 intermediate switches and, in pairs, to
/// D_A/2 ToRs.
pub(crate) fn vl2(shape: &Vl2, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    check(shape, most_links)?;
    let (tors_of_pair, pairs) = (shape.aggregation_ports / 2, shape.intermediate_ports / 2);
    let per_tor = shape.hosts_per_tor;
    let mut fabric = Builder::new(delay);
    let tors = pairs * tors_of_pair;
    let hosts = fabric.nodes("host", HOST, tors * per_tor, Some(tors_of_pair * per_tor));
    let tors = fabric.nodes("tor", TOR, tors, Some(tors_of_pair));
    let aggs = fabric.nodes("agg", AGG, 2 * pairs, Some(2));
    let intermediates = fabric.nodes("intermediate", CORE, tors_of_pair, None);
    fabric.link_hosts(hosts, tors.clone(), per_tor, shape.host_rate);
    for pair in 0..pairs {
        let tors = part(&tors, tors_of_pair, pair);
        fabric.mesh(tors, part(&aggs, 2, pair), shape.switch_rate);
    }
    fabric.mesh(aggs, intermediates, shape.switch_rate);
    Ok(fabric.graph)
}

fn check(shape: &Vl2, most_links: u64) -> Result<(), Problem> {
    let ports = [
        ("aggregation_ports", shape.aggregation_ports),
        ("intermediate_ports", shape.intermediate_ports),
    ];
    for (key, count) in ports {
        if count < 2 || count % 2 != 0 {
            return Err(Problem::at(key, format!("{count} ports cannot be halved"))
                .help("an even number from 2 up"));
        }
    }
    some("hosts_per_tor", shape.hosts_per_tor)?;
    check_rate("host_rate", shape.host_rate)?;
    check_rate("switch_rate", shape.switch_rate)?;
    let (d_a, d_i) = (u64::from(shape.aggregation_ports), u64::from(shape.intermediate_ports));
    let tors = (d_a / 2) * (d_i / 2);
    let hosts = tors.saturating_mul(shape.hosts_per_tor.into());
    let between = 2 * tors + (d_a / 2) * d_i;
    Counts { hosts, tors, upper: d_i + d_a / 2, links: hosts.saturating_add(between) }
        .check(most_links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_units::{Rate, Time};

    fn build(aggregation_ports: u32, intermediate_ports: u32) -> Graph {
        let (host_rate, switch_rate) = (Rate::gbps(1), Rate::gbps(10));
        let shape = Vl2 {
            aggregation_ports,
            intermediate_ports,
            hosts_per_tor: 20,
            host_rate,
            switch_rate,
        };
        vl2(&shape, Time::micros(1)).map_err(|_| ()).unwrap()
    }

    /// Section 4.1: D_A D_I / 4 ToRs of 20 servers and two uplinks each, D_I aggregation switches
    /// of D_A ports, D_A / 2 intermediate switches of D_I ports.
    #[test]
    fn sizes_and_ports_are_the_papers() {
        for (d_a, d_i) in [(2, 2), (4, 6), (6, 4), (12, 12)] {
            let graph = build(d_a, d_i);
            let mut ports = vec![0; graph.nodes.len()];
            for (a, b) in graph.links.iter().map(|link| link.ends) {
                (ports[a as usize], ports[b as usize]) =
                    (ports[a as usize] + 1, ports[b as usize] + 1);
            }
            let of_tier = |tier: u8| {
                let nodes =
                    graph.nodes.iter().zip(&ports).filter(move |(node, _)| node.tier == tier);
                nodes.map(|(_, ports)| *ports).collect::<Vec<u32>>()
            };
            let tors = d_a * d_i / 4;
            assert_eq!(of_tier(HOST), vec![1; tors as usize * 20]);
            assert_eq!(of_tier(TOR), vec![22; tors as usize]);
            assert_eq!(of_tier(AGG), vec![d_a; d_i as usize]);
            assert_eq!(of_tier(CORE), vec![d_i; d_a as usize / 2]);
        }
    }

    /// A pair of aggregation switches and its ToRs are a pod.
    #[test]
    fn the_two_uplinks_of_a_tor_lead_to_one_pair() {
        let graph = build(4, 6);
        let pods_of = |name: &str| {
            let pods = graph.nodes.iter().filter(|node| node.name.starts_with(name));
            pods.map(|node| node.pod.unwrap()).collect::<Vec<u16>>()
        };
        assert_eq!(
            (pods_of("tor-"), pods_of("agg-")),
            (vec![1, 1, 2, 2, 3, 3], vec![1, 1, 2, 2, 3, 3])
        );
        let pod = |node: u32| graph.nodes[node as usize].pod;
        let below = graph.links.iter().filter(|link| graph.nodes[link.ends.1 as usize].tier == AGG);
        assert!(below.map(|link| link.ends).all(|(tor, agg)| pod(tor) == pod(agg)));
    }
}
