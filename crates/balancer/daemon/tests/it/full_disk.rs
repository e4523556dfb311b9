//! A daemon whose log cannot be written.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::common::{LIMIT, setup};
use heddle_lab::{Daemons, Lab, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{Client, Reply, Request};

/// Each write to it fails with ENOSPC.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_daemon_with_a_full_disk_under_its_log_goes_on() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    daemons.stop(0);
    let mut command = lab.balancer(0).command(env!("CARGO_BIN_EXE_heddled"));
    command.arg("--config").arg(daemons.config_file(0)).args(["--log-level", "trace"]);
    let mut daemon = command.stdin(Stdio::null()).stderr(full()).spawn().unwrap();
    let ask = |request| -> Result<Reply, String> {
        let mut client = Client::connect(&daemons.socket(0)).map_err(|error| error.to_string())?;
        client.ask(&request).map_err(|error| error.to_string())
    };
    eventually(LIMIT, || match daemon.try_wait() {
        Ok(None) => ask(Request::Status).map(drop),
        ended => panic!("{ended:?}"),
    })
    .unwrap();
    for _ in 0..3 {
        assert!(matches!(ask(Request::Reload), Ok(Reply::Reloaded(_))));
    }
    assert!(daemon.try_wait().unwrap().is_none(), "it still runs");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[test]
fn an_error_that_cannot_be_written_is_an_exit_code() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddled"));
    let status = command.args(["--config", "/nonexistent"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}
