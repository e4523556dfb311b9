//! The client as its users meet it, as far as it goes without a daemon.
// The lint lets tests unwrap, but not what they share.
#![allow(clippy::unwrap_used)]

mod help;

use heddle_program::testing::{Folder, keys, words};
use serde_json::Value;

fn folder() -> Folder {
    Folder::of(env!("CARGO_BIN_EXE_heddle-lb"))
}

const GOOD: &str = r#"[balancer]
name = "lb1"
interfaces = ["eth0"]

[[service]]
name = "web"
address = "192.0.2.10"
port = 443
mptcp = "c-flag"
health = { kind = "http", path = "/health" }
[[service.backend]]
name = "be1"
address = "10.0.1.1"
join_address = "192.0.2.101"
"#;

#[test]
fn check_tells_what_would_run() {
    let folder = folder();
    folder.put("lb.toml", GOOD);
    let text = folder.run("check --file-only lb.toml").ok();
    assert!(text.starts_with("lb.toml: ok\nbalancer lb1 on eth0, alone\nmemory: "), "{text}");
    let row = text.lines().find(|line| line.starts_with("│ web ")).unwrap();
    for cell in ["192.0.2.10:443 TCP", "c-flag", "l2", "HTTP to port 443 every 2.0s", "1 backend "]
    {
        assert!(row.contains(cell), "{cell}: {row}");
    }
    assert!(text.contains("\non backend be1 of web, as root:\n  sysctl -w net.mptcp.enabled=1\n"));
}

#[test]
fn check_as_json() {
    let folder = folder();
    folder.put("lb.toml", GOOD);
    let checked = folder.run("check --file-only --json lb.toml").json();
    assert_eq!(keys(&checked), ["findings", "interfaces", "memory", "name", "ok", "services"]);
    let memory = |part: &str| checked["memory"][part].as_u64().unwrap();
    assert_eq!(memory("total"), memory("flows") + memory("tokens") + memory("maglev"));
    let backend = &checked["services"][0]["backends"][0];
    assert_eq!((&backend["name"], &backend["weight"]), (&"be1".into(), &1.into()));
    assert!(
        words(backend, "commands").contains(&"ip mptcp endpoint add 192.0.2.101 dev lo signal")
    );
}

#[test]
fn check_looks_at_the_machine() {
    let folder = folder();
    folder.put("lb.toml", &GOOD.replace("eth0", "no-such-dev"));
    let ran = folder.run("check --json lb.toml");
    let checked = ran.json();
    assert_eq!((ran.code, &checked["ok"]), (Some(3), &false.into()));
    let found = checked["findings"].as_array().unwrap();
    let interface = found.iter().find(|found| found["subject"] == "no-such-dev").unwrap();
    assert_eq!(interface["severity"], "error");
    assert!(interface["fix"].as_str().unwrap().starts_with("interfaces = "), "{interface}");
    assert!(folder.run("check --file-only lb.toml").ok().contains("lb.toml: ok"));
}

#[test]
fn check_refuses_what_cannot_work_and_says_what_would() {
    let folder = folder();
    folder.put("lb.toml", &format!("{GOOD}weight = 0\n"));
    let ran = folder.run("check --file-only lb.toml");
    assert_eq!(ran.code, Some(3));
    let text = ran.out;
    assert!(text.starts_with("lb.toml: cannot work like this\n"), "{text}");
    assert!(text.contains("error: lb.toml:11: web: its only backend has weight 0"), "{text}");
    assert!(text.contains("\n  fix: weight = 1"), "{text}");
}

#[test]
fn a_wrong_configuration_is_told_by_line_key_and_mend() {
    let folder = folder();
    folder.put("bad.toml", &GOOD.replace("port = 443", "prot = 443"));
    let ran = folder.run("check --file-only bad.toml");
    assert_eq!(
        (ran.code, &*ran.out),
        (
            Some(3),
            "bad.toml: cannot work like this\nerror: bad.toml:8: service.0.prot: this key is not known here\n  fix: did you mean `port`?\n"
        )
    );
    let ran = folder.run("check --file-only --json bad.toml");
    let told = ran.json();
    let why = &told["findings"][0];
    assert_eq!((ran.code, &told["ok"], &why["line"]), (Some(3), &false.into(), &8.into()));
    assert_eq!(why["key"], "service.0.prot");
    assert!(folder.run("check nowhere.toml").failed(1).contains("nowhere.toml: No such file"));
}

#[test]
fn a_file_that_is_no_toml_is_told_by_line() {
    let folder = folder();
    folder.put("lb.toml", "[balancer]\n[tables\n");
    let ran = folder.run("check --file-only lb.toml");
    assert!(ran.out.contains("\nerror: lb.toml:2: file: "), "{}", ran.out);
    assert_eq!(folder.run("check --file-only --json lb.toml").json()["findings"][0]["line"], 2);
    std::fs::write(folder.path("lb.toml"), b"[balancer]\nname = \"\xe9\"\n").unwrap();
    let ran = folder.run("check --file-only lb.toml");
    assert_eq!(ran.code, Some(3));
    let told = "\nerror: lb.toml:2: file: the byte 0xe9 here is no UTF-8";
    assert!(ran.out.contains(told), "{}", ran.out);
}

/// Not in the order of what is found first: a wrong key hides no service without a backend.
#[test]
fn mistakes_of_the_file_hide_nothing_that_cannot_work() {
    let folder = folder();
    let broken = "[[service]]\nname = \"a\"\naddress = \"192.0.2.300\"\nport = 1\n";
    let wrong =
        "[[service]]\nname = \"\"\naddress = \"192.0.2.11\"\nport = 80\nmptcp = \"assign\"\n";
    folder.put("lb.toml", &format!("{GOOD}weight = 0\n{broken}{wrong}"));
    let text = folder.run("check --file-only lb.toml").out;
    for told in [
        "error: lb.toml:11: web: its only backend has weight 0",
        "error: lb.toml:18: service.1.address: ",
        "error: lb.toml:21: service.2.name: it is empty",
        "error: lb.toml:20: service 2: it has no backend",
        "error: lb.toml:24: service.2.mptcp: stock kernels choose keys of their own",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
}

/// The backends that it would have come from the other service.
#[test]
fn a_wrong_backends_of_is_one_mistake() {
    let folder = folder();
    let wrong = "[[service]]\nname = \"a\"\naddress = \"192.0.2.11\"\nport = 1\nmptcp = \"off\"\nbackends_of = \"web\"\n";
    folder.put("lb.toml", &format!("{GOOD}{wrong}"));
    let text = folder.run("check --file-only lb.toml").out;
    assert!(text.contains("service.1.backends_of: `web` has another `mptcp`"), "{text}");
    assert!(!text.contains("it has no backend"), "{text}");
}

#[test]
fn an_empty_file_lacks_its_balancer_and_says_nothing_of_lo() {
    let folder = folder();
    folder.put("lb.toml", "");
    let told = folder.run("check --json lb.toml").json();
    let errors = told["findings"].as_array().unwrap();
    let subjects: Vec<_> = errors.iter().map(|found| found["subject"].as_str().unwrap()).collect();
    assert!(subjects.contains(&"balancer") && !subjects.contains(&"lo"), "{told:#}");
}

/// The example, on a machine that is not made for it.
#[test]
fn the_shipped_example_tells_everything_that_is_missing_here() {
    let folder = folder();
    let example = include_str!("../../../../../packaging/heddled.toml");
    let wrong = example
        .replace("interfaces = [\"eth0\"]", "interfaces = [\"no-such-dev\"]")
        .replace("/etc/heddle/secret", "no-such-secret")
        .replace("mptcp = \"learn\"", "mptcp = \"lern\"")
        .replace("gue\"      ", "guee\"     ");
    folder.put("lb.toml", &wrong);
    let ran = folder.run("check --json lb.toml");
    assert_eq!(ran.code, Some(3));
    let told = ran.json();
    let line = |text: &str| wrong.lines().position(|line| line.starts_with(text)).unwrap() + 1;
    let wanted = [
        ("no-such-dev", line("interfaces ="), "interfaces = [...] with one of"),
        ("steering.secret_file", line("secret_file ="), "openssl rand -hex 32 > no-such-secret"),
        ("service.0.mptcp", line("mptcp = \"lern"), "did you mean `learn`?"),
        ("service.1.forwarding", line("forwarding = \"guee"), "did you mean `gue`?"),
    ];
    for (subject, line, fix) in wanted {
        let found =
            told["findings"].as_array().unwrap().iter().find(|found| found["subject"] == subject);
        let found = found.unwrap_or_else(|| panic!("{subject}: {told:#}"));
        assert_eq!(found["line"], line, "{found}");
        assert!(found["fix"].as_str().unwrap().contains(fix), "{found}");
    }
}

#[test]
fn the_schema_names_every_table() {
    let schema: Value = folder().run("schema").json();
    for table in ["balancer", "tables", "timeouts", "limits", "steering", "service"] {
        assert!(schema["properties"][table].is_object(), "{table}");
    }
}

#[test]
fn the_openapi_document_is_that_of_the_repository() {
    let document: Value = folder().run("openapi").json();
    let kept = include_str!("../../../daemon/openapi.json");
    assert_eq!(document, serde_json::from_str::<Value>(kept).unwrap());
}

#[test]
fn without_a_daemon_it_says_what_to_do() {
    let folder = folder();
    for command in [
        "status",
        "services",
        "backends",
        "backend add be4 web=10.0.1.4",
        "backend remove be4",
        "members",
        "counters",
        "top",
        "reload",
        "drain be1",
        "connections",
    ] {
        let said = folder.run(&format!("{command} --socket none.sock")).failed(1);
        assert!(said.contains("no daemon answers at none.sock"), "{command}: {said}");
        assert!(said.contains("\nhelp: is heddled running?"), "{command}: {said}");
    }
    let mut command = folder.command("status --json");
    let output = command.env("HEDDLE_SOCKET", "other.sock").output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told["message"].as_str().unwrap().contains("other.sock"), "{told}");
}

#[test]
fn a_usage_line_names_what_has_to_be_given() {
    let folder = folder();
    let said = |words: &str| {
        let mut command = folder.command(words);
        let output = command.env("HEDDLE_SOCKET", "other.sock").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        String::from_utf8(output.stderr).unwrap()
    };
    let drain = said("drain");
    assert!(drain.contains("Usage: heddle lb drain") && !drain.contains("--socket"), "{drain}");
    let none = said("--json");
    assert!(none.contains("reload") && !none.contains("manual"), "{none}");
    assert!(!none.contains("command-tree"), "{none}");
}

#[test]
fn what_strangers_wrote_does_not_reach_the_terminal_as_it_is() {
    let folder = folder();
    let odd = "x\u{1b}[31my\u{202e}z";
    let said = [
        folder.run_words(&["status", "--socket", odd]).failed(1),
        folder.run_words(&["backend", "add", "be1", &format!("web={odd}")]).failed(2),
        folder.run_words(&["check", odd]).failed(1),
    ];
    folder.put("lb.toml", &GOOD.replace("path =", "host = \"\\u001b[31m\", path ="));
    let checked = folder.run("check --file-only lb.toml").out;
    for text in said.iter().chain([&checked]) {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
    assert!(checked.contains("\\u001b[31m"), "{checked}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let folder = folder();
    for wrong in [
        "drain be1 --undo --wait",
        "backend",
        "backend add be4",
        "backend add be4 10.0.1.4",
        "backend add be4 web=10.0.1.400",
        "backend add be4 web=10.0.1.4 --weight 1001",
        "explain --from 192.0.2.1:1 --to 192.0.2.2:2 --udp --join 1",
        "explain --from 192.0.2.1 --to 192.0.2.2:2",
        "explain --from 192.0.2.1:1 --to [2001:db8::1]:2",
        "weight be1 abc",
        "connections --token xyz",
        "decap --interface eth0",
        "decap --interface eth0 --own 10.0.0.1",
        "decap --interface eth0 --own 10.0.0.1 --from 10.0.0.2 --any",
        "decap --interface eth0 --detach --own 10.0.0.1",
        "top --every 0",
    ] {
        folder.run(wrong).failed(2);
    }
}
