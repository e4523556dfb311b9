//! `heddle path keygen`, and which key files are used.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::Folder;

const ENCODE: &str = "path encode fabric.toml host-1 host-128 --path 5";

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_key_is_its_owners_alone_and_stays() {
    let folder = Folder::new();
    for (cipher, digits) in [("rc5", 32), ("skip32", 20), ("feistel", 32)] {
        let name = format!("{cipher}.key");
        let words = format!("path keygen {name} --cipher {cipher}");
        let ran = folder.heddle(&words);
        let text = folder.read(&name);
        let key = text.trim();
        assert!(key.len() == digits && key.chars().all(|digit| digit.is_ascii_hexdigit()));
        assert!(!ran.out.contains(key) && !ran.err.contains(key), "the key is not shown");
        assert!(ran.ok().starts_with(&format!("key_file = \"{name}\"\nkey_check = \"")));
        let mode = fs::metadata(folder.path(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        let said = folder.heddle(&words).failed(1);
        assert!(
            said.contains("is there already, and keys are never overwritten\nhelp: "),
            "{said}"
        );
        assert_eq!(folder.read(&name), text);
    }
    assert_ne!(folder.read("rc5.key"), folder.read("feistel.key"));
}

#[test]
fn the_check_value_lets_the_right_key_pass_alone() {
    let folder = Folder::with_fabric();
    let made = folder.heddle("path keygen other.key --json").json();
    let check = made["key_check"].as_str().unwrap();
    // In quotes: a check value may have no letter in it.
    let checked = format!("{ENCODE} --set cflb.key_check=\"{check}\"");
    folder.heddle(&format!("{checked} --key-file other.key")).ok();
    let said = folder.heddle(&checked).failed(1);
    assert!(said.contains("this is not the network's key: its check value is "), "{said}");
    assert!(
        said.contains(&format!("the network's is {check}\nhelp: give the right key")),
        "{said}"
    );
    for name in ["other.key", "fat-tree-8.key"] {
        assert!(!said.contains(folder.read(name).trim()));
    }
}

#[test]
fn key_files_that_others_can_read_are_refused() {
    let folder = Folder::with_fabric();
    for mode in [0o644, 0o640, 0o604, 0o620, 0o700 | 0o010] {
        set_mode(&folder, "fat-tree-8.key", mode);
        let said = folder.heddle(ENCODE).failed(1);
        let message = format!(
            "can be used by others than its owner (mode {mode:o})\nhelp: chmod 600 fat-tree-8.key\n"
        );
        assert!(said.ends_with(&message), "{said}");
    }
    set_mode(&folder, "fat-tree-8.key", 0o400);
    folder.heddle(ENCODE).ok();
}

#[test]
fn keys_that_are_none() {
    let folder = Folder::with_fabric();
    let ran = folder.heddle(&format!("{ENCODE} --key-file none.key --json"));
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.json()["help"], "heddle path keygen none.key makes a new key");
    for (text, message) in [("0123", "has 4 hexadecimal digits"), ("xyz", "character 1 of the key")]
    {
        folder.put("bad.key", text);
        set_mode(&folder, "bad.key", 0o600);
        let said = folder.heddle(&format!("{ENCODE} --key-file bad.key")).failed(1);
        assert!(said.starts_with("error: bad.key: ") && said.contains(message), "{said}");
    }
    let text = folder.read("fabric.toml");
    let without = text.lines().filter(|line| !line.starts_with("key_file"));
    folder.put("fabric.toml", &without.collect::<Vec<_>>().join("\n"));
    let said = folder.heddle(ENCODE).failed(1);
    assert!(
        said.contains("fabric.toml names no key file\nhelp: give one with --key-file"),
        "{said}"
    );
}

/// Named from the fabric file's folder, wherever the command runs.
#[test]
fn the_fabric_file_names_its_key_from_its_own_folder() {
    let folder = Folder::with_fabric();
    fs::create_dir(folder.path("below")).unwrap();
    let mut command = folder.command(&ENCODE.replace("fabric.toml", "../fabric.toml"));
    let ran = command.current_dir(folder.path("below")).output().unwrap();
    assert!(ran.status.success());
}
