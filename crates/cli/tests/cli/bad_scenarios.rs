//! Scenarios that are not valid: exit code 3, and a message with file, line, key and help. The
//! crate of scenarios tests the messages.

use serde_json::Value;

use crate::support::{Folder, SMALL, keys};

/// A text and its replacement, the line of the error, its key, and a part of its help.
const SPOILED: &[(&str, &str, u64, &str, &str)] = &[
    ("load = 0.4", "laod = 0.4", 15, "workload.laod", "did you mean `load`?"),
    ("[measure]", "[mesure]", 16, "mesure", "did you mean `measure`?"),
    ("\"ecmp\"", "\"ecpm\"", 11, "scheme.kind", "did you mean `ecmp`?"),
    ("host_rate = \"1Gbps\"", "host_rate = \"0Gbps\"", 8, "fabric.host_rate", "10Kbps"),
    ("host_rate = \"1Gbps\"", "host_rate = \"900Tbps\"", 8, "fabric.host_rate", "100Tbps"),
    ("load = 0.4", "load = 1.5", 15, "workload.load", "below 1"),
    ("fixed:20KB", "webserch", 14, "workload.sizes", "websearch"),
    ("seeds = [1, 2]", "seeds = []", 2, "seeds", "seeds = [1, 2, 3]"),
];

#[test]
fn each_names_file_line_and_mend() {
    let folder = Folder::new();
    for (from, to, line, key, help) in SPOILED {
        assert_eq!(SMALL.matches(from).count(), 1, "{from}");
        folder.put("bad.toml", &SMALL.replace(from, to));
        for command in ["run", "show", "validate", "sweep --over seeds=[1],[2]"] {
            if command.starts_with("sweep") && *key == "seeds" {
                continue;
            }
            let ran = folder.heddle(&format!("{command} bad.toml"));
            assert_eq!(ran.out, "", "{command} {to}");
            let said = ran.failed(3);
            assert!(said.starts_with(&format!("error: bad.toml:{line}: {key}: ")), "{said}");
            let fix = said.split_once("\nhelp: ").map_or("", |(_, fix)| fix);
            assert!(fix.contains(help), "{said}");
        }
    }
    assert_eq!(folder.list("out"), [""; 0], "nothing was begun");
}

#[test]
fn json_has_the_same_in_an_object() {
    let folder = Folder::new();
    for (from, to, line, key, help) in SPOILED {
        folder.put("bad.toml", &SMALL.replace(from, to));
        let ran = folder.heddle("run bad.toml --json");
        assert_eq!(ran.code, Some(3));
        let error = ran.json();
        assert_eq!(keys(&error), ["error", "file", "help", "key", "line", "message"]);
        assert_eq!((&error["error"], &error["file"]), (&"scenario".into(), &"bad.toml".into()));
        assert_eq!((&error["line"], &error["key"]), (&Value::from(*line), &Value::from(*key)));
        assert!(error["help"].as_str().unwrap().contains(help), "{error}");
        assert!(ran.err.contains(error["message"].as_str().unwrap()), "people read it too");
    }
}

/// Errors of the parser and of units have their help in the message itself.
#[test]
fn malformed_toml_and_missing_units() {
    let folder = Folder::new();
    for (from, to, place) in [
        ("load = 0.4", "load = ", "bad.toml:15: "),
        ("[scheme]", "[scheme", "bad.toml:10: "),
        (
            "host_rate = \"1Gbps\"",
            "host_rate = \"1\"",
            "bad.toml:8: fabric.host_rate: a rate needs a unit",
        ),
        ("warm_up = \"1ms\"", "warm_up = 1", "bad.toml:17: measure.warm_up: "),
        ("flows = 100", "flows = -1", "bad.toml:18: measure.flows: "),
    ] {
        folder.put("bad.toml", &SMALL.replace(from, to));
        let said = folder.heddle("run bad.toml").failed(3);
        assert!(said.starts_with(&format!("error: {place}")), "{said}");
    }
}

#[test]
fn a_wrong_set_names_the_key_and_set() {
    let folder = Folder::new();
    let said = folder.heddle("run small.toml --set workload.laod=0.5").failed(3);
    assert!(said.contains("workload.laod (from --set): ") && said.contains("`load`"), "{said}");
    let said = folder.heddle("sweep small.toml --over workload.load=0.5,1.5").failed(3);
    assert!(said.contains("workload.load (from --over): 1.5"), "{said}");
    assert_eq!(folder.list("out"), [""; 0], "the whole grid is checked before anything runs");
}

/// Notepad and PowerShell write UTF-16.
#[test]
fn a_file_that_is_no_utf8_says_what_it_is() {
    let folder = Folder::new();
    let utf16: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path("bad.toml"), [&[0xff, 0xfe], &utf16[..]].concat()).unwrap();
    let said = folder.heddle("run bad.toml").failed(1);
    assert_eq!(said, "error: bad.toml: the file is UTF-16: save it as UTF-8\n");
    std::fs::write(folder.path("bad.toml"), b"title = \"\xff\"").unwrap();
    let said = folder.heddle("run bad.toml").failed(1);
    assert_eq!(said, "error: bad.toml: the file is no UTF-8 text: save it as UTF-8\n");
}

/// 1 ms of probes, 20 ms of warm-up, 10 ms of measuring.
#[test]
fn an_event_behind_the_end_of_the_run_is_said() {
    let folder = Folder::new();
    let late = "[[event]]\nat = \"30999us\"\nfail = [\"spine-1\"]\n[[event]]\nat = \"31ms\"\nrecover = [\"spine-1\"]\n";
    let measure = "[measure]\nduration = \"10ms\"\n";
    let scenario = &SMALL[..SMALL.find("[measure]").unwrap()];
    folder.put("late.toml", &format!("{scenario}{measure}{late}"));
    let ran = folder.heddle("validate late.toml");
    let said = "warning: late.toml: event.1 at 31ms never comes: the run ends at 31ms\n";
    assert!(ran.err.contains(said) && !ran.err.contains("event.0"), "{}", ran.err);
}

#[test]
fn conga_on_three_tiers() {
    let folder = Folder::new();
    let workload = &SMALL[SMALL.find("[workload]").unwrap()..];
    let head = "[fabric]\nkind = \"two-pod\"\n[scheme]\nkind = \"conga\"\n";
    folder.put("bad.toml", &format!("{head}{workload}"));
    let said = folder.heddle("run bad.toml").failed(3);
    assert!(said.starts_with("error: bad.toml:4: scheme.kind: "), "{said}");
    assert!(said.contains("help: \"conga-prime\""), "{said}");
}

#[test]
fn sizes_that_are_no_distribution() {
    let folder = Folder::new();
    folder.put("falling.csv", "bytes,cdf\n1,0.5\n2,0.4\n3,1\n");
    let sizes = "sizes = { file = \"falling.csv\" }";
    folder.put("bad.toml", &SMALL.replace("sizes = \"fixed:20KB\"", sizes));
    let said = folder.heddle("run bad.toml").failed(3);
    assert!(said.contains("falling.csv:3: "), "{said}");
}

/// The graph is in a file beside the scenario; it is sought from the scenario's folder, and named
/// with its own lines.
#[test]
fn a_fabric_in_two_pieces() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inner")).unwrap();
    let graph = r#"
node = [{ name = "h1" }, { name = "h2" }, { name = "a" }, { name = "b", tier = 1 }]
link = [{ between = "h1 a", rate = "1Gbps" }, { between = "h2 b", rate = "1Gbps" }]
"#;
    folder.put("inner/island.toml", graph);
    let rest = &SMALL[SMALL.find("[scheme]").unwrap()..];
    let head = "[fabric]\nkind = \"file\"\npath = \"island.toml\"\nlink_delay = \"1us\"\n";
    folder.put("inner/bad.toml", &format!("{head}{rest}"));
    let ran = folder.heddle("run inner/bad.toml --json");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert_eq!(ran.json()["error"], "scenario");
}

#[test]
fn a_missing_file_is_no_scenario_error() {
    let folder = Folder::new();
    for command in ["run", "show", "validate", "sweep --over seeds=[1]"] {
        let said = folder.heddle(&format!("{command} nowhere.toml")).failed(1);
        assert!(said.starts_with("error: nowhere.toml: "), "{said}");
    }
    let ran = folder.heddle("run nowhere.toml --json");
    assert_eq!((ran.code, ran.json()["error"].as_str()), (Some(1), Some("failed")));
}

#[test]
fn wrong_command_lines() {
    let folder = Folder::new();
    for words in [
        "",
        "rum small.toml",
        "run",
        "run small.toml --set load",
        "run small.toml --jobs many",
        "sweep small.toml",
        "reproduce conga",
        "reproduce hula --quick --full",
        "bench e",
        "bench --runs 0",
        "completions dos",
    ] {
        let ran = folder.heddle(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words}");
        assert!(ran.err.contains("Usage") || ran.err.contains("--help"), "{words}: {}", ran.err);
    }
}
