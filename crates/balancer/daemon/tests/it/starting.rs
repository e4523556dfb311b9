//! The start of a daemon, and what its service manager is told.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{LIMIT, setup};
use heddle_lab::{Daemons, Lab, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{AskError, Client, Reply, Request};
use rustix::process::{Pid, Signal, kill_process};

/// A lab whose first daemon has stopped, with its configuration.
fn stopped(lab: &Lab) -> Daemons<'_> {
    let mut daemons = Daemons::start(lab, setup("learn", "l2")).unwrap();
    daemons.stop(0);
    daemons.remove_program(0);
    daemons
}

fn heddled(lab: &Lab, daemons: &Daemons<'_>) -> Command {
    let mut command = lab.balancer(0).command(env!("CARGO_BIN_EXE_heddled"));
    command.arg("--config").arg(daemons.config_file(0)).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A path in the first daemon's configuration.
fn path(daemons: &Daemons<'_>, key: &str) -> PathBuf {
    let config = daemons.config(0);
    let line = config.lines().find_map(|line| line.strip_prefix(&format!("{key} = \""))).unwrap();
    line.trim_end_matches('"').into()
}

fn signal(daemon: &Child, signal: Signal) {
    kill_process(Pid::from_child(daemon), signal).unwrap();
}

/// The next message to the manager, but for the time.
fn told(manager: &UnixDatagram) -> String {
    let mut message = [0; 4096];
    let length = manager.recv(&mut message).expect("a notification");
    String::from_utf8_lossy(&message[..length]).into_owned()
}

#[test]
fn the_service_manager_is_told_of_start_reload_and_end() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let daemons = stopped(&lab);
    let folder = tempfile::tempdir().unwrap();
    let manager = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    manager.set_read_timeout(Some(LIMIT)).unwrap();
    let mut command = heddled(&lab, &daemons);
    let mut daemon = command.env("NOTIFY_SOCKET", folder.path().join("notify")).spawn().unwrap();
    assert_eq!(told(&manager), "READY=1");
    let ask = |request| Client::connect(&daemons.socket(0)).unwrap().ask(&request);
    let Ok(Reply::Health(health)) = ask(Request::Health) else { panic!("no health") };
    assert!(health.healthy, "{health:?}");

    assert!(matches!(ask(Request::Reload), Ok(Reply::Reloaded(_))));
    assert!(told(&manager).starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(told(&manager), "READY=1\nSTATUS=");

    // An interface that does not exist: the next start would fail.
    let wrong = daemons.config(0).replace("[\"eth0\"]", "[\"eth0\", \"nowhere\"]");
    daemons.write_config(0, &wrong).unwrap();
    let Err(AskError::Problem(refused)) = ask(Request::Reload) else { panic!("it was read") };
    assert!(refused.message.contains("no network interface nowhere"), "{refused:?}");
    assert!(told(&manager).starts_with("RELOADING=1"));
    let status = told(&manager);
    assert!(status.starts_with("READY=1\nSTATUS=the configuration stays as it was: "), "{status}");

    signal(&daemon, Signal::TERM);
    assert_eq!(told(&manager), "STOPPING=1");
    assert!(daemon.wait().unwrap().success());
}

/// A reload ends with READY=1, which is not the end of the start.
#[test]
fn a_reload_during_the_start_does_not_tell_that_it_has_ended() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let daemons = stopped(&lab);
    let folder = tempfile::tempdir().unwrap();
    let manager = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    manager.set_read_timeout(Some(LIMIT)).unwrap();
    let mut command = heddled(&lab, &daemons);
    let mut daemon = command.env("NOTIFY_SOCKET", folder.path().join("notify")).spawn().unwrap();
    let listens = || daemons.socket(0).exists().then_some(()).ok_or_else(|| "no socket".into());
    eventually(LIMIT, listens).unwrap();
    signal(&daemon, Signal::HUP);
    assert_eq!(told(&manager), "READY=1");
    signal(&daemon, Signal::TERM);
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn a_start_that_is_refused_leaves_no_pins() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let daemons = stopped(&lab);
    let (pins, secret) = (path(&daemons, "pin"), path(&daemons, "secret_file"));
    let refused = |word: &str| {
        let ended = heddled(&lab, &daemons).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(word), "{said}");
        assert!(!pins.exists(), "{word}: programs were loaded");
    };
    fs::set_permissions(&secret, Permissions::from_mode(0o644)).unwrap();
    refused("chmod 600");
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&secret, Some(4321), None).unwrap();
    refused("chown root");
    std::os::unix::fs::chown(&secret, Some(0), None).unwrap();
    let wrong = daemons.config(0).replace("[\"eth0\"]", "[\"nowhere\"]");
    daemons.write_config(0, &wrong).unwrap();
    refused("no network interface nowhere");
}

/// The admin socket is there before the programs are loaded, which takes the kernel a while. On a
/// busy machine the signal may come late; one in ten that does not is enough.
#[test]
fn a_daemon_that_loads_programs_obeys_sigterm() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let daemons = stopped(&lab);
    let ends_while_it_loads = || {
        daemons.remove_program(0);
        let daemon = heddled(&lab, &daemons).spawn().unwrap();
        let begun = Instant::now();
        while !daemons.socket(0).exists() && begun.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(&daemon, Signal::TERM);
        let ended = daemon.wait_with_output().unwrap();
        !String::from_utf8_lossy(&ended.stderr).contains("the balancer runs")
    };
    let mut attempts = 0;
    eventually(LIMIT, || {
        attempts += 1;
        assert!(attempts <= 10, "it goes on until it has started");
        if ends_while_it_loads() { Ok(()) } else { Err("it has started".into()) }
    })
    .unwrap();
}

#[test]
fn a_second_daemon_does_not_use_the_pins_of_the_first() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let admin = format!("admin = \"{}\"", daemons.socket(0).display());
    let other = format!("admin = \"{}\"", folder.path().join("admin").display());
    let metrics = format!("metrics = \"{}\"\n", daemons.metrics_address(0));
    let config = daemons.config(0);
    assert!(config.contains(&admin) && config.contains(&metrics));
    let second = folder.path().join("heddled.toml");
    fs::write(&second, config.replace(&admin, &other).replace(&metrics, "")).unwrap();
    let mut command = lab.balancer(0).command(env!("CARGO_BIN_EXE_heddled"));
    let refused = command.arg("--config").arg(&second).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && text.contains("another daemon uses"), "{text}");
}
