//! The same questions have the same answers by gRPC and by HTTP.

use heddle_path_service::v1;
use heddle_policy::cflb::Field;
use serde::Serialize;
use serde_json::{Value, json};
use tonic::{Response, Status};

use crate::fabric::network;
use crate::running::{Running, options};

/// What HTTP would say.
fn told<T: Serialize>(answer: Result<Response<T>, Status>) -> Value {
    serde_json::to_value(answer.unwrap().into_inner()).unwrap()
}

/// Each service is asked in the same order, so that both hold the same.
#[tokio::test]
async fn each_operation_answers_alike() {
    let one = Running::start(network(Field::Ports), options()).await;
    let other = Running::start(network(Field::Ports), options()).await;
    let (mut grpc, mut http) = (one.grpc().await, other.http().await);

    let ask = json!({"from": "host-1", "to": "host-3", "subflows": 3, "rate_bps": 400_000_000});
    let open = told(grpc.open_connection(read::<v1::OpenConnectionRequest>(&ask)).await);
    assert_eq!(http.send("POST", "/v1/connections", &ask).await.json(), open);
    assert_eq!(open["subflows"].as_array().unwrap().len(), 3);

    let added = told(grpc.add_subflow(v1::AddSubflowRequest::default()).await);
    assert_eq!(http.ask("POST", "/v1/connections/0/subflows", "").await.json(), added);
    assert_eq!(added["subflow"], 3);

    let ask = json!({"a": "tor-1", "b": "spine-2", "state": "down"});
    let set = told(grpc.set_link(read::<v1::SetLinkRequest>(&ask)).await);
    assert_eq!(http.send("PUT", "/v1/links", &ask).await.json(), set);

    // Subflow 1 was on spine-2; of six next hops the fields of 2 and 3 name the spines after theirs.
    let renewed = told(grpc.renew_connection(v1::RenewConnectionRequest::default()).await);
    assert_eq!(http.ask("POST", "/v1/connections/0/lease", "").await.json(), renewed);
    assert_eq!(renewed["affected"], set["affected"]);
    let got = told(grpc.get_connection(v1::GetConnectionRequest { connection: 0 }).await);
    assert_eq!(http.get("/v1/connections/0").await.json(), got);
    let damage = got["subflows"].as_array().unwrap().iter().map(|one| &one["damage"]);
    assert_eq!(damage.collect::<Vec<_>>(), ["none", "link-down", "renamed", "renamed"]);

    let ask = v1::ReplaceSubflowRequest { connection: 0, subflow: 1, taken_ports: vec![] };
    let replaced = told(grpc.replace_subflow(ask).await);
    let route = "/v1/connections/0/subflows/1/replace";
    assert_eq!(http.ask("POST", route, "").await.json(), replaced);

    let ask = v1::CloseSubflowRequest { connection: 0, subflow: 2 };
    let closed = told(grpc.close_subflow(ask).await);
    assert_eq!(http.ask("DELETE", "/v1/connections/0/subflows/2", "").await.json(), closed);

    let got = told(grpc.get_connection(v1::GetConnectionRequest { connection: 0 }).await);
    assert_eq!(http.get("/v1/connections/0").await.json(), got);
    let numbers: Vec<_> =
        got["subflows"].as_array().unwrap().iter().map(|one| &one["subflow"]).collect();
    assert_eq!(numbers, [0, 1, 3]);
    assert_eq!(got["subflows"][1], replaced);

    let links = told(grpc.list_links(v1::ListLinksRequest { limit: 9, offset: 3 }).await);
    assert_eq!(http.get("/v1/links?limit=9&offset=3").await.json(), links);
    assert_eq!((&links["total"], links["links"].as_array().unwrap().len()), (&json!(18), 9));

    let ask = v1::ListConnectionsRequest { limit: 1, first: 0 };
    let held = told(grpc.list_connections(ask).await);
    assert_eq!(http.get("/v1/connections?limit=1&first=0").await.json(), held);
    let (connection, rate) = (&held["connections"][0], 400_000_000);
    assert_eq!((&connection["from"], &connection["to"]), (&json!("host-1"), &json!("host-3")));
    assert_eq!((&connection["subflows"], &connection["rate_bps"]), (&json!(3), &json!(rate)));

    let ask = json!({"from": "2001:db8::1", "to": "host-4", "path": 2});
    let encoded = told(grpc.encode(read::<v1::EncodeRequest>(&ask)).await);
    assert_eq!(http.send("POST", "/v1/encode", &ask).await.json(), encoded);

    let ask = json!({"header": encoded["header"]});
    let decoded = told(grpc.decode(read::<v1::DecodeRequest>(&ask)).await);
    assert_eq!(http.send("POST", "/v1/decode", &ask).await.json(), decoded);
    assert_eq!(decoded["end"], "delivered");

    let ask = v1::FindPathsRequest { from: "host-1".into(), to: "10.0.0.3".into(), limit: 2 };
    let found = told(grpc.find_paths(ask).await);
    assert_eq!(http.get("/v1/paths?from=host-1&to=10.0.0.3&limit=2").await.json(), found);
    assert_eq!((&found["total"], found["paths"].as_array().unwrap().len()), (&json!(6), 2));

    let closed = told(grpc.close_connection(v1::CloseConnectionRequest::default()).await);
    assert_eq!(http.ask("DELETE", "/v1/connections/0", "").await.json(), closed);
}

fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).unwrap()
}

#[tokio::test]
async fn both_say_that_they_are_well() {
    let running = Running::start(network(Field::Ports), options()).await;
    let reply = running.http().await.get("/healthz").await;
    assert_eq!((reply.status, reply.json()), (200, json!({"status": "serving"})));

    let address = format!("http://{}", running.bound.grpc.unwrap());
    let channel = tonic::transport::Endpoint::new(address).unwrap().connect().await.unwrap();
    let mut health = tonic_health::pb::health_client::HealthClient::new(channel);
    let service = "heddle.path.v1.PathService".to_owned();
    let ask = tonic_health::pb::HealthCheckRequest { service };
    let status = health.check(ask).await.unwrap().into_inner().status();
    assert_eq!(status, tonic_health::ServingStatus::Serving.into());
}

#[tokio::test]
async fn metrics_tell_what_happened() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    let ask = json!({"from": "host-1", "to": "host-3", "subflows": 8});
    http.send("POST", "/v1/connections", &ask).await;
    http.get("/v1/paths?from=host-1&to=host-9").await;
    http.ask("DELETE", "/v1/encode", "").await;
    http.ask_as("text/plain", "POST", "/v1/encode", "{}").await;
    for body in [r#"{"subflow": 8}"#, r#"{"subflows": -1}"#] {
        http.ask("POST", "/v1/connections", body).await;
    }
    let reply = http.get("/metrics").await;
    assert!(reply.head.contains("content-type: application/openmetrics-text"), "{}", reply.head);
    for line in [
        r#"heddle_path_requests_total{operation="open_connection",outcome="ok"} 1"#,
        r#"heddle_path_requests_total{operation="find_paths",outcome="not_found"} 1"#,
        r#"heddle_path_request_duration_seconds_count{operation="find_paths"} 1"#,
        r#"heddle_path_http_refused_total{status="405"} 1"#,
        r#"heddle_path_http_refused_total{status="415"} 1"#,
        r#"heddle_path_http_refused_total{status="422"} 2"#,
        "heddle_path_connections 1",
        "heddle_path_subflows 8",
        "heddle_path_busiest_link_flows 2",
        "heddle_path_links_down 0",
    ] {
        assert!(reply.body.lines().any(|told| told == line), "{line} in\n{}", reply.body);
    }
    assert!(!reply.body.contains(r#"status="404""#), "the service has counted it: {}", reply.body);
}
