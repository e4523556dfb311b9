//! Services that ask about the source of packets.

use heddle_balancer_maps::abi::{ACCESS_FILTERED, ACCESS_LIMITED, AccessRule};

use super::*;
use crate::plan::AccessName;

fn asking(access: &str) -> Config {
    let text = config_text(&[1]);
    let text = text.replace("port = 443\n", &format!("port = 443\naccess = {{ {access} }}\n"));
    load("lb.toml", &text).unwrap()
}

fn flags(trace: &Trace) -> u32 {
    let vips = trace.plan.maps.vips.values();
    vips.fold(0, |flags, vip| flags | u32::from(vip.access))
}

/// If some sources are allowed, others are not. An entry of the service asks when its rules are there, and
/// no longer before they go.
#[test]
fn rules_are_there_before_the_service_asks() {
    let mut trace = Trace::start();
    trace.update(&config(&[1])).unwrap();
    assert_eq!((flags(&trace), trace.plan.maps.access_rules.len()), (0, 0));
    let asks = asking("allow = ['198.18.0.0/15'], deny = ['198.18.1.0/24']");
    let changes = trace.update(&asks).unwrap();
    let rule =
        |source: &str, bits| AccessName { service: 1, bits, source: source.parse().unwrap() };
    let rules: Vec<_> = trace.plan.maps.access_rules.clone().into_iter().collect();
    let (allow, deny) = (AccessRule::Allow as u32, AccessRule::Deny as u32);
    let wanted = [
        (rule("::", 0), deny),
        (rule("::ffff:198.18.0.0", 96 + 15), allow),
        (rule("::ffff:198.18.1.0", 96 + 24), deny),
    ];
    assert_eq!(rules, wanted);
    assert_eq!(flags(&trace), ACCESS_FILTERED);
    let is_vip = |change: &Change| matches!(change, Change::Vip(..));
    let is_rule = |change: &Change| matches!(change, Change::AccessRule(..));
    let last_rule = changes.iter().rposition(is_rule).unwrap();
    assert!(last_rule < changes.iter().position(is_vip).unwrap(), "{changes:?}");
    let changes = trace.update(&config(&[1])).unwrap();
    let first_rule = changes.iter().position(is_rule).unwrap();
    assert!(first_rule > changes.iter().rposition(is_vip).unwrap(), "{changes:?}");
    assert!(trace.plan.maps.access_rules.is_empty());
}

#[test]
fn a_service_with_a_limit_counts() {
    let mut trace = Trace::start();
    trace.update(&asking("source_new_connections = 20, ipv4_bits = 24")).unwrap();
    let limit = trace.plan.maps.access_limits[&1];
    assert_eq!((limit.service, limit.source, limit.ipv4_bits, limit.ipv6_bits), (0, 20, 24, 64));
    assert_eq!(flags(&trace), ACCESS_LIMITED);
    trace.update(&config(&[1])).unwrap();
    assert!(trace.plan.maps.access_limits.is_empty());
}
