//! Dragonfly (Kim, Dally, Scott and Abts, Technology-driven, highly-scalable dragonfly topology,
//! ISCA 2008, section 3).
//!
//! A group has a routers, each with p hosts, linked to the a - 1 others of its group and by h links
//! to other groups. With a h + 1 groups one link joins each two. The paper's figure 5 has the
//! arrangement that is used here, the consecutive one: the ports of a group to others, in order of
//! its routers, lead to the other groups in order.

use heddle_config::Problem;

use super::limits::{Base, Counts, some};
use super::{Builder, HOST, TOR, check_delay, check_rate, part};
use crate::raw::Dragonfly;
use crate::{Graph, Link, Routing};

/// Numbers of a dragonfly, in the paper's letters.
struct Sizes {
    /// Routers of a group: a.
    routers: u32,
    /// Hosts of a router: p.
    hosts: u32,
    /// Links of a router to other groups: h.
    global: u32,
    /// g.
    groups: u32,
    /// Links between each two groups.
    between: u32,
}

/// Groups of routers, hosts and routers group by group.
pub(crate) fn dragonfly(shape: &Dragonfly, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    let Sizes { routers, hosts, global, groups, between } = check(shape, most_links)?;
    let mut fabric = Builder::new(delay);
    fabric.graph.routing = Routing::Minimal;
    let ends = fabric.nodes("host", HOST, groups * routers * hosts, Some(routers * hosts));
    let all = fabric.nodes("router", TOR, groups * routers, Some(routers));
    fabric.link_hosts(ends, all.clone(), hosts, shape.host_rate);
    for group in 0..groups {
        let group = part(&all, routers, group);
        for a in group.clone() {
            (a + 1..group.end).for_each(|b| fabric.link(a, b, shape.local_rate));
        }
    }
    let delay = shape.global_delay.unwrap_or(delay);
    // A group's port of this number is that of its routers in order.
    let router = |group: u32, port: u32| all.start + group * routers + port / global;
    for (a, b) in (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b))) {
        for turn in (0..between).map(|turn| turn * (groups - 1)) {
            let ends = (router(a, turn + b - 1), router(b, turn + a));
            fabric.graph.links.push(Link::new(ends, shape.global_rate, delay));
        }
    }
    Ok(fabric.graph)
}

fn check(shape: &Dragonfly, most_links: u64) -> Result<Sizes, Problem> {
    some("routers", shape.routers)?;
    let half = shape.balanced();
    let hosts = shape.hosts_per_router.unwrap_or(half);
    let global = shape.global_links.unwrap_or(half);
    some("hosts_per_router", hosts)?;
    some("global_links", global)?;
    check_rate("host_rate", shape.host_rate)?;
    check_rate("local_rate", shape.local_rate)?;
    check_rate("global_rate", shape.global_rate)?;
    shape.global_delay.map_or(Ok(()), |delay| check_delay("global_delay", delay))?;
    let ports = u64::from(shape.routers) * u64::from(global);
    let groups = shape.groups.map_or(ports + 1, u64::from);
    if !(2..=ports + 1).contains(&groups) {
        let message = format!("{groups} groups cannot be joined by {ports} links of each");
        return Err(Problem::at("groups", message)
            .help(format!("from 2 to {}: a group has `routers` times `global_links`", ports + 1)));
    }
    let tors = groups.saturating_mul(shape.routers.into());
    let between = ports / (groups - 1);
    let hosts_in_all = tors.saturating_mul(hosts.into());
    let local = tors.saturating_mul(u64::from(shape.routers) - 1) / 2;
    let links = local.saturating_add(tors.saturating_mul(global.into()) / 2);
    let links = links.saturating_add(hosts_in_all);
    Counts { hosts: hosts_in_all, tors, upper: 0, links }.check(most_links)?;
    let (groups, between) = (groups as u32, between as u32);
    Ok(Sizes { routers: shape.routers, hosts, global, groups, between })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::graph::{most_next_hops, most_switches};
    use heddle_units::{Rate, Time};

    fn shape(routers: u32, hosts: u32, global: u32, groups: Option<u32>) -> Dragonfly {
        let rate = Rate::gbps(10);
        Dragonfly {
            routers,
            hosts_per_router: Some(hosts),
            global_links: Some(global),
            groups,
            host_rate: rate,
            local_rate: rate,
            global_rate: Rate::gbps(40),
            global_delay: Some(Time::micros(5)),
        }
    }

    fn build(routers: u32, hosts: u32, global: u32, groups: Option<u32>) -> Graph {
        dragonfly(&shape(routers, hosts, global, groups), Time::micros(1)).map_err(|_| ()).unwrap()
    }

    /// Links between each two groups.
    fn between(graph: &Graph) -> BTreeMap<(u16, u16), u32> {
        let mut count = BTreeMap::new();
        for link in &graph.links {
            let [a, b] =
                [link.ends.0, link.ends.1].map(|end| graph.nodes[end as usize].pod.unwrap());
            if a != b {
                assert_eq!((link.rate, link.delay), (Rate::gbps(40), Time::micros(5)));
                *count.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        count
    }

    /// Section 3.1: a p (a h + 1) hosts, a (a h + 1) routers of radix p + a - 1 + h, one link
    /// between each two of a h + 1 groups.
    #[test]
    fn sizes_and_ports_are_the_papers() {
        for (a, p, h) in [(4, 2, 2), (2, 1, 1), (6, 3, 3), (3, 4, 1), (1, 2, 4)] {
            let graph = build(a, p, h, None);
            let groups = a * h + 1;
            let (hosts, routers) = ((groups * a * p) as usize, (groups * a) as usize);
            assert_eq!(graph.nodes.len(), hosts + routers);
            let mut ports = vec![0; graph.nodes.len()];
            for (a, b) in graph.links.iter().map(|link| link.ends) {
                (ports[a as usize], ports[b as usize]) =
                    (ports[a as usize] + 1, ports[b as usize] + 1);
            }
            assert_eq!(ports[..hosts], vec![1; hosts]);
            assert_eq!(ports[hosts..], vec![p + a - 1 + h; routers]);
            let between = between(&graph);
            assert_eq!(between.len() as u32, groups * (groups - 1) / 2);
            assert!(between.values().all(|&links| links == 1));
        }
    }

    /// Figure 5, p = h = 2 and a = 4: 72 hosts in 9 groups. The first router of group 1 leads to
    /// groups 2 and 3, the last to 8 and 9.
    #[test]
    fn ports_lead_to_the_other_groups_in_order() {
        let graph = build(4, 2, 2, None);
        let routers =
            |name: &str| graph.nodes.iter().position(|node| node.name == name).unwrap() as u32;
        let groups_of = |name: &str| {
            let here = routers(name);
            let far = graph.links.iter().filter_map(|link| match link.ends {
                (a, b) if a == here => Some(b),
                (a, b) if b == here => Some(a),
                _ => None,
            });
            let pods = far.filter_map(|node| graph.nodes[node as usize].pod);
            pods.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(groups_of("router-1"), [1, 2, 3]);
        assert_eq!(groups_of("router-4"), [1, 8, 9]);
        assert_eq!(groups_of("router-5"), [1, 2, 3], "the first of group 2");
        assert_eq!(groups_of("router-36"), [7, 8, 9], "the last of group 9");
    }

    #[test]
    fn fewer_groups_have_several_links_between_them() {
        for (groups, expected) in [(2, 8), (3, 4), (5, 2), (4, 2)] {
            let between = between(&build(4, 2, 2, Some(groups)));
            assert_eq!(between.len() as u32, groups * (groups - 1) / 2);
            assert!(between.values().all(|&links| links == expected), "{between:?}");
        }
    }

    /// Section 4.1: a link inside of the group, one to the other group, one inside of it. With one
    /// link between groups there is no choice.
    #[test]
    fn minimal_paths_cross_four_routers_at_most() {
        let graph = build(4, 2, 2, None);
        assert_eq!((most_switches(&graph), most_next_hops(&graph)), (4, 1));
        let graph = build(4, 2, 2, Some(3));
        assert_eq!(most_switches(&graph), 3, "every router has a link to every group");
        assert_eq!(most_next_hops(&graph), 2, "the link inside of the group first or last");
        // 8 links to the one other group: 2 of each router.
        let graph = build(4, 2, 2, Some(2));
        assert_eq!((most_switches(&graph), most_next_hops(&graph) > 1), (3, true));
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let message = |shape: Dragonfly| {
            let problem = dragonfly(&shape, Time::ZERO).err().unwrap();
            heddle_config::ConfigError::from(problem).to_string()
        };
        assert_eq!(message(shape(0, 1, 1, None)), "routers: must be at least 1");
        assert_eq!(
            message(shape(4, 2, 2, Some(10))),
            "groups: 10 groups cannot be joined by 8 links of each\nhelp: from 2 to 9: a group has `routers` times `global_links`"
        );
        assert!(message(shape(64, 32, 32, None)).contains("hosts are too many"));
        assert!(message(shape(u32::MAX, u32::MAX, u32::MAX, None)).contains("too many"));
    }
}
