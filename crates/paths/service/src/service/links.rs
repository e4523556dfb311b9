//! Operations on links: list them with their load, change their state.

use std::sync::{Arc, PoisonError};

use heddle_path_encoder::Network;

use super::{Service, lock};
use crate::{Problem, request, response, v1};

/// The default and the highest limit of a list.
const LIMITS: (u32, u32) = (256, 1024);

impl Service {
    /// Lists links.
    ///
    /// # Errors
    /// A limit that is too high.
    pub fn list_links(
        &self,
        request: &v1::ListLinksRequest,
    ) -> Result<v1::ListLinksResponse, Problem> {
        self.run("list_links", || {
            let limit = request::limit(request.limit, LIMITS.0, LIMITS.1)?;
            let (connections, network) = (self.connections(), self.network());
            let placer = connections.placer();
            let listed = (0..self.links.len() as u32).skip(request.offset as usize).take(limit);
            let links = listed.map(|index| self.links.describe(&network, placer, index)).collect();
            Ok(v1::ListLinksResponse { links, total: self.links.len() as u64 })
        })
    }

    /// Changes the state of a link. In large fabrics this computes for long and must not run in an
    /// asynchronous task.
    ///
    /// # Errors
    /// No such link; no state.
    pub fn set_link(&self, request: &v1::SetLinkRequest) -> Result<v1::SetLinkResponse, Problem> {
        self.run("set_link", || {
            let is_down = is_down_state(request.state)?;
            let _rerouting = lock(&self.rerouting);
            let mut network = Network::clone(&self.network());
            let link = self.links.find(
                &network,
                request::name("a", &request.a)?,
                request::name("b", &request.b)?,
                request.parallel,
            )?;
            let was_down = network.down().contains(&link);
            if is_down != was_down {
                let others = network.down().iter().copied().filter(|other| *other != link);
                let down: Vec<u32> = others.chain(is_down.then_some(link)).collect();
                network.set_down(&down)?;
            }
            let state = if is_down { "down" } else { "up" };
            let (v1::SetLinkRequest { a, b, parallel, .. }, changed) =
                (request, is_down != was_down);
            tracing::info!(a, b, parallel, state, changed, "link");
            Ok(self.reroute(network))
        })
    }

    /// Replaces the network, and returns the subflows that no longer take their paths.
    fn reroute(&self, network: Network) -> v1::SetLinkResponse {
        let (connections, network) = (self.connections(), Arc::new(network));
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = network.clone();
        let affected = connections.affected(&network);
        v1::SetLinkResponse { affected: affected.into_iter().map(response::affected).collect() }
    }
}

fn is_down_state(state: i32) -> Result<bool, Problem> {
    match v1::LinkState::try_from(state) {
        Ok(v1::LinkState::Up) => Ok(false),
        Ok(v1::LinkState::Down) => Ok(true),
        _ => Err(Problem::invalid(
            "state",
            "the link's state is missing",
            "set it to \"up\" or \"down\"",
        )),
    }
}
