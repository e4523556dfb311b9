//! Links: what is placed on them, and news of them.

use std::sync::{Arc, PoisonError};

use heddle_path_encoder::Network;

use super::{Service, lock};
use crate::{Problem, answer, ask, v1};

/// Links that are listed unless asked otherwise, and at most.
const LISTED: (u32, u32) = (256, 1024);

impl Service {
    /// Lists links.
    ///
    /// # Errors
    /// A limit that is too high.
    pub fn list_links(&self, ask: &v1::ListLinksRequest) -> Result<v1::ListLinksResponse, Problem> {
        self.answer("list_links", || {
            let limit = ask::limit(ask.limit, LISTED.0, LISTED.1)?;
            let (connections, network) = (self.connections(), self.network());
            let placer = connections.placer();
            let listed = (0..self.links.len() as u32).skip(ask.offset as usize).take(limit);
            let links = listed.map(|index| self.links.describe(&network, placer, index)).collect();
            Ok(v1::ListLinksResponse { links, total: self.links.len() as u64 })
        })
    }

    /// Takes note that a link went down or came back. In large fabrics this computes for long: not for an asynchronous task.
    ///
    /// # Errors
    /// No such link; no state.
    pub fn set_link(&self, ask: &v1::SetLinkRequest) -> Result<v1::SetLinkResponse, Problem> {
        self.answer("set_link", || {
            let is_down = asked_down(ask.state)?;
            let _one_at_a_time = lock(&self.rerouting);
            let mut network = Network::clone(&self.network());
            let link =
                self.links.find(&network, ask::name(&ask.a)?, ask::name(&ask.b)?, ask.parallel)?;
            let was_down = network.down().contains(&link);
            if is_down != was_down {
                let others = network.down().iter().copied().filter(|other| *other != link);
                let down: Vec<u32> = others.chain(is_down.then_some(link)).collect();
                network.set_down(&down)?;
            }
            let state = if is_down { "down" } else { "up" };
            let (v1::SetLinkRequest { a, b, parallel, .. }, is_news) = (ask, is_down != was_down);
            tracing::info!(a, b, parallel, state, is_news, "link");
            Ok(self.reroute(network))
        })
    }

    /// Puts a network in place, and tells which connections it hurts.
    fn reroute(&self, network: Network) -> v1::SetLinkResponse {
        let (connections, network) = (self.connections(), Arc::new(network));
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = network.clone();
        let affected = connections.affected(&network);
        v1::SetLinkResponse { affected: affected.into_iter().map(answer::affected).collect() }
    }
}

fn asked_down(state: i32) -> Result<bool, Problem> {
    match v1::LinkState::try_from(state) {
        Ok(v1::LinkState::Up) => Ok(false),
        Ok(v1::LinkState::Down) => Ok(true),
        _ => Err(Problem::invalid("the link's state is missing", "say whether it is up or down")),
    }
}
