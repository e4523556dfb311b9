//! Entries of the flow table.

use std::net::SocketAddr;
use std::time::Duration;

use heddle_balancer_maps::maps::Flow;

use super::{failed, named_backends, services};
use crate::admin::{Connection, Connections, Filter, Problem};
use crate::daemon::Core;
use crate::daemon::lifetimes::Lifetimes;
use crate::daemon::names::{GONE, Names};

impl Core {
    /// The live flows that a filter lets through, and the first `limit` of them.
    pub(super) fn connections(&self, filter: &Filter, limit: u32) -> Result<Connections, Problem> {
        let maps = &self.balancer.maps;
        let lifetimes = Lifetimes::of(&self.balancer).map_err(failed)?;
        self.with_names(|names| {
            let wanted = Wanted::new(filter, &names)?;
            let mut told = Connections::default();
            let active = |flow: &Flow| {
                let most = filter.active.map(|seconds| Duration::from_secs(seconds.into()));
                most.is_none_or(|most| lifetimes.since(flow.seen) < most)
            };
            for flow in lifetimes.flows(maps).filter(|flow| wanted.has(flow) && active(flow)) {
                told.matching += 1;
                if told.flows.len() < limit as usize {
                    told.flows.push(connection(&names, &lifetimes, &flow));
                }
            }
            Ok(told)
        })
    }
}

/// A filter in the tables' own numbers.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    filter: &'a Filter,
    service: Option<u16>,
    targets: Option<Vec<u16>>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(filter: &'a Filter, names: &Names<'_>) -> Result<Wanted<'a>, Problem> {
        let Names { config, plan, .. } = names;
        let service = filter.service.as_deref();
        let service = match service {
            None => None,
            Some(_) => plan.services.index(&services(config, service)?[0].key()),
        };
        let targets = match &filter.backend {
            None => None,
            Some(name) => {
                let left = names.left(filter.service.as_deref(), name);
                let named = match named_backends(config, filter.service.as_deref(), name) {
                    Err(problem) if left.is_empty() => return Err(problem),
                    named => named.unwrap_or_default(),
                };
                let indices = named.iter().filter_map(|b| plan.targets.index(&b.id));
                Some(indices.chain(left).collect())
            }
        };
        Ok(Wanted { filter, service, targets })
    }

    pub(super) fn has(&self, flow: &Flow) -> bool {
        let Wanted { filter, service, targets } = self;
        service.is_none_or(|service| flow.service == service)
            && targets.as_ref().is_none_or(|targets| targets.contains(&flow.target))
            && filter.client.is_none_or(|client| flow.client == client)
            && filter.token.is_none_or(|token| flow.token == Some(token))
    }
}

fn connection(names: &Names<'_>, lifetimes: &Lifetimes, flow: &Flow) -> Connection {
    Connection {
        client: SocketAddr::new(flow.client, flow.port),
        service: names.service(flow.service).map_or(GONE, |service| &service.name).into(),
        backend: names.described(flow.target),
        token: flow.token,
        state: flow.state.name().into(),
        idle: lifetimes.since(flow.seen),
    }
}
