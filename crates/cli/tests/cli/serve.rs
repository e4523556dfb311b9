//! `heddle path serve`: from its start to its end by a signal.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout};

use serde_json::Value;

use crate::support::{Folder, Ran};

/// A service on free ports.
struct Service {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Where its HTTP is, and its gRPC.
    http: String,
    grpc: String,
}

impl Service {
    fn start(folder: &Folder, options: &str) -> Service {
        let words = format!(
            "path serve fabric.toml --json --grpc 127.0.0.1:0 --http 127.0.0.1:0 {options}"
        );
        let mut child = folder.command(&words).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let at: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let [http, grpc] = ["http", "grpc"].map(|key| at[key].as_str().unwrap().to_owned());
        Service { child, out, http, grpc }
    }

    /// The answer's body, and the whole answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (Value, String) {
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
fn it_answers_until_it_is_stopped_and_does_not_tell_the_key() {
    let folder = Folder::with_fabric();
    let key = folder.read("fat-tree-8.key").trim().to_owned();
    for signal in ["-TERM", "-INT"] {
        let service = Service::start(
            &folder,
            "--log trace --lease 90s --longest-lease 2h --scheduler first-fit",
        );
        let (paths, _) = service.ask("GET", "/v1/paths?from=host-1&to=host-128", "");
        assert_eq!(paths["total"], 16);
        let wanted = r#"{"from": "host-1", "to": "host-128", "subflows": 2}"#;
        let (connection, answer) = service.ask("POST", "/v1/connections", wanted);
        assert_eq!(connection["lease_seconds"], 90, "{answer}");
        let wanted =
            r#"{"from": "host-1", "to": "host-128", "subflows": 1, "lease_seconds": 7201}"#;
        let (refused, _) = service.ask("POST", "/v1/connections", wanted);
        let said = "a lease of 7201 s is not among those from 1 to 7200 s";
        assert_eq!(refused["message"], said);
        let subflows = connection["subflows"].as_array().unwrap();
        assert!(subflows.len() == 2 && subflows.iter().all(|one| one["disjoint"] == true));
        let (refused, _) = service.ask("GET", "/v1/paths?from=host-1&to=nobody", "");
        assert_eq!(refused["code"], "NOT_FOUND");
        assert!(service.ask("GET", "/metrics", "").1.contains("# EOF"));
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

/// What the service names, `heddle path decode` follows.
#[test]
fn its_ports_are_those_of_the_command_line() {
    let folder = Folder::with_fabric();
    let service = Service::start(&folder, "");
    let wanted = r#"{"from": "host-1", "to": "host-128", "path": 7}"#;
    let (named, _) = service.ask("POST", "/v1/encode", wanted);
    let port = |key: &str| named["header"][key].as_u64().unwrap();
    let taken = folder.heddle(&format!(
        "path decode fabric.toml --from host-1 --to host-128 --source-port {} --destination-port {} --json",
        port("source_port"),
        port("destination_port")
    ));
    assert_eq!(taken.json()["path"], 7);
    assert_eq!(service.stop("-TERM").code, Some(0));
}

#[test]
fn what_cannot_be_served() {
    let folder = Folder::with_fabric();
    let said = folder.heddle("path serve fabric.toml --grpc off --http off").failed(2);
    assert!(said.contains("there is nothing to serve"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let said = folder.heddle(&format!("path serve fabric.toml --grpc off --http {at}")).failed(1);
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
        folder.heddle(&format!("path serve fabric.toml {wrong}")).failed(2);
    }
}
