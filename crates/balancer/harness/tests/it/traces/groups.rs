//! Services of one group: a connection to one of them is joined through both.

use heddle_balancer_maps::abi::{Counter, TokenState};
use heddle_harness::{Cluster, Connection, Flow, OTHER_PORT, Setup};

use crate::traces::world::{Traced, connection, open, with_port};

fn grouped() -> Option<Cluster> {
    let mut setup = Setup { balancers: 3, backends: 8, grouped: true, ..Setup::default() };
    setup.sizes.maglev_tables = 2;
    open(setup)
}

/// The same client's flow to the other service.
fn elsewhere(mut flow: Flow) -> Flow {
    flow.service.set_port(OTHER_PORT);
    flow
}

/// Of tokens that each of the balancers owns, at each of the others.
#[test]
fn joins_come_through_the_other_service() {
    let Some(cluster) = grouped() else { return };
    for client in 0..12 {
        let connection = connection(client);
        let home = cluster.connect(usize::from(client % 3), &connection);
        for balancer in 0..3 {
            let subflow = elsewhere(with_port(connection.primary, 10 + balancer as u16));
            assert_eq!(cluster.join(balancer, &connection, &subflow), home);
        }
    }
}

#[test]
fn connections_to_the_other_service_are_joined_through_the_first() {
    let Some(cluster) = grouped() else { return };
    for client in 0..12 {
        let primary = elsewhere(crate::traces::world::flow(client));
        let connection = Connection { primary, ..connection(client) };
        let home = cluster.connect(usize::from(client % 3), &connection);
        for balancer in 0..3 {
            let subflow = with_port(crate::traces::world::flow(client), 10 + balancer as u16);
            assert_eq!(cluster.join(balancer, &connection, &subflow), home);
        }
    }
}

/// A subflow to the other service keeps the token alive when the first one is gone: it is one
/// backend by two names.
#[test]
fn subflows_to_either_service_refresh_the_token() {
    let Some(mut cluster) = grouped() else { return };
    let connection = crate::traces::world::owned_by(&cluster, 0, 1);
    let home = cluster.connect(1, &connection);
    let subflow = elsewhere(with_port(connection.primary, 10));
    assert_eq!(cluster.join(2, &connection, &subflow), home);
    for _ in 0..10 {
        cluster.advance(3000).unwrap();
        let data = |c: &mut Cluster| {
            (0..4).for_each(|_| assert_eq!(c.to(2, &subflow.data(1)), home));
            Ok(())
        };
        let (_, seen) = cluster.watch(data).unwrap();
        assert_eq!(seen.count(Counter::TokenCollision), 0, "{seen:?}");
    }
    assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Confirmed));
    assert_eq!(cluster.join(1, &connection, &with_port(subflow, 11)), home);
}
