//! TLS, tokens, reflection, and the OpenAPI document, with clients of other makers: tonic's and
//! rustls'.

use std::fs;
use std::sync::Arc;

use heddle_path_service::client::PathServiceClient;
use heddle_path_service::v1::FindPathsRequest;
use heddle_path_service::{Options, ServeError, TlsFiles, Tokens, serve};
use heddle_policy::cflb::Field;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_stream::StreamExt as _;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServiceResponse};
use tonic_types::StatusExt as _;

use crate::end_to_end::fabric::network;
use crate::end_to_end::running::{Http, Running, options};

const TOKEN: &str = "a-token-of-rack-one";

/// A certificate for `localhost` and its key in a folder, and the same certificate for clients.
struct Certified {
    folder: TempDir,
    certificate: CertifiedKey<rcgen::KeyPair>,
}

impl Certified {
    fn new() -> Certified {
        let certificate = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cert.pem"), certificate.cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), certificate.signing_key.serialize_pem()).unwrap();
        Certified { folder, certificate }
    }

    fn files(&self) -> TlsFiles {
        let at = |name: &str| self.folder.path().join(name);
        TlsFiles { certificate: at("cert.pem"), key: at("key.pem") }
    }

    async fn grpc(&self, running: &Running) -> Channel {
        let port = running.bound.grpc.unwrap().port();
        let ca = Certificate::from_pem(self.certificate.cert.pem());
        let tls = ClientTlsConfig::new().ca_certificate(ca);
        let at = Endpoint::from_shared(format!("https://localhost:{port}")).unwrap();
        at.tls_config(tls).unwrap().connect().await.unwrap()
    }

    async fn http(&self, running: &Running) -> Http {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let socket = TcpStream::connect(running.bound.http.unwrap()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        Http::over(TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap())
    }
}

fn with_tokens(options: Options) -> Options {
    Options { tokens: Tokens::parse(TOKEN).unwrap(), ..options }
}

fn paths() -> FindPathsRequest {
    FindPathsRequest { from: "host-1".into(), to: "host-3".into(), limit: 0 }
}

async fn find(channel: Channel, token: Option<&str>) -> Result<u64, Status> {
    let mut client = PathServiceClient::new(channel);
    let mut request = Request::new(paths());
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    Ok(client.find_paths(request).await?.into_inner().total)
}

#[tokio::test]
async fn both_interfaces_speak_tls_and_ask_for_a_token() {
    let certified = Certified::new();
    let options = Options { tls: Some(certified.files()), ..with_tokens(options()) };
    let running = Running::start(network(Field::Ports), options).await;
    let channel = certified.grpc(&running).await;
    assert_eq!(find(channel.clone(), Some(TOKEN)).await.unwrap(), 7);
    for (token, detail) in [(None, "no bearer token"), (Some("another"), "is not one")] {
        let status = find(channel.clone(), token).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{status}");
        assert!(status.message().contains(detail), "{status}");
        assert_eq!(status.get_details_error_info().unwrap().reason, "UNAUTHENTICATED");
    }
    let mut http = certified.http(&running).await;
    let path = "/v1/paths?from=host-1&to=host-3";
    let served =
        http.request_with(&format!("authorization: Bearer {TOKEN}"), "GET", path, "").await;
    assert_eq!((served.status, served.json()["total"].as_u64()), (200, Some(7)));
    let refused = http.get(path).await;
    assert_eq!((refused.status, &refused.json()["code"]), (401, &"UNAUTHENTICATED".into()));
    assert!(refused.head.contains("www-authenticate: bearer realm="), "{}", refused.head);
    assert_eq!(http.get("/metrics").await.status, 401);
    for open in ["/healthz", "/openapi.json", "/problems/unauthenticated"] {
        assert_eq!(http.get(open).await.status, 200, "{open}");
    }
    running.stop().await.unwrap();
}

/// A client that speaks no TLS is cut off, and one that sends nothing holds up no other.
#[tokio::test]
async fn clients_without_tls_are_cut_off() {
    let certified = Certified::new();
    let options = Options { tls: Some(certified.files()), ..options() };
    let running = Running::start(network(Field::Ports), options).await;
    let _silent = TcpStream::connect(running.bound.grpc.unwrap()).await.unwrap();
    let plain = Endpoint::from_shared(format!("http://{}", running.bound.grpc.unwrap())).unwrap();
    let refused = match plain.connect().await {
        Ok(channel) => find(channel, None).await.is_err(),
        Err(_) => true,
    };
    assert!(refused);
    assert_eq!(find(certified.grpc(&running).await, None).await.unwrap(), 7);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn files_without_a_certificate_are_refused_by_name() {
    let certified = Certified::new();
    let TlsFiles { certificate, key } = certified.files();
    let missing = certified.folder.path().join("none.pem");
    for (files, said) in [
        (TlsFiles { certificate: missing.clone(), key: key.clone() }, "none.pem"),
        (TlsFiles { certificate: key.clone(), key: key.clone() }, "key.pem"),
        (TlsFiles { certificate: certificate.clone(), key: certificate }, "cert.pem"),
    ] {
        let options = Options { tls: Some(files), ..options() };
        let stop = std::future::pending();
        let error = serve(network(Field::Ports), options, stop, |_| ()).await.unwrap_err();
        assert!(matches!(error, ServeError::Tls(_)), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// The requests of grpcurl and Postman: the names of the services, and the file of one.
#[tokio::test]
async fn reflection_describes_the_service_to_everyone() {
    let running = Running::start(network(Field::Ports), with_tokens(options())).await;
    let at = Endpoint::from_shared(format!("http://{}", running.bound.grpc.unwrap())).unwrap();
    let mut client = ServerReflectionClient::new(at.connect().await.unwrap());
    let asked = [
        MessageRequest::ListServices(String::new()),
        MessageRequest::FileContainingSymbol("heddle.path.v1.PathService".into()),
    ];
    let request =
        |asked| ServerReflectionRequest { host: String::new(), message_request: Some(asked) };
    let requests = tokio_stream::iter(asked.map(request));
    let answers = client.server_reflection_info(requests).await.unwrap().into_inner();
    let answers: Vec<_> = answers.map(|a| a.unwrap().message_response.unwrap()).collect().await;
    let [
        MessageResponse::ListServicesResponse(list),
        MessageResponse::FileDescriptorResponse(file),
    ] = answers.as_slice()
    else {
        panic!("{answers:?}")
    };
    let names: Vec<&str> = list.service.iter().map(|ServiceResponse { name }| &**name).collect();
    for name in ["heddle.path.v1.PathService", "grpc.health.v1.Health"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let text = String::from_utf8_lossy(&file.file_descriptor_proto[0]);
    assert!(text.contains("OpenConnectionRequest"));
    running.stop().await.unwrap();
}

/// Python's client and older tools speak the protocol's earlier version alone.
#[tokio::test]
async fn reflection_lists_the_services_to_clients_of_v1alpha() {
    use tonic_reflection::pb::v1alpha as earlier;
    let running = Running::start(network(Field::Ports), options()).await;
    let at = Endpoint::from_shared(format!("http://{}", running.bound.grpc.unwrap())).unwrap();
    let channel = at.connect().await.unwrap();
    let mut client = earlier::server_reflection_client::ServerReflectionClient::new(channel);
    let list = earlier::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(earlier::server_reflection_request::MessageRequest::ListServices(
            String::new(),
        )),
    };
    let answers = client.server_reflection_info(tokio_stream::iter([list])).await.unwrap();
    let answer = answers.into_inner().next().await.unwrap().unwrap().message_response.unwrap();
    let earlier::server_reflection_response::MessageResponse::ListServicesResponse(list) = answer
    else {
        panic!("{answer:?}")
    };
    let names: Vec<&str> = list.service.iter().map(|service| &*service.name).collect();
    assert!(names.contains(&"heddle.path.v1.PathService"), "{names:?}");
    running.stop().await.unwrap();
}

/// Every operation of the document is one of the service, with that method.
#[tokio::test]
async fn the_openapi_document_names_operations_that_are_there() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    let document = http.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{connection}", "99").replace("{subflow}", "0");
        for method in methods.as_object().unwrap().keys() {
            let reply = http.request(&method.to_ascii_uppercase(), &path, "").await;
            let is_unknown = reply.body.contains("/problems/no-such-resource");
            assert!(reply.status != 405 && !is_unknown, "{method} {path}: {}", reply.body);
        }
    }
    running.stop().await.unwrap();
}
