//! Opening the subflows that a connection lacks, each on a path of its own.

use heddle_path_service::v1;

use super::Agent;
use super::connection::{Connection, Lease};
use crate::paths::PathError;

/// The most ports that a request may name.
const MOST_TAKEN: usize = 4096;

/// Links between switches that a placed subflow has in common with the first one: places where both
/// take the same next hop of the same router. The last router has one next hop, the receiver.
fn shared_links(first: &[(String, u32)], placed: &v1::Subflow) -> usize {
    let Some(path) = &placed.path else { return 0 };
    // A path's nodes are the sender, the routers, and the receiver. A name may say which of several
    // parallel links leads to its node.
    let router = |name: &str| name.split('#').next().unwrap_or_default().to_owned();
    let routers = path.nodes.iter().skip(1).map(|name| router(name));
    let placed: Vec<(String, u32)> = routers.zip(path.next_hops.iter().copied()).collect();
    first.iter().filter(|hop| placed.contains(hop)).count()
}

/// The reasons for which a connection has too few subflows.
#[derive(Debug)]
enum Fill {
    /// It does not cross the fabric.
    Outside,
    /// In a sentence.
    Problem(String),
}

impl Agent {
    /// Opens what a connection lacks, and gives back paths that failed long enough ago.
    pub(super) async fn maintain(&mut self, token: u32) {
        let Some(mut connection) = self.connections.remove(&token) else { return };
        self.release_held(&mut connection).await;
        if connection.may_retry() {
            match self.fill(token, &mut connection).await {
                Ok(()) => connection.succeed(),
                Err(Fill::Outside) => {
                    self.counters.outside += 1;
                    connection.is_outside = true;
                }
                Err(Fill::Problem(why)) => {
                    // The first time the connection may be ending, which the next event then says.
                    if connection.problem.is_some() {
                        tracing::warn!(to = %connection.remote, why, "a subflow is missing");
                    }
                    connection.fail(why);
                }
            }
        }
        self.connections.insert(token, connection);
    }

    async fn release_held(&mut self, connection: &mut Connection) {
        let Some(lease) = connection.lease.as_ref().map(|lease| lease.number) else { return };
        for number in connection.take_released(self.settings.hold_down) {
            if let Err(error) = self.paths.close_subflow(lease, number).await {
                tracing::debug!(%error, "a path was not given back");
            }
        }
    }

    async fn fill(&mut self, token: u32, connection: &mut Connection) -> Result<(), Fill> {
        let wanted = usize::from(self.settings.subflows.saturating_sub(1));
        let missing = connection.missing(wanted);
        if missing == 0 {
            return Ok(());
        }
        let Some(lease) = &connection.lease else {
            return self.open_all(token, connection, missing).await;
        };
        let number = lease.number;
        for _ in 0..missing {
            let request = v1::AddSubflowRequest {
                connection: number,
                destination_port: Some(connection.remote.port().into()),
                taken_ports: self.taken(connection),
                ..Default::default()
            };
            let placed = self.paths.add(request).await.map_err(|error| self.no_path(&error))?;
            self.create(token, connection, placed).await?;
        }
        Ok(())
    }

    /// Places as many subflows as are missing, and the first one, whose port the kernel has chosen:
    /// the placed one that has most links in common with it is left out.
    async fn open_all(
        &mut self,
        token: u32,
        connection: &mut Connection,
        missing: usize,
    ) -> Result<(), Fill> {
        let first = self.first_path(connection).await;
        let request = v1::OpenConnectionRequest {
            from: connection.local.ip().to_string(),
            to: connection.remote.ip().to_string(),
            subflows: missing as u32 + 1,
            destination_port: Some(connection.remote.port().into()),
            taken_ports: self.taken(connection),
            ..Default::default()
        };
        let opened = match self.paths.open(request).await {
            Ok(opened) => opened,
            Err(PathError::NoSuchHost(_)) => return Err(Fill::Outside),
            Err(error) => return Err(self.no_path(&error)),
        };
        connection.lease = Some(Lease::new(opened.connection, opened.lease_seconds));
        let mut placed = opened.subflows;
        let shared = |(_, one): &(usize, &v1::Subflow)| shared_links(&first, one);
        let spare = placed.iter().enumerate().max_by_key(shared).map(|(index, _)| index);
        let Some(spare) = spare.map(|index| placed.remove(index)) else { return Ok(()) };
        let given_back = self.paths.close_subflow(opened.connection, spare.subflow).await;
        given_back.map_err(|error| self.no_path(&error))?;
        let mut result = Ok(());
        for one in placed {
            // Each is tried, or else its path would be held for nothing.
            result = self.create(token, connection, one).await.and(result);
        }
        result
    }

    /// The routers of the first subflow, which are noted, with the next hop that each takes; empty
    /// if they are not known.
    async fn first_path(&mut self, connection: &mut Connection) -> Vec<(String, u32)> {
        let header = v1::Header {
            source: connection.local.ip().to_string(),
            destination: connection.remote.ip().to_string(),
            source_port: connection.local.port().into(),
            destination_port: connection.remote.port().into(),
            ttl: self.ttl,
            ..Default::default()
        };
        let decoded = match self.paths.decode(header).await {
            Ok(decoded) => decoded,
            Err(error) => {
                tracing::warn!(%error, local = %connection.local, "the path of a first subflow is not known");
                return Vec::new();
            }
        };
        connection.first_path = decoded.hops.iter().map(|hop| hop.router.clone()).collect();
        decoded.hops.into_iter().map(|hop| (hop.router, hop.next_hop)).collect()
    }

    /// Tells the kernel to open a subflow that has been placed.
    async fn create(
        &mut self,
        token: u32,
        connection: &mut Connection,
        placed: v1::Subflow,
    ) -> Result<(), Fill> {
        let result = self.create_at(token, connection, &placed).await;
        if let (Err(_), Some(lease)) = (&result, &connection.lease) {
            let given_back = self.paths.close_subflow(lease.number, placed.subflow).await;
            given_back.map_err(|error| self.no_path(&error))?;
        }
        result
    }

    async fn create_at(
        &mut self,
        token: u32,
        connection: &mut Connection,
        placed: &v1::Subflow,
    ) -> Result<(), Fill> {
        let header = placed.header.clone().unwrap_or_default();
        if header.destination_port != u32::from(connection.remote.port()) {
            let why = "the network encodes paths in the destination port too, where no server listens: it needs field = \"source-port\"";
            return Err(Fill::Problem(why.to_owned()));
        }
        if header.ttl != self.ttl {
            let why =
                format!("the path needs a TTL of {}, and this host sends {}", header.ttl, self.ttl);
            return Err(Fill::Problem(why));
        }
        let subflow = connection.place(placed, header.source_port as u16);
        self.counters.opened += 1;
        match self.kernel.create(token, &subflow).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.counters.refused += 1;
                self.ports.insert(subflow.local.port());
                connection.unplace();
                Err(Fill::Problem(format!("the kernel does not open it: {error}")))
            }
        }
    }

    fn no_path(&mut self, error: &PathError) -> Fill {
        self.counters.no_path += 1;
        Fill::Problem(error.to_string())
    }

    /// Source ports in use that the agent has not been given itself.
    fn taken(&self, connection: &Connection) -> Vec<u32> {
        let is_free =
            |port: &&u16| !connection.subflows.iter().any(|one| one.at.local.port() == **port);
        self.ports.iter().filter(is_free).take(MOST_TAKEN).map(|&port| port.into()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(nodes: &[&str], next_hops: &[u32]) -> v1::Subflow {
        let nodes = nodes.iter().map(|&name| name.to_owned()).collect();
        let path = v1::Path { nodes, next_hops: next_hops.to_vec() };
        v1::Subflow { path: Some(path), ..Default::default() }
    }

    /// Two paths that part at the first switch may meet again before the last.
    #[test]
    fn links_are_shared_where_both_leave_a_router_by_the_same_next_hop() {
        let first =
            [("lb", 3), ("router", 0), ("nic", 0)].map(|(name, hop)| (name.to_owned(), hop));
        let direct = placed(&["client", "lb", "direct", "nic", "server"], &[0, 0, 0]);
        let beside = placed(&["client", "lb", "router#5", "nic", "server"], &[5, 0, 0]);
        let same = placed(&["client", "lb", "router#3", "nic", "server"], &[3, 0, 0]);
        let shared = [direct, beside, same].map(|one| shared_links(&first, &one));
        assert_eq!(shared, [1, 2, 3]);
        assert_eq!(shared_links(&[], &placed(&["a", "b"], &[0])), 0);
    }
}
