//! CFLB section 4.2.2: seven subflows over seven paths.

use std::collections::BTreeSet;

use heddle_path_service::{Code, Service, v1};
use heddle_policy::cflb::Field;

use crate::end_to_end::fabric::{SPINES, network, source_ports};
use crate::end_to_end::running::{Running, options};

/// The nodes that a packet visits, by the routers' own decisions.
fn visited(walk: &v1::DecodeResponse) -> Vec<String> {
    let routers = walk.hops.iter().map(|hop| hop.router.clone());
    std::iter::once(walk.from.clone()).chain(routers).chain([walk.to.clone()]).collect()
}

#[tokio::test]
async fn seven_subflows_take_seven_paths() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut grpc = running.grpc().await;
    let request = open(SPINES);
    let connection = grpc.open_connection(request).await.unwrap().into_inner();
    let mut walks = BTreeSet::new();
    for subflow in connection.subflows {
        let request = v1::DecodeRequest { header: subflow.header, ..Default::default() };
        let walk = grpc.decode(request).await.unwrap().into_inner();
        assert_eq!(visited(&walk), subflow.path.unwrap().nodes);
        assert_eq!(walk.outcome(), v1::Outcome::Delivered);
        assert_eq!(walk.hops[0].reason(), v1::Reason::Controlled, "the ToR has seven next hops");
        assert_eq!(walk.hops[1].reason(), v1::Reason::SingleNextHop, "a spine has one");
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
fn every_path_is_encoded_by_its_number_and_by_its_nodes() {
    let service = Service::new(network(Field::Ports), &options()).unwrap();
    let find = v1::FindPathsRequest { from: "host-2".into(), to: "host-3".into(), limit: 0 };
    let found = service.find_paths(&find).unwrap();
    assert_eq!(found.paths[4].nodes, ["host-2", "tor-1", "spine-5", "tor-2", "host-3"]);
    for (number, path) in found.paths.iter().enumerate() {
        let request = v1::EncodeRequest {
            from: find.from.clone(),
            to: find.to.clone(),
            ..Default::default()
        };
        let by_number = v1::EncodeRequest { path: Some(number as u64), ..request.clone() };
        let by_nodes = v1::EncodeRequest { nodes: path.nodes.clone(), ..request };
        let encoded = service.encode(&by_number).unwrap();
        assert_eq!(service.encode(&by_nodes).unwrap(), encoded);
        let decode = v1::DecodeRequest { header: encoded.header, ..Default::default() };
        assert_eq!(visited(&service.decode(&decode).unwrap()), path.nodes);
    }
}

#[test]
fn flow_labels_encode_paths_where_ports_are_given() {
    let service = Service::new(network(Field::FlowLabel), &options()).unwrap();
    let request = v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-4".into(),
        subflows: 1,
        family: v1::Family::Ipv6.into(),
        source_port: Some(40_000),
        destination_port: Some(443),
        ..Default::default()
    };
    let subflow = service.open_connection(&request).unwrap().subflows.remove(0);
    let header = subflow.header.unwrap();
    assert_eq!((header.source_port, header.destination_port, header.ttl), (40_000, 443, 64));
    assert_eq!(header.destination, "2001:db8::4");
    let walk =
        service.decode(&v1::DecodeRequest { header: Some(header), ..Default::default() }).unwrap();
    assert_eq!(visited(&walk), subflow.path.unwrap().nodes);
}

#[test]
fn ports_that_the_sender_has_in_use_are_not_allocated() {
    let request = |taken_ports| v1::OpenConnectionRequest {
        destination_port: Some(80),
        taken_ports,
        ..open(SPINES)
    };
    let opened =
        |service: &Service, taken| service.open_connection(&request(taken)).unwrap().subflows;
    let port = |subflow: &v1::Subflow| subflow.header.as_ref().unwrap().source_port;
    let fresh = || Service::new(network(source_ports(1024)), &options()).unwrap();
    let taken: Vec<u32> = opened(&fresh(), vec![]).iter().map(port).collect();
    let other = opened(&fresh(), taken.clone());
    assert!(other.iter().all(|subflow| !taken.contains(&port(subflow)) && subflow.disjoint));
    assert!(other.iter().all(|subflow| (50_000..51_024).contains(&port(subflow))));
}

/// 4096 source ports, 7^3 encodings of a path: the taken ports of one connection are kept for the
/// host while it is open.
#[test]
fn taken_ports_are_kept_while_a_connection_is_open() {
    let service = Service::new(network(source_ports(4096)), &options()).unwrap();
    let request = |subflows, taken_ports| v1::OpenConnectionRequest {
        destination_port: Some(80),
        taken_ports,
        ..open(subflows)
    };
    let port = |subflow: &v1::Subflow| subflow.header.as_ref().unwrap().source_port;
    let upper: Vec<u32> = (52_048..54_096).collect();
    let telling = service.open_connection(&request(1, upper)).unwrap().connection;
    let other = service.open_connection(&request(16, vec![])).unwrap();
    assert!(other.subflows.iter().all(|subflow| port(subflow) < 52_048));

    let lower: Vec<u32> = (50_000..52_048).collect();
    let replace = |taken_ports| {
        let request = v1::ReplaceSubflowRequest { connection: telling, subflow: 0, taken_ports };
        service.replace_subflow(&request).map(|subflow| port(&subflow))
    };
    assert_eq!(replace(lower.clone()).unwrap_err().code, Code::NoFreePort, "all are in use");
    assert!(replace(vec![]).unwrap() < 52_048);
    service.close_connection(&v1::CloseConnectionRequest { connection: telling }).unwrap();
    let last = service.open_connection(&request(16, lower)).unwrap();
    assert!(last.subflows.iter().all(|subflow| port(subflow) >= 52_048));
}

/// A sender that requests a port, and lists it as taken.
#[test]
fn a_given_port_must_not_be_taken() {
    let service = Service::new(network(Field::FlowLabel), &options()).unwrap();
    let request = v1::OpenConnectionRequest {
        family: v1::Family::Ipv6.into(),
        source_port: Some(40_000),
        destination_port: Some(443),
        taken_ports: vec![40_000],
        ..open(1)
    };
    assert_eq!(service.open_connection(&request).unwrap_err().code, Code::FailedPrecondition);
    let request = v1::OpenConnectionRequest { taken_ports: vec![40_001], ..request };
    assert!(service.open_connection(&request).is_ok());
    let request =
        v1::OpenConnectionRequest { source_port: Some(40_001), taken_ports: vec![], ..request };
    assert_eq!(service.open_connection(&request).unwrap_err().code, Code::FailedPrecondition);
}

#[test]
fn encode_uses_ports_that_are_free() {
    let service = Service::new(network(source_ports(1024)), &options()).unwrap();
    let request = v1::EncodeRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        path: Some(0),
        destination_port: Some(80),
        ..Default::default()
    };
    let port =
        |request: &v1::EncodeRequest| service.encode(request).unwrap().header.unwrap().source_port;
    let first = port(&request);
    assert_eq!(port(&request), first, "nothing is held");
    let second = port(&v1::EncodeRequest { taken_ports: vec![first], ..request.clone() });
    assert_ne!(second, first);
}
