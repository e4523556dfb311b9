//! Sub-commands that are programs of their own: found beside `heddle`, then on the PATH.
#![cfg(unix)]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use heddle_program::testing::{Folder, Ran};

/// A description of a command line, as `heddle-lb command-tree` prints one.
const TREE: &str = r#"{"name":"heddle-lb","about":"","arguments":[],"subcommands":[
{"name":"drain","about":"Drain","subcommands":[],"arguments":[{"id":"wait","long":"wait","short":null,"help":"",
"value_names":[],"values":[],"path":false,"repeated":false,"global":false}]}]}"#;

/// A copy of `heddle` in `bin/`, away from the programs that cargo has built beside it.
struct Installed(Folder);

impl Installed {
    fn new() -> Installed {
        let folder = tempfile_of(env!("CARGO_BIN_EXE_heddle"));
        Installed(folder)
    }

    /// Writes a program that prints its arguments, one a line, and exits with 7.
    fn stub(&self, path: &str) {
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = command-tree ] && echo '{TREE}' && exit 0\n\
                            printf '%s\\n' \"$0\" \"$@\"\nexit 7\n"
        );
        self.0.put(path, &text);
        fs::set_permissions(self.0.path(path), fs::Permissions::from_mode(0o755)).unwrap();
        wait_until_executable(&self.0.path(path));
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.0.command(words);
        command.env("PATH", self.0.path("path"));
        command
    }

    fn run(&self, words: &str) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }
}

/// A child of another test may hold the file that was just written, until it has started its own
/// program: "text file busy".
fn wait_until_executable(program: &Path) {
    let busy = || {
        let error = Command::new(program).arg("--version").output().err();
        error.is_some_and(|error| error.kind() == ErrorKind::ExecutableFileBusy)
    };
    while busy() {
        thread::sleep(Duration::from_millis(10));
    }
}

fn tempfile_of(program: &str) -> Folder {
    let bin = Folder::of("bin/heddle");
    for folder in ["bin", "path"] {
        fs::create_dir(bin.path(folder)).unwrap();
    }
    fs::copy(program, bin.path("bin/heddle")).unwrap();
    let program: PathBuf = bin.path("bin/heddle");
    wait_until_executable(&program);
    bin.with_program(program)
}

#[test]
fn a_missing_program_is_named_with_the_way_to_get_it() {
    let installed = Installed::new();
    for (words, program) in [
        ("lb status", "heddle-lb"),
        ("path serve f.toml", "heddle-path-service"),
        ("reproduce romanroads R1", "heddle-romanroads"),
    ] {
        let text = installed.run(words).failed(127);
        assert!(text.contains(&format!("the program {program} is not installed")), "{text}");
        assert!(text.contains(&format!("--package {program}")), "{text}");
        let json = installed.run(&format!("--json {words}")).json();
        assert_eq!(json["error"], "missing-program");
        assert!(json["help"].as_str().unwrap().contains(program), "{json}");
    }
}

#[test]
fn arguments_and_exit_codes_pass_through() {
    let installed = Installed::new();
    installed.stub("path/heddle-lb");
    for (words, passed) in [
        ("lb", ""),
        ("lb status", "status"),
        ("lb --help", "--help"),
        ("lb drain --help", "drain --help"),
        ("help lb", "--help"),
        ("help lb drain", "drain --help"),
        ("lb drain -- be1 --wait -x", "drain -- be1 --wait -x"),
        ("--json lb status", "--json status"),
        ("lb status --json", "status --json"),
        ("--quiet --jobs 2 lb --socket s status", "--quiet --jobs=2 --socket s status"),
    ] {
        let ran = installed.run(words);
        let printed: Vec<&str> = ran.out.lines().skip(1).collect();
        assert_eq!(
            (printed.join(" ").as_str(), ran.code),
            (passed, Some(7)),
            "{words}: {}",
            ran.err
        );
    }
}

/// The options are parsed by both, and mean the same to both.
#[test]
fn options_of_an_evaluation_pass_through() {
    let installed = Installed::new();
    installed.stub("path/heddle-romanroads");
    for (words, passed) in [
        ("reproduce romanroads", "--"),
        ("reproduce romanroads --quick R1 r3", "--quick -- R1 r3"),
        ("--json reproduce romanroads --full --out o", "--json --full --out o --"),
    ] {
        let ran = installed.run(words);
        let printed: Vec<&str> = ran.out.lines().skip(1).collect();
        assert_eq!((printed.join(" ").as_str(), ran.code), (passed, Some(7)), "{words}");
    }
}

#[test]
fn the_program_beside_heddle_comes_first() {
    let installed = Installed::new();
    installed.stub("path/heddle-lb");
    assert!(installed.run("lb").out.contains("/path/heddle-lb"));
    installed.stub("bin/heddle-lb");
    assert!(installed.run("lb").out.contains("/bin/heddle-lb"));
}

/// The script is sourced by a real bash, and its function asked what comes next.
#[test]
fn bash_completes_commands_of_other_programs() {
    let installed = Installed::new();
    let complete = |words: &str| -> Vec<String> {
        let last = words.split(' ').count() - 1;
        let script = format!(
            "source <(bin/heddle completions bash); COMP_WORDS=({words}); COMP_CWORD={last}\n\
             _heddle heddle \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let bash = PathBuf::from("/bin/bash");
        let output = installed.0.command_of(&bash, "-c").arg(script).output().unwrap();
        Ran::from(output).ok().lines().map(str::to_owned).collect()
    };
    assert_eq!(complete("heddle lb dr"), [""], "heddle-lb is not installed");
    installed.stub("bin/heddle-lb");
    assert_eq!(complete("heddle lb dr"), ["drain"]);
    assert_eq!(complete("heddle lb drain --w"), ["--wait"]);
    assert_eq!(complete("heddle help lb dr"), ["drain"]);
    assert_eq!(complete("heddle help pa"), ["path"]);
    assert_eq!(complete("heddle sw"), ["sweep"]);
}
