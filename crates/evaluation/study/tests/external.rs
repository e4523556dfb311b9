//! Schemes in shared libraries: the same runs as the simulator's own, keys of the store, refusals.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

// So that the example's library is built beside this test.
use heddle_scheme_example as _;

use heddle_scenario::{Files as _, Scenario, ScenarioError, Source, load};
use heddle_sim::{Next, Outcome, simulate};
use heddle_study::cell::Cell;
use heddle_study::external::{self, FilesAndLibraries};
use heddle_study::store::Store;
use heddle_study::summary::RunSummary;
use heddle_testing::require_program;
use tempfile::TempDir;

/// Two pods with a link down: probes, flowlets and choices at every tier.
const SCENARIO: &str = r#"
[fabric]
kind = "two-pod"
hosts_per_tor = 2
core_rate = "10Gbps"
failed = ["core-1 agg-3"]
[scheme]
kind = "ecmp"
[workload]
kind = "flows"
sizes = "websearch"
load = 0.6
[measure]
flows = 60
"#;

fn scenario(scheme: &str, folder: &Path) -> Result<Scenario, ScenarioError> {
    let source = Source::new("a.toml", SCENARIO).with("scheme", scheme);
    let read = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&source, &FilesAndLibraries { read, folder })
}

fn run(scheme: &str, folder: &Path) -> Outcome {
    external::simulate(&scenario(scheme, folder).unwrap(), 3, &mut |_| Next::Continue).unwrap()
}

/// Runs of a scheme of the simulator and of one in a library must have the same events, flows and
/// counters.
fn assert_same(own: &str, external: &str, folder: &Path) {
    let expected = simulate(&scenario(own, folder).unwrap(), 3, &mut |_| Next::Continue).unwrap();
    let external = run(external, folder);
    assert_eq!(expected.digest, external.digest, "events");
    assert_eq!(expected.flows, external.flows);
    assert_eq!(expected.scheme, external.scheme, "the scheme's counters");
    assert!(expected.totals.packet_hops > 100_000);
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles a library of some C in a folder.
fn compile(c: &Path, folder: &Path, name: &str) -> PathBuf {
    require_program("cc", "gcc");
    let schemes = manifest().join("../../schemes");
    let library = folder.join(name);
    let done = Command::new("cc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(schemes.join("abi/include"))
        .arg("-I")
        .arg(schemes.join("example/c"))
        .arg("-o")
        .args([&library, c])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

fn example_in_c(name: &str, folder: &Path) {
    let c = manifest().join("../../schemes/example/c").join(format!("{name}.c"));
    compile(&c, folder, &format!("lib{name}.so"));
}

/// A scheme whose parts a test replaces in a text of C.
fn scheme_in_c(folder: &Path, changes: &[(&str, &str)], name: &str) {
    let ecmp = manifest().join("../../schemes/example/c/ecmp.c");
    let mut text = fs::read_to_string(ecmp).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let c = folder.join(format!("{name}.c"));
    fs::write(&c, text).unwrap();
    compile(&c, folder, &format!("lib{name}.so"));
}

fn library(name: &str) -> String {
    format!("{{ kind = \"external\", library = \"lib{name}.so\" }}")
}

#[test]
fn ecmp_in_c_has_the_runs_of_ecmp() {
    let folder = TempDir::new().unwrap();
    example_in_c("ecmp", folder.path());
    assert_same("ecmp", &library("ecmp"), folder.path());
}

#[test]
fn hula_in_c_has_the_runs_of_hula_also_with_parameters() {
    let folder = TempDir::new().unwrap();
    example_in_c("hula", folder.path());
    assert_same("hula", &library("hula"), folder.path());
    assert_same(
        r#"{ kind = "hula", flowlet_gap = "50us", flowlet_slots = 300, probe_period = "100us" }"#,
        r#"{ kind = "external", library = "libhula.so", parameters = { flowlet_gap = "50us", flowlet_slots = 300, probe_period = "100us" } }"#,
        folder.path(),
    );
}

/// The example crate's library, which cargo builds beside this test.
fn example_in_rust() -> PathBuf {
    let beside = std::env::current_exe().unwrap();
    let name = libloading::library_filename("heddle_scheme_example");
    let library = beside.parent().unwrap().join(name);
    assert!(library.is_file(), "{}", library.display());
    library
}

#[test]
fn letitflow_in_another_crate_has_the_runs_of_letitflow() {
    let library = example_in_rust();
    let external = format!(
        "{{ kind = \"external\", library = \"{}\", parameters = {{ flowlet_gap = \"200us\" }} }}",
        library.display()
    );
    assert_same(r#"{ kind = "letitflow", flowlet_gap = "200us" }"#, &external, Path::new(""));
}

#[test]
fn a_library_of_another_version_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    scheme_in_c(folder.path(), &[("HEDDLE_SCHEME_ABI,", "7,")], "old");
    let error = scenario(&library("old"), folder.path()).unwrap_err();
    assert_eq!(error.key(), "scheme.library");
    let said = error.message();
    assert!(said.contains("`ecmp-in-c` is built for version 7"), "{said}");
    assert!(said.contains("this program has version 1"), "{said}");
}

#[test]
fn what_is_no_scheme_is_refused_with_its_path() {
    let folder = TempDir::new().unwrap();
    let refused = |name: &str| {
        let error = scenario(&library(name), folder.path()).unwrap_err();
        assert_eq!(error.key(), "scheme.library");
        error.message().to_owned()
    };
    assert!(refused("none").contains("libnone.so"), "a missing file");
    fs::write(folder.path().join("libtext.so"), "no library").unwrap();
    assert!(refused("text").contains("libtext.so"));
    scheme_in_c(
        folder.path(),
        &[("*heddle_scheme(void)\n{", "*other(void);\nconst struct heddle_scheme *other(void)\n{")],
        "other",
    );
    assert!(refused("other").contains("it exports no function `heddle_scheme`"));
    scheme_in_c(
        folder.path(),
        &[
            ("\t.forward = forward,\n", ""),
            (
                "static uint16_t forward",
                "uint16_t forward(void *, const struct heddle_step *, struct heddle_packet *, const uint16_t *, size_t, const struct heddle_ports *);\nuint16_t forward",
            ),
        ],
        "empty",
    );
    assert!(refused("empty").contains("has no function `forward`"));
}

#[test]
fn a_parameter_that_a_library_does_not_have_is_refused() {
    let folder = TempDir::new().unwrap();
    example_in_c("ecmp", folder.path());
    example_in_c("hula", folder.path());
    let with = |name: &str, parameters: &str| {
        let library = format!("lib{name}.so");
        let scheme = format!(
            "{{ kind = \"external\", library = \"{library}\", parameters = {{ {parameters} }} }}"
        );
        let error = scenario(&scheme, folder.path()).unwrap_err();
        (error.key().to_owned(), error.message().to_owned())
    };
    let (key, said) = with("ecmp", "gap = 1");
    assert_eq!(key, "scheme.parameters");
    assert_eq!(said, "no parameter is called `gap`: it has none");
    assert_eq!(with("hula", "gap = 1").1, "no parameter is called `gap`");
    assert_eq!(with("hula", "flowlet_slots = 0").1, "1 to 16777216 is wanted for `flowlet_slots`");
    let (key, said) = with("hula", "flowlet_gap = \"long\"");
    assert_eq!(
        (key.as_str(), said.as_str()),
        ("scheme.parameters.flowlet_gap", "\"long\" is no quantity")
    );
}

#[test]
fn a_step_that_cannot_be_used_ends_the_run() {
    let folder = TempDir::new().unwrap();
    scheme_in_c(
        folder.path(),
        &[(
            "return next_hops[pick(mix(packet->flow_hash, *salt), count)];",
            "(void)packet; (void)next_hops; (void)count; (void)salt; return 999;",
        )],
        "wrong",
    );
    let scenario = scenario(&library("wrong"), folder.path()).unwrap();
    let error = external::simulate(&scenario, 1, &mut |_| Next::Continue).unwrap_err();
    assert!(error.to_string().contains("`forward` returned port 999"), "{error}");
}

/// Environment variable with the library that a test's second process runs.
const CRASHING: &str = "HEDDLE_TEST_CRASHING_LIBRARY";

/// The process ends by the signal, as it would without a word.
#[cfg(unix)]
#[test]
fn a_library_that_crashes_is_named() {
    use std::os::unix::process::ExitStatusExt as _;

    if let Some(name) = std::env::var_os(CRASHING) {
        run(&library(name.to_str().unwrap()), &std::env::current_dir().unwrap());
        return;
    }
    let folder = TempDir::new().unwrap();
    // What malloc gives is a multiple of 16.
    let reads = ("salt = state;", "salt = (const uint32_t *)((uintptr_t)state & 8);");
    let aborts = ("(void)step;", "(void)step;\n\tif (count)\n\t\tabort();");
    for (name, change, signal) in
        [("reads", reads, libc::SIGSEGV), ("aborts", aborts, libc::SIGABRT)]
    {
        scheme_in_c(folder.path(), &[change], name);
        let ran = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_library_that_crashes_is_named", "--nocapture"])
            .env(CRASHING, name)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(ran.status.signal(), Some(signal));
        let said = String::from_utf8_lossy(&ran.stderr);
        let line = format!("lib{name}.so: the scheme's library has crashed\nhelp: ");
        assert!(said.contains(&line), "{said}");
    }
}

#[test]
fn the_stores_key_follows_the_librarys_bytes_and_not_its_place() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    example_in_c("ecmp", first.path());
    fs::copy(first.path().join("libecmp.so"), second.path().join("libecmp.so")).unwrap();
    let cell = |folder: &Path| Cell {
        label: String::new(),
        scenario: scenario(&library("ecmp"), folder).unwrap(),
        seed: 3,
    };
    let runs = TempDir::new().unwrap();
    let store = Store::open(runs.path()).unwrap();
    let kept = cell(first.path());
    let outcome = external::simulate(&kept.scenario, 3, &mut |_| Next::Continue).unwrap();
    store.save(&kept, &RunSummary::new(&kept.scenario, 3, &outcome, 0.0)).unwrap();
    assert!(store.load(&cell(second.path())).unwrap().is_some(), "the same library elsewhere");

    // The same path with other code, in the same process: another scheme, another key.
    scheme_in_c(
        first.path(),
        &[(
            "return next_hops[pick(mix(packet->flow_hash, *salt), count)];",
            "(void)packet; (void)salt; return next_hops[count - 1];",
        )],
        "ecmp",
    );
    let changed = cell(first.path());
    assert!(store.load(&changed).unwrap().is_none());
    let other = external::simulate(&changed.scenario, 3, &mut |_| Next::Continue).unwrap();
    assert_ne!(outcome.digest, other.digest, "the new code runs");
}

#[test]
fn a_program_that_loads_no_schemes_says_so() {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let source = Source::new("a.toml", SCENARIO).with("scheme", library("any"));
    let error = load(&source, &no_files).unwrap_err();
    assert!(error.message().contains("this program loads no schemes"), "{error}");
    assert!(no_files.scheme("any", &Default::default()).is_err());
}
