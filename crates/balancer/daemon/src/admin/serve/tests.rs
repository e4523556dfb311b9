use super::*;

use std::io::{BufRead, Write};
use std::path::PathBuf;

use crate::admin::{AskError, Client, Connections, Filter, Packet, Switch, bind};
use crate::service::Protocol;

/// Answers with what it was asked, as far as that fits.
struct Echo;

impl Handler for Echo {
    async fn handle(&self, request: Request) -> Result<Reply, Problem> {
        match request {
            Request::Connections { limit, .. } => {
                Ok(Reply::Connections(Connections { matching: limit.into(), flows: vec![] }))
            }
            other => Err(problem(ProblemKind::Refused, format!("{other:?}"))),
        }
    }
}

struct Daemon {
    path: PathBuf,
    _directory: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

fn daemon() -> Daemon {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("admin.sock");
    let listener = bind(&path).unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.unwrap();
    runtime.spawn(serve(Arc::new(listener), Arc::new(Echo)));
    Daemon { path, _directory: directory, _runtime: runtime }
}

/// Sends bytes as they are and returns the lines that come back until the daemon closes.
fn raw(daemon: &Daemon, bytes: &[u8]) -> Vec<Answer> {
    let mut stream = std::os::unix::net::UnixStream::connect(&daemon.path).unwrap();
    // The daemon may have closed before all was sent.
    let _ = stream.write_all(bytes);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let lines = std::io::BufReader::new(stream).lines().map_while(Result::ok);
    lines.map(|line| serde_json::from_str::<Envelope<Answer>>(&line).unwrap().body).collect()
}

fn kinds(answers: &[Answer]) -> Vec<Option<ProblemKind>> {
    let kind = |answer: &Answer| match answer {
        Answer::Ok(_) => None,
        Answer::Error(problem) => Some(problem.kind),
    };
    answers.iter().map(kind).collect()
}

#[test]
fn each_request_arrives_as_it_was_sent() {
    let daemon = daemon();
    let mut client = Client::connect(&daemon.path).unwrap();
    let packet = Packet {
        source: "10.0.0.1:4000".parse().unwrap(),
        destination: "[2001:db8::1]:80".parse().unwrap(),
        protocol: Protocol::Tcp,
        flags: 2,
        mptcp: Some(crate::admin::MptcpOption::Join { token: 7 }),
        payload: 0,
    };
    let drain = Request::Drain { service: None, backend: "b1".into(), switch: Switch::On };
    let requests = [
        Request::Status,
        Request::Backends,
        drain,
        Request::Weigh { service: Some("web".into()), backend: "b1".into(), weight: 3 },
        Request::Explain(packet),
        Request::Counters,
        Request::Reload,
        Request::Members,
    ];
    for request in requests {
        let Err(AskError::Problem(problem)) = client.ask(&request) else { panic!() };
        assert_eq!(problem.message, format!("{request:?}"));
        assert_eq!(problem.kind, ProblemKind::Refused);
    }
    let request = Request::Connections { filter: Filter::default(), limit: 9 };
    let wanted = Connections { matching: 9, flows: vec![] };
    assert_eq!(client.ask(&request).unwrap(), Reply::Connections(wanted));
}

#[test]
fn requests_are_written_as_documented() {
    let request = Request::Drain { service: None, backend: "b1".into(), switch: Switch::Off };
    let line = serde_json::to_string(&Envelope::new(request)).unwrap();
    let wanted = r#"{"version":2,"body":{"drain":{"service":null,"backend":"b1","switch":"off"}}}"#;
    assert_eq!(line, wanted);
}

#[test]
fn garbage_gets_an_error_and_the_connection_lives_on() {
    let daemon = daemon();
    let mut lines = Vec::new();
    for line in [
        &b"GET / HTTP/1.1"[..],
        b"",
        b"\xff\xfe\x00",
        b"{}",
        br#"{"version":2,"body":"shutdown"}"#,
        br#"{"version":2,"body":{"drain":{"backend":"b","switch":"maybe"}}}"#,
        br#"{"version":2,"body":{"connections":{"filter":{"porpoise":1},"limit":1}}}"#,
        br#"{"version":3,"body":"status"}"#,
    ] {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines.extend_from_slice(br#"{"version":2,"body":{"connections":{"filter":{},"limit":3}}}"#);
    let answers = raw(&daemon, &lines);
    let mut wanted = vec![Some(ProblemKind::Malformed); 8];
    wanted.push(None);
    assert_eq!(kinds(&answers), wanted);
    assert!(matches!(&answers[7], Answer::Error(p) if p.message.contains("version 3")));
}

#[test]
fn json_that_nests_too_deep_is_an_error_and_no_crash() {
    let daemon = daemon();
    let line = [r#"{"version":2,"body":"#.as_bytes(), &[b'['; 60_000], b"\n"].concat();
    assert_eq!(kinds(&raw(&daemon, &line)), [Some(ProblemKind::Malformed)]);
}

#[test]
fn a_request_without_end_is_cut() {
    let daemon = daemon();
    let answers = raw(&daemon, &vec![b'x'; MOST_BYTES + 1]);
    assert_eq!(kinds(&answers), [Some(ProblemKind::TooLong)]);
    let longest = [vec![b' '; MOST_BYTES - 1], b"\n".to_vec()].concat();
    assert_eq!(kinds(&raw(&daemon, &longest)), [Some(ProblemKind::Malformed)]);
}

#[test]
fn several_clients_are_served_at_once() {
    let daemon = daemon();
    let mut clients: Vec<_> = (0..8).map(|_| Client::connect(&daemon.path).unwrap()).collect();
    for (client, n) in clients.iter_mut().rev().zip(0_u32..) {
        let request = Request::Connections { filter: Filter::default(), limit: n };
        let wanted = Connections { matching: n.into(), flows: vec![] };
        assert_eq!(client.ask(&request).unwrap(), Reply::Connections(wanted));
    }
}

#[test]
fn only_root_and_the_daemons_user_are_allowed() {
    let own = rustix::process::geteuid().as_raw();
    assert!(allowed(0) && allowed(own));
    assert!(!allowed(own.wrapping_add(1000)));
}

#[test]
fn without_a_daemon_the_client_says_where_it_looked() {
    let Err(error) = Client::connect(&PathBuf::from("/nonexistent/admin.sock")) else { panic!() };
    assert!(error.to_string().contains("/nonexistent/admin.sock"), "{error}");
}
