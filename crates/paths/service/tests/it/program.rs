//! The service as a program: from its start to its end by a signal.
// The lint lets tests unwrap, but not what they share.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout};

use serde_json::Value;

use heddle_path_encoder::Family;
use heddle_path_files::{FabricArgs, KeyedFabricArgs, files, network};
use heddle_policy::cflb::{Cipher, Fields, Ports};
use heddle_program::testing::{Folder, Ran};

/// A folder with `fabric.toml`, the fat-tree of 128 hosts that comes with Heddle, and its new key.
fn folder() -> Folder {
    let folder = Folder::of(env!("CARGO_BIN_EXE_heddle-path-service"));
    let fabrics = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/fabrics");
    folder.put("fabric.toml", &fs::read_to_string(fabrics.join("fat-tree-8.toml")).unwrap());
    heddle_path_files::keys::create(&folder.path("fat-tree-8.key"), Cipher::Rc5).unwrap();
    folder
}

/// A service on free ports.
struct Service {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The addresses of HTTP and gRPC.
    http: String,
    grpc: String,
}

impl Service {
    fn start(folder: &Folder, options: &str) -> Service {
        let words = format!("fabric.toml --json --grpc 127.0.0.1:0 --http 127.0.0.1:0 {options}");
        let mut child = folder.command(&words).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let at: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let [http, grpc] = ["http", "grpc"].map(|key| at[key].as_str().unwrap().to_owned());
        Service { child, out, http, grpc }
    }

    /// The response's body, and the whole response.
    fn request(&self, method: &str, path: &str, body: &str) -> (Value, String) {
        let mut socket = TcpStream::connect(&self.http).unwrap();
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: heddle\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (serde_json::from_str(body).unwrap_or_default(), answer)
    }

    fn stop(mut self, signal: &str) -> Ran {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        Ran { code: self.child.wait().unwrap().code(), out, err }
    }
}

#[test]
fn it_serves_until_a_signal_and_keeps_the_key_secret() {
    let folder = folder();
    let key = folder.read("fat-tree-8.key").trim().to_owned();
    for signal in ["-TERM", "-INT"] {
        let service = Service::start(
            &folder,
            "--log trace --lease 90s --longest-lease 2h --scheduler first-fit",
        );
        let (paths, _) = service.request("GET", "/v1/paths?from=host-1&to=host-128", "");
        assert_eq!(paths["total"], 16);
        let wanted = r#"{"from": "host-1", "to": "host-128", "subflows": 2}"#;
        let (connection, answer) = service.request("POST", "/v1/connections", wanted);
        assert_eq!(connection["lease_seconds"], 90, "{answer}");
        let wanted =
            r#"{"from": "host-1", "to": "host-128", "subflows": 1, "lease_seconds": 7201}"#;
        let (problem, _) = service.request("POST", "/v1/connections", wanted);
        let said = "a lease of 7201 s is not between 1 and 7200 s";
        assert_eq!(problem["detail"], said);
        let subflows = connection["subflows"].as_array().unwrap();
        assert!(subflows.len() == 2 && subflows.iter().all(|one| one["disjoint"] == true));
        let (problem, _) = service.request("GET", "/v1/paths?from=host-1&to=nobody", "");
        assert_eq!(problem["code"], "NOT_FOUND");
        assert!(service.request("GET", "/metrics", "").1.contains("# EOF"));
        TcpStream::connect(&service.grpc).unwrap();
        let ran = service.stop(signal);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.err.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("shutting down"), "{}", ran.err);
        assert!(![&ran.out, &ran.err, &answer].iter().any(|text| text.contains(&key)));
    }
}

/// The service's ports select the requested path.
#[test]
fn its_ports_take_the_path() {
    let folder = folder();
    let service = Service::start(&folder, "");
    let wanted = r#"{"from": "host-1", "to": "host-128", "path": 7}"#;
    let (encoded, _) = service.request("POST", "/v1/encode", wanted);
    let fabric = FabricArgs { fabric: folder.path("fabric.toml"), set: Vec::new() };
    let file = files::fabric(&fabric).unwrap();
    let network = network::with_key(&KeyedFabricArgs { fabric, key_file: None }, &file).unwrap();
    let pair = network.pair("host-1", "host-128", Family::V4).unwrap();
    let number = |key: &str| encoded["header"][key].as_u64().unwrap() as u16;
    let ports = Ports { source: number("source_port"), destination: number("destination_port") };
    let fields = Fields {
        addresses: pair.addresses,
        protocol: 6,
        ports: Some(ports),
        flow_label: 0,
        ttl: number("ttl") as u8,
    };
    let walk = network.walk(pair.from, &fields).unwrap();
    let path = network.path_by_number(pair.from, pair.to, 7).unwrap();
    let taken = walk.steps.iter().map(|step| step.decision.next_hop);
    assert!(taken.eq(path.hops.iter().map(|hop| hop.next_hop)), "{encoded}");
    assert_eq!(service.stop("-TERM").code, Some(0));
}

#[test]
fn wrong_addresses_and_options_are_refused() {
    let folder = folder();
    let said = folder.run("fabric.toml --grpc off --http off").failed(2);
    assert!(said.contains("there is nothing to serve"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let said = folder.run(&format!("fabric.toml --grpc off --http {at}")).failed(1);
    assert!(
        said.contains(&format!("cannot listen at {at}")) && said.contains("\nhelp: "),
        "{said}"
    );
    for wrong in [
        "--lease 5",
        "--longest-lease 25h",
        "--http localhost:80",
        "--scheduler best",
        "--log loud=very",
    ] {
        folder.run(&format!("fabric.toml {wrong}")).failed(2);
    }
}

#[test]
fn help_names_the_command_as_users_type_it() {
    let help = folder().run("--help").ok();
    assert!(help.contains("Usage: heddle path serve [OPTIONS] <FABRIC>"), "{help}");
    assert!(help.contains("\n  heddle path serve $F\n"), "{help}");
}

#[test]
fn completions_and_a_manual_page() {
    let folder = folder();
    assert!(folder.run("completions bash").ok().contains("--longest-lease"));
    folder.run("manual --out man").ok();
    assert!(folder.read("man/heddle-path-service.1").contains("heddle path serve"));
    assert!(folder.run("").failed(2).contains("<FABRIC>"));
}
