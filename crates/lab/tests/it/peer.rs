//! The peers as programs, on hosts of a lab.

use std::process::Stdio;

use heddle_lab::{Lab, NextHop};
use heddle_testing::{Need, skip_without};
use serde_json::Value;

const PEER: &str = env!("CARGO_BIN_EXE_heddle-lab-peer");

#[test]
fn server_and_client_programs_report_their_transfers() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let mut serve = lab.backend(0).command(PEER);
    serve.args(["serve", "--name", "here", "--seconds", "60"]).stdout(Stdio::piped());
    let mut server = serve.spawn().unwrap();
    let mut said = [0; 1];
    std::io::Read::read_exact(server.stdout.as_mut().unwrap(), &mut said).unwrap();

    for kind in ["download", "upload"] {
        let line = format!("{PEER} {kind} 192.0.2.1:8080 1000000 --subflows 2");
        let report: Value = serde_json::from_str(&lab.client().run(&line).unwrap()).unwrap();
        assert_eq!(report["backend"], "here");
        assert_eq!(report["bytes"], 1_000_000);
        assert_eq!(report["mptcp"]["fallback"], false);
        assert_eq!(report["mptcp"]["subflows"].as_array().unwrap().len(), 2);
    }
    let line = format!("{PEER} streams 192.0.2.1:8080 --count 2 --seconds 1 --subflows 2");
    let printed = lab.client().run(&line).unwrap();
    let reports: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 2, "{printed}");
    for report in reports {
        assert_eq!((&report["backend"], &report["broken"]), (&"here".into(), &Value::Null));
        assert_eq!(report["subflows"].as_array().unwrap().len(), 2, "{report}");
    }
    let refused = lab.client().run(&format!("{PEER} ping 192.0.2.1:8081 --count 1")).unwrap_err();
    assert!(refused.to_string().contains("refused"), "{refused}");
    drop(lab);
    assert!(!server.wait().unwrap().success(), "killed with the lab");
}
