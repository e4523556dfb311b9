//! Connections over a restart of the service.

use std::path::{Path, PathBuf};

use heddle_path_service::{Code, Options, Service, v1};
use heddle_policy::cflb::Field;

use crate::end_to_end::fabric::network;
use crate::end_to_end::running::options;

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("heddle-state-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn service(state: Option<&Path>, first_connection: u64) -> Service {
    let state = state.map(Path::to_owned);
    Service::new(network(Field::Ports), &Options { state, first_connection, ..options() }).unwrap()
}

fn request(subflows: u32) -> v1::OpenConnectionRequest {
    v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        subflows,
        taken_ports: vec![50_000, 50_001],
        ..Default::default()
    }
}

fn get(service: &Service, connection: u64) -> Result<v1::Connection, Code> {
    let request = v1::GetConnectionRequest { connection };
    service.get_connection(&request).map_err(|problem| problem.code)
}

/// All that a host sees of a connection, but for the rest of its lease.
fn seen(mut connection: v1::Connection) -> v1::Connection {
    connection.lease_seconds = 0;
    connection
}

#[test]
fn connections_survive_a_restart_with_their_fields_and_their_load() {
    let folder = Folder::new("kept");
    let file = folder.0.join("state");
    let before = service(Some(&file), 1000);
    let kept = before.open_connection(&request(3)).unwrap();
    let closed = before.open_connection(&request(2)).unwrap();
    let id = kept.connection;
    before.close_connection(&v1::CloseConnectionRequest { connection: closed.connection }).unwrap();
    let subflow = kept.subflows[1].subflow;
    before.close_subflow(&v1::CloseSubflowRequest { connection: id, subflow }).unwrap();
    let links = before.list_links(&v1::ListLinksRequest::default()).unwrap().links;
    let kept = get(&before, id).unwrap();
    drop(before);
    // A line that the end of the process has cut.
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("{\"id\": 9");
    std::fs::write(&file, text).unwrap();

    let after = service(Some(&file), 2000);
    assert_eq!(seen(get(&after, id).unwrap()), seen(kept.clone()));
    assert_eq!(get(&after, closed.connection), Err(Code::NotFound));
    assert_eq!(after.list_links(&v1::ListLinksRequest::default()).unwrap().links, links);
    let new = after.open_connection(&request(3)).unwrap();
    assert!(new.connection >= 2000, "{}", new.connection);
    let ports = |connection: &v1::Connection| -> Vec<(u32, u32)> {
        let headers = connection.subflows.iter().filter_map(|one| one.header.as_ref());
        headers.map(|header| (header.source_port, header.destination_port)).collect()
    };
    assert!(ports(&new).iter().all(|pair| !ports(&kept).contains(pair)));
}

/// A host of the process before must not close a connection of another host by its old number.
#[test]
fn without_a_file_numbers_of_an_earlier_process_are_unknown() {
    let old = service(None, 1000).open_connection(&request(1)).unwrap();
    let after = service(None, 2000);
    let new = after.open_connection(&request(1)).unwrap();
    assert_ne!(new.connection, old.connection);
    let close = v1::CloseConnectionRequest { connection: old.connection };
    assert_eq!(after.close_connection(&close).unwrap_err().code, Code::NotFound);
    assert!(get(&after, new.connection).is_ok());
}

#[test]
fn a_later_process_starts_at_a_higher_number() {
    let epoch = heddle_path_service::epoch();
    assert!(epoch > 1_700_000_000 << 21 && epoch < 1 << 53, "JSON's numbers have 53 bits");
}
