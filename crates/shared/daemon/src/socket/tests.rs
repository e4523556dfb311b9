use super::*;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_socket_is_the_owners_and_goes_with_the_daemon() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("heddle/admin.sock");
    let listener = bind(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o755);
    assert!(UnixStream::connect(&path).is_ok());
    drop(listener);
    assert!(!path.exists());
}

#[test]
fn a_folder_is_made_where_the_one_around_it_is_there() {
    let root = tempfile::tempdir().unwrap();
    let misspelt = root.path().join("rnu/heddle/admin.sock");
    let refused = bind(&misspelt).unwrap_err();
    let above = root.path().join("rnu");
    assert!(matches!(&refused, BindError::NoFolder { folder, .. } if *folder == above));
    assert!(refused.to_string().contains("rnu is missing\nhelp: mkdir -p "), "{refused}");
    assert!(!above.exists());
    assert!(make_directory(Path::new("admin.sock")).is_ok(), "the current one");
}

#[test]
fn a_living_daemon_keeps_its_socket() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("admin.sock");
    let _first = bind(&path).unwrap();
    assert!(matches!(bind(&path), Err(BindError::InUse(at)) if at == path));
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_dead_daemons_socket_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("admin.sock");
    // Dropped without its name being removed, as when a process is killed.
    drop(UnixListener::bind(&path).unwrap());
    assert!(UnixStream::connect(&path).is_err());
    let _new = bind(&path).unwrap();
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_file_in_the_way_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("admin.sock");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(bind(&path), Err(BindError::InTheWay(_))));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn a_path_too_long_for_a_socket_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x".repeat(120));
    assert!(matches!(bind(&path), Err(BindError::Io { .. })));
}

#[test]
fn only_root_and_the_daemons_user_are_allowed() {
    let user = rustix::process::geteuid().as_raw();
    assert!(is_allowed(0) && is_allowed(user));
    assert!(!is_allowed(user.wrapping_add(1000)));
}
