//! The balancers of the cluster.

use heddle_config::Problem;

use super::super::raw;
use super::super::resolved::{Balancer, Etcd, Member, Membership, Steering};
use super::addresses::{can_reach, check_unicast};
use super::etcd;
use super::ids::{check_id, member};
use super::names::check_name;

pub(super) fn membership(file: &raw::File, own: &Balancer) -> Result<Membership, Problem> {
    let Some(raw::Membership { etcd }) = &file.membership else {
        return members(&file.balancers, own).map(Membership::Static);
    };
    if !file.balancers.is_empty() {
        let problem = Problem::at("membership", "balancers are listed in `[[balancers]]` too");
        return Err(problem.help("keep one of both"));
    }
    if own.member.is_none() {
        let problem =
            Problem::at("balancer.addresses", "other balancers need an address to reach this one");
        return Err(problem.help("addresses = [\"10.0.0.1\"]"));
    }
    if own.name.is_empty() || own.name.contains('/') {
        let message = format!("`{}` cannot be a key in etcd", own.name);
        return Err(Problem::at("balancer.name", message).help("a name without slashes"));
    }
    etcd::check(etcd).map_err(|problem| problem.inside("membership.etcd"))?;
    Ok(Membership::Etcd(Etcd {
        endpoints: etcd.endpoints.clone(),
        prefix: etcd.prefix.trim_end_matches('/').to_owned(),
        lease: etcd.lease.0,
        credentials: etcd::credentials(etcd),
    }))
}

fn members(listed: &[raw::Member], own: &Balancer) -> Result<Vec<Member>, Problem> {
    if listed.is_empty() {
        return Ok(own.member.clone().into_iter().collect());
    }
    for (number, new) in listed.iter().enumerate() {
        let checked = check_member(new, &listed[..number], own);
        checked.map_err(|problem| problem.inside(&format!("balancers.{number}")))?;
    }
    let mut members: Vec<Member> = listed.iter().map(member).collect();
    members.sort_by_key(|member| member.id);
    Ok(members)
}

fn check_member(new: &raw::Member, before: &[raw::Member], own: &Balancer) -> Result<(), Problem> {
    check_name("name", &new.name)?;
    if before.iter().any(|old| old.name == new.name) {
        return Err(Problem::at("name", format!("`{}` is given twice", new.name)));
    }
    if before.iter().any(|old| old.address == new.address) {
        return Err(Problem::at("address", format!("{} is given twice", new.address)));
    }
    check_unicast("address", new.address)?;
    if !can_reach(own, new.address) {
        let message = format!("this balancer has no address to send to {} from", new.address);
        let problem = Problem::at("address", message);
        return Err(problem.help("add one of its family to `balancer.addresses`"));
    }
    check_id(new.id)
}

pub(super) fn steering(file: &raw::File) -> Result<Option<Steering>, Problem> {
    let several = file.balancers.len() > 1 || file.membership.is_some();
    match &file.steering {
        None if several => {
            let place = if file.membership.is_some() { "membership" } else { "balancers" };
            Err(Problem::at(place, "several balancers need `[steering]`").help(
                "[steering] with secret_file = \"/etc/heddle/secret\", the same on all balancers",
            ))
        }
        Some(steering) if steering.port == 0 => {
            Err(Problem::at("steering.port", "0 is not a port number").help("1 to 65535"))
        }
        Some(steering) if steering.accepted_secret_files.len() > 1 => {
            let problem =
                Problem::at("steering.accepted_secret_files", "more than one other secret");
            Err(problem.help("finish one change of the secret before the next"))
        }
        steering => Ok(steering.as_ref().map(|steering| Steering {
            port: steering.port,
            secret_file: steering.secret_file.clone(),
            accepted_secret_file: steering.accepted_secret_files.first().cloned(),
            seed_file: steering.seed_file.as_ref().unwrap_or(&steering.secret_file).clone(),
        })),
    }
}
