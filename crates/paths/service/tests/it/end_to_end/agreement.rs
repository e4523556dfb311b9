//! The same requests have the same responses by gRPC and by HTTP.

use heddle_path_service::v1;
use heddle_policy::cflb::Field;
use serde::Serialize;
use serde_json::{Value, json};
use tonic::{Response, Status};

use crate::end_to_end::fabric::network;
use crate::end_to_end::running::{Running, options};

/// A gRPC response as HTTP has it.
fn json_of<T: Serialize>(answer: Result<Response<T>, Status>) -> Value {
    serde_json::to_value(answer.unwrap().into_inner()).unwrap()
}

/// Each service receives the requests in the same order, so that both have the same state.
#[tokio::test]
async fn each_operation_answers_alike() {
    let one = Running::start(network(Field::Ports), options()).await;
    let other = Running::start(network(Field::Ports), options()).await;
    let (mut grpc, mut http) = (one.grpc().await, other.http().await);

    let request = json!({"from": "host-1", "to": "host-3", "subflows": 3, "rate_bps": 400_000_000});
    let open = json_of(grpc.open_connection(read::<v1::OpenConnectionRequest>(&request)).await);
    assert_eq!(http.send("POST", "/v1/connections", &request).await.json(), open);
    assert_eq!(open["subflows"].as_array().unwrap().len(), 3);

    let added = json_of(grpc.add_subflow(v1::AddSubflowRequest::default()).await);
    assert_eq!(http.request("POST", "/v1/connections/0/subflows", "").await.json(), added);
    assert_eq!(added["subflow"], 3);

    let request = json!({"a": "tor-1", "b": "spine-2", "state": "down"});
    let set = json_of(grpc.set_link(read::<v1::SetLinkRequest>(&request)).await);
    assert_eq!(http.send("PUT", "/v1/links", &request).await.json(), set);

    // Subflow 1 was on spine-2; of six next hops the fields of 2 and 3 select the spines after
    // theirs.
    let renewed = json_of(grpc.renew_connection(v1::RenewConnectionRequest::default()).await);
    assert_eq!(http.request("POST", "/v1/connections/0/lease", "").await.json(), renewed);
    assert_eq!(renewed["affected"], set["affected"]);
    let got = json_of(grpc.get_connection(v1::GetConnectionRequest { connection: 0 }).await);
    assert_eq!(http.get("/v1/connections/0").await.json(), got);
    let impact = got["subflows"].as_array().unwrap().iter().map(|one| &one["link_impact"]);
    assert_eq!(impact.collect::<Vec<_>>(), ["none", "link-down", "rerouted", "rerouted"]);

    let request = v1::ReplaceSubflowRequest { connection: 0, subflow: 1, taken_ports: vec![] };
    let replaced = json_of(grpc.replace_subflow(request).await);
    let route = "/v1/connections/0/subflows/1/replace";
    assert_eq!(http.request("POST", route, "").await.json(), replaced);

    let request = v1::CloseSubflowRequest { connection: 0, subflow: 2 };
    let closed = json_of(grpc.close_subflow(request).await);
    assert_eq!(http.request("DELETE", "/v1/connections/0/subflows/2", "").await.json(), closed);

    let got = json_of(grpc.get_connection(v1::GetConnectionRequest { connection: 0 }).await);
    assert_eq!(http.get("/v1/connections/0").await.json(), got);
    let numbers: Vec<_> =
        got["subflows"].as_array().unwrap().iter().map(|one| &one["subflow"]).collect();
    assert_eq!(numbers, [0, 1, 3]);
    assert_eq!(got["subflows"][1], replaced);

    let links = json_of(grpc.list_links(v1::ListLinksRequest { limit: 9, offset: 3 }).await);
    assert_eq!(http.get("/v1/links?limit=9&offset=3").await.json(), links);
    assert_eq!((&links["total"], links["links"].as_array().unwrap().len()), (&json!(18), 9));

    let request = v1::ListConnectionsRequest { limit: 1, first: 0 };
    let held = json_of(grpc.list_connections(request).await);
    assert_eq!(http.get("/v1/connections?limit=1&first=0").await.json(), held);
    let (connection, rate) = (&held["connections"][0], 400_000_000);
    assert_eq!((&connection["from"], &connection["to"]), (&json!("host-1"), &json!("host-3")));
    assert_eq!((&connection["subflows"], &connection["rate_bps"]), (&json!(3), &json!(rate)));

    let request = json!({"from": "2001:db8::1", "to": "host-4", "path": 2});
    let encoded = json_of(grpc.encode(read::<v1::EncodeRequest>(&request)).await);
    assert_eq!(http.send("POST", "/v1/encode", &request).await.json(), encoded);

    let request = json!({"header": encoded["header"]});
    let decoded = json_of(grpc.decode(read::<v1::DecodeRequest>(&request)).await);
    assert_eq!(http.send("POST", "/v1/decode", &request).await.json(), decoded);
    assert_eq!(decoded["outcome"], "delivered");

    let request = v1::FindPathsRequest { from: "host-1".into(), to: "10.0.0.3".into(), limit: 2 };
    let found = json_of(grpc.find_paths(request).await);
    assert_eq!(http.get("/v1/paths?from=host-1&to=10.0.0.3&limit=2").await.json(), found);
    assert_eq!((&found["total"], found["paths"].as_array().unwrap().len()), (&json!(6), 2));

    let closed = json_of(grpc.close_connection(v1::CloseConnectionRequest::default()).await);
    assert_eq!(http.request("DELETE", "/v1/connections/0", "").await.json(), closed);
}

fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).unwrap()
}

#[tokio::test]
async fn both_report_health() {
    let running = Running::start(network(Field::Ports), options()).await;
    let reply = running.http().await.get("/healthz").await;
    assert_eq!((reply.status, reply.json()), (200, json!({"status": "serving"})));

    let address = format!("http://{}", running.bound.grpc.unwrap());
    let channel = tonic::transport::Endpoint::new(address).unwrap().connect().await.unwrap();
    let mut health = tonic_health::pb::health_client::HealthClient::new(channel);
    let service = "heddle.path.v1.PathService".to_owned();
    let request = tonic_health::pb::HealthCheckRequest { service };
    let status = health.check(request).await.unwrap().into_inner().status();
    assert_eq!(status, tonic_health::ServingStatus::Serving.into());
}

#[tokio::test]
async fn metrics_count_requests_and_rejections() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    let request = json!({"from": "host-1", "to": "host-3", "subflows": 8});
    http.send("POST", "/v1/connections", &request).await;
    http.get("/v1/paths?from=host-1&to=host-9").await;
    http.request("DELETE", "/v1/encode", "").await;
    http.request_as("text/plain", "POST", "/v1/encode", "{}").await;
    for body in [r#"{"subflow": 8}"#, r#"{"subflows": -1}"#] {
        http.request("POST", "/v1/connections", body).await;
    }
    let reply = http.get("/metrics").await;
    assert!(reply.head.contains("content-type: application/openmetrics-text"), "{}", reply.head);
    for line in [
        r#"heddle_path_requests_total{operation="open_connection",outcome="ok"} 1"#,
        r#"heddle_path_requests_total{operation="find_paths",outcome="not_found"} 1"#,
        r#"heddle_path_request_duration_seconds_count{operation="find_paths"} 1"#,
        r#"heddle_path_http_rejected_total{status="405"} 1"#,
        r#"heddle_path_http_rejected_total{status="415"} 1"#,
        r#"heddle_path_http_rejected_total{status="422"} 2"#,
        "heddle_path_connections 1",
        "heddle_path_subflows 8",
        "heddle_path_busiest_link_flows 2",
        "heddle_path_links_down 0",
    ] {
        assert!(reply.body.lines().any(|found| found == line), "{line} in\n{}", reply.body);
    }
    assert!(!reply.body.contains(r#"status="404""#), "the service has counted it: {}", reply.body);
}
