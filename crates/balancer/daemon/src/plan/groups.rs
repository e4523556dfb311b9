//! Groups of services, whose tokens are stored under one of them: the one with the least number.

use std::collections::BTreeMap;

use super::Plan;
use crate::config::{Config, Service};

/// The number of the service under which this one's tokens are stored; 0: it is in no group.
pub(super) fn number(config: &Config, plan: &Plan, service: &Service) -> u16 {
    first(config, plan, service).map_or(0, |(number, _)| number)
}

/// `group_targets`: from a service and a target to the target of the same name in the service under
/// which the group's tokens are stored, and back.
pub(super) fn targets(config: &Config, plan: &Plan) -> BTreeMap<u32, u16> {
    let mut targets = BTreeMap::new();
    for service in &config.services {
        let Some((_, first)) = first(config, plan, service) else { continue };
        let Some(number) = plan.services.index(&service.key()) else { continue };
        for (own, shared) in pairs(plan, service, first) {
            targets.insert(u32::from(number) << 16 | u32::from(own), shared);
            targets.insert(u32::from(number) << 16 | u32::from(shared), own);
        }
    }
    targets
}

/// The service of the group with the least number.
fn first<'a>(config: &'a Config, plan: &Plan, service: &Service) -> Option<(u16, &'a Service)> {
    let group = service.group.as_ref()?;
    let members = config.services.iter().filter(|other| other.group.as_ref() == Some(group));
    members
        .filter_map(|other| Some((plan.services.index(&other.key())?, other)))
        .min_by_key(|(number, _)| *number)
}

/// The indices of each backend in two services.
fn pairs(plan: &Plan, one: &Service, other: &Service) -> Vec<(u16, u16)> {
    let pair = |backend: &crate::config::Backend| {
        let same = other.backends.iter().find(|other| other.name == backend.name)?;
        Some((plan.targets.index(&backend.id)?, plan.targets.index(&same.id)?))
    };
    one.backends.iter().filter_map(pair).filter(|(own, shared)| own != shared).collect()
}
