//! Groups of services: connections to one of them are joined through all.

use std::collections::BTreeSet;

use heddle_config::Problem;

use super::super::resolved::Service;
use crate::service::MptcpMode;

/// Checks a service against those before it: the services of a group have the same backends, and
/// the same mode, in which tokens are stored.
pub(super) fn check(new: &Service, before: &[Service]) -> Result<(), Problem> {
    let Some(group) = &new.group else { return Ok(()) };
    if new.mptcp != MptcpMode::Learn {
        let message =
            format!("`mptcp = \"{}\"` stores no tokens that a group could share", new.mptcp);
        return Err(Problem::at("group", message).help("mptcp = \"learn\""));
    }
    let Some(first) = before.iter().find(|service| service.group.as_ref() == Some(group)) else {
        return Ok(());
    };
    let (names, wanted) = (names(new), names(first));
    match names.symmetric_difference(&wanted).next() {
        Some(name) => {
            let (has, lacks) = if names.contains(name) { (new, first) } else { (first, new) };
            let message = format!("backend `{name}` of `{}` is none of `{}`", has.name, lacks.name);
            Err(Problem::at("group", message).help(
                "services of a group have backends of the same names, which are the same hosts",
            ))
        }
        None => Ok(()),
    }
}

fn names(service: &Service) -> BTreeSet<&str> {
    service.backends.iter().map(|backend| backend.name.as_str()).collect()
}
