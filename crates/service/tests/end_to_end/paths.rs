//! CFLB section 4.2.2: seven subflows over seven paths.

use std::collections::BTreeSet;

use heddle_policy::cflb::Field;
use heddle_service::{Service, v1};

use crate::fabric::{SPINES, network, source_ports};
use crate::running::{Running, options};

/// The nodes that a packet visits, by the routers' own decisions.
fn visited(walk: &v1::DecodeResponse) -> Vec<String> {
    let routers = walk.hops.iter().map(|hop| hop.router.clone());
    std::iter::once(walk.from.clone()).chain(routers).chain([walk.to.clone()]).collect()
}

#[tokio::test]
async fn seven_subflows_take_seven_paths() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut grpc = running.grpc().await;
    let ask = open(SPINES);
    let connection = grpc.open_connection(ask).await.unwrap().into_inner();
    let mut walks = BTreeSet::new();
    for subflow in connection.subflows {
        let ask = v1::DecodeRequest { header: subflow.header, ..Default::default() };
        let walk = grpc.decode(ask).await.unwrap().into_inner();
        assert_eq!(visited(&walk), subflow.path.unwrap().nodes);
        assert_eq!(walk.end(), v1::End::Delivered);
        assert_eq!(walk.hops[0].reason(), v1::Reason::Controlled, "the ToR has seven next hops");
        assert_eq!(walk.hops[1].reason(), v1::Reason::Alone, "a spine has one");
        assert_eq!(walk.hops.iter().map(|hop| hop.ttl).collect::<Vec<u32>>(), [64, 63, 62]);
        assert!(subflow.disjoint);
        walks.insert(visited(&walk));
    }
    assert_eq!(walks.len(), SPINES as usize);
    let eighth = v1::AddSubflowRequest { connection: connection.connection, ..Default::default() };
    assert!(!grpc.add_subflow(eighth).await.unwrap().into_inner().disjoint);
}

fn open(subflows: u32) -> v1::OpenConnectionRequest {
    v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        subflows,
        ..Default::default()
    }
}

#[test]
fn every_path_is_named_by_its_number_and_by_its_nodes() {
    let service = Service::new(network(Field::Ports), &options());
    let find = v1::FindPathsRequest { from: "host-2".into(), to: "host-3".into(), limit: 0 };
    let found = service.find_paths(&find).unwrap();
    assert_eq!(found.paths[4].nodes, ["host-2", "tor-1", "spine-5", "tor-2", "host-3"]);
    for (number, path) in found.paths.iter().enumerate() {
        let ask = v1::EncodeRequest {
            from: find.from.clone(),
            to: find.to.clone(),
            ..Default::default()
        };
        let by_number = v1::EncodeRequest { path: Some(number as u64), ..ask.clone() };
        let by_nodes = v1::EncodeRequest { nodes: path.nodes.clone(), ..ask };
        let named = service.encode(&by_number).unwrap();
        assert_eq!(service.encode(&by_nodes).unwrap(), named);
        let decode = v1::DecodeRequest { header: named.header, ..Default::default() };
        assert_eq!(visited(&service.decode(&decode).unwrap()), path.nodes);
    }
}

#[test]
fn flow_labels_name_paths_where_ports_are_given() {
    let service = Service::new(network(Field::FlowLabel), &options());
    let ask = v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-4".into(),
        subflows: 1,
        family: v1::Family::Ipv6.into(),
        source_port: Some(40_000),
        destination_port: Some(443),
        ..Default::default()
    };
    let subflow = service.open_connection(&ask).unwrap().subflows.remove(0);
    let header = subflow.header.unwrap();
    assert_eq!((header.source_port, header.destination_port, header.ttl), (40_000, 443, 64));
    assert_eq!(header.destination, "2001:db8::4");
    let walk =
        service.decode(&v1::DecodeRequest { header: Some(header), ..Default::default() }).unwrap();
    assert_eq!(visited(&walk), subflow.path.unwrap().nodes);
}

#[test]
fn ports_that_the_sender_has_in_use_are_left_alone() {
    let ask = |taken_ports| v1::OpenConnectionRequest {
        destination_port: Some(80),
        taken_ports,
        ..open(SPINES)
    };
    let opened = |service: &Service, taken| service.open_connection(&ask(taken)).unwrap().subflows;
    let port = |subflow: &v1::Subflow| subflow.header.as_ref().unwrap().source_port;
    let fresh = || Service::new(network(source_ports(1024)), &options());
    let taken: Vec<u32> = opened(&fresh(), vec![]).iter().map(port).collect();
    let other = opened(&fresh(), taken.clone());
    assert!(other.iter().all(|subflow| !taken.contains(&port(subflow)) && subflow.disjoint));
    assert!(other.iter().all(|subflow| (50_000..51_024).contains(&port(subflow))));
}

#[test]
fn named_ports_are_those_that_nobody_holds() {
    let service = Service::new(network(source_ports(1024)), &options());
    let ask = v1::EncodeRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        path: Some(0),
        destination_port: Some(80),
        ..Default::default()
    };
    let port = |ask: &v1::EncodeRequest| service.encode(ask).unwrap().header.unwrap().source_port;
    let first = port(&ask);
    assert_eq!(port(&ask), first, "nothing is held");
    let second = port(&v1::EncodeRequest { taken_ports: vec![first], ..ask.clone() });
    assert_ne!(second, first);
}
