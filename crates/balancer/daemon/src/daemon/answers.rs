//! Answers to requests of the admin socket.

mod backends;
mod changes;
mod connections;
pub(super) mod edit;
mod status;
#[cfg(test)]
mod tests;

use heddle_config::nearest;

use super::Core;
use super::event_sources::SourceStatus;
use super::names::Names;
use crate::admin::{Members, Problem, ProblemKind, Reloaded, Reply, Request, Selection};
use crate::config::{self, Config};

impl Core {
    /// Carries a request out.
    pub(super) fn answer(
        &mut self,
        request: Request,
        sources: &SourceStatus,
    ) -> Result<Reply, Problem> {
        match request {
            Request::Status => self.status(sources).map(Reply::Status),
            Request::Health => Ok(Reply::Health(self.health_status(sources))),
            Request::Services => self.services(sources).map(Reply::Services),
            Request::Backends(selection) => self.selected(&selection, sources).map(Reply::Backends),
            Request::Add(new) => self.add(&new, sources).map(Reply::Backends),
            Request::Change { service, backend, change } => {
                self.change(service.as_deref(), &backend, change)?;
                self.selected(&Selection { service, backend: Some(backend) }, sources)
                    .map(Reply::Backends)
            }
            Request::Remove { service, backend } => {
                self.remove(service.as_deref(), &backend, sources).map(Reply::Backends)
            }
            Request::Changes => Ok(Reply::Changes(self.shared_changes())),
            Request::Shared(_) => Err(refused("it is written to etcd first")),
            Request::Connections { filter, limit } => {
                self.connections(&filter, limit).map(Reply::Connections)
            }
            Request::Explain(packet) => self.explain(&packet).map(Reply::Explained),
            Request::Counters => Ok(Reply::Counters(Box::new(self.snapshot(sources)))),
            Request::Reload => {
                let reloaded = self.reload().map(|changes| Reply::Reloaded(Reloaded { changes }));
                reloaded.map_err(refused)
            }
            Request::Members => {
                Ok(Reply::Members(Members { members: self.member_statuses(sources) }))
            }
        }
    }

    /// Calls `use_names` with the names of the numbers in the maps.
    pub(super) fn with_names<T>(&self, use_names: impl FnOnce(Names<'_>) -> T) -> T {
        use_names(Names {
            config: &self.state.inputs.config,
            plan: &self.state.plan,
            members: &self.state.listed(),
            former: &self.state.former,
        })
    }
}

pub(super) fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Refused, message)
}

/// An error of the kernel's, as an answer.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn failed(error: heddle_balancer_maps::Error) -> Problem {
    Problem { kind: ProblemKind::Internal, message: error.to_string() }
}

/// No `kind` has such a name: suggests the nearest that there is, or lists all of them.
pub(super) fn not_found<'a>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Problem {
    let list = known.clone().collect::<Vec<_>>().join(", ");
    let help = match nearest(name, known) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if list.is_empty() => "there is none".to_owned(),
        None => format!("there are: {list}"),
    };
    Problem { kind: ProblemKind::NotFound, message: format!("no {kind} is called {name}; {help}") }
}

/// The service of this name; without a name all services.
fn services<'a>(
    config: &'a Config,
    name: Option<&str>,
) -> Result<Vec<&'a config::Service>, Problem> {
    let all: Vec<_> = config.services.iter().collect();
    let Some(name) = name else { return Ok(all) };
    let found = all.iter().copied().find(|service| service.name == name);
    let known = all.iter().map(|service| service.name.as_str());
    found.map(|service| vec![service]).ok_or_else(|| not_found("service", name, known))
}

/// The backends of this name, in one service or in all; at least one.
pub(super) fn named_backends<'a>(
    config: &'a Config,
    service: Option<&str>,
    name: &str,
) -> Result<Vec<&'a config::Backend>, Problem> {
    let services = services(config, service)?;
    let all = services.iter().flat_map(|service| &service.backends);
    let found: Vec<_> = all.clone().filter(|backend| backend.name == name).collect();
    if found.is_empty() {
        let mut known: Vec<&str> = all.map(|backend| backend.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        return Err(not_found("backend", name, known.into_iter()));
    }
    Ok(found)
}
