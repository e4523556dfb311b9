//! Completion times of the public uet-htsim: recorded ones, or those of a program that the
//! environment names.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, io};

use heddle_study::paper::EvaluationError;

use super::alone::{Timed, over_alone};
use super::cells::{Cell, HOSTS, Links, Pair};
use super::measured::Ratios;

/// The variable that names uet-htsim's program `htsim_uec`.
const PROGRAM: &str = "HTSIM";

/// Recorded figures: `results/uet-medium` has the command and the version.
const RECORDED: &str = include_str!("reference.csv");

/// Recorded seeds, from 1 on.
pub(super) const SEEDS: usize = 3;

/// Completion times of a cell's flows over those of flows alone.
///
/// # Errors
/// If nothing is recorded of it, or the program fails.
pub(super) fn ratios(cell: Cell, seed: u64) -> Result<Ratios, EvaluationError> {
    match env::var_os(PROGRAM) {
        Some(program) => {
            let folder = Folder::new(&program, cell, seed)?;
            Ratios::of(&run(&program, &folder, cell, seed)?).ok_or_else(|| failed("no flows"))
        }
        None => recorded(cell, seed)
            .ok_or_else(|| failed(format!("nothing is recorded of {}", cell.label(seed)))),
    }
}

fn failed(message: impl Into<String>) -> EvaluationError {
    EvaluationError::Reference(message.into())
}

fn recorded(cell: Cell, seed: u64) -> Option<Ratios> {
    let prefix = format!("{},{},{seed},", cell.place.id, cell.selection.name);
    let (mean, worst) =
        RECORDED.lines().find_map(|line| line.strip_prefix(&prefix))?.split_once(',')?;
    Some(Ratios { mean: mean.parse().ok()?, worst: worst.parse().ok()? })
}

/// A folder for the program's files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    /// One for each run: several may go on at once.
    fn new(program: &OsStr, cell: Cell, seed: u64) -> Result<Folder, EvaluationError> {
        let Cell { place, selection } = cell;
        let name =
            format!("heddle-htsim-{}-{}-{}-{seed}", std::process::id(), place.id, selection.name);
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).map_err(|error| unusable(program, &error))?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unusable(program: &OsStr, error: &io::Error) -> EvaluationError {
    let program = program.display();
    failed(format!(
        "{PROGRAM}={program}: {error}\nhelp: the path of uet-htsim's program htsim_uec, or no {PROGRAM} for recorded figures"
    ))
}

/// The ratio of each flow.
fn run(
    program: &OsStr,
    folder: &Folder,
    cell: Cell,
    seed: u64,
) -> Result<Vec<f64>, EvaluationError> {
    over_alone(cell, seed, |pairs, links| {
        let matrix = matrix(pairs, cell.place.bytes());
        fs::write(folder.0.join("matrix.cm"), matrix).map_err(|error| unusable(program, &error))?;
        let output = Command::new(program)
            .current_dir(&folder.0)
            .args(arguments(cell, links, seed))
            .output()
            .map_err(|error| unusable(program, &error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let times: Vec<Timed> = said.lines().filter_map(finished).collect();
        match times.len() == pairs.len() {
            true => Ok(times),
            false => Err(failed(unfinished(cell, seed, times.len(), pairs.len(), &said))),
        }
    })
}

fn unfinished(cell: Cell, seed: u64, finished: usize, all: usize, said: &str) -> String {
    let label = cell.label(seed);
    if said.contains("Unknown parameter -dead") {
        return format!(
            "{label}: the public uet-htsim has no links that die\nhelp: leave out {PROGRAM} for recorded figures, or judge other claims, as in `heddle reproduce uet U1 U2`"
        );
    }
    format!("{label}: {finished} of {all} flows finished in uet-htsim\nhelp: run it by hand")
}

/// A connection matrix. All start at 0: the program multiplies other times by a million.
fn matrix(pairs: &[Pair], bytes: u32) -> String {
    let rows = pairs.iter().enumerate();
    let rows = rows
        .map(|(index, (from, to))| format!("{from}->{to} id {} start 0 size {bytes}\n", index + 1));
    format!("Nodes {HOSTS}\nConnections {}\n", pairs.len()) + &rows.collect::<String>()
}

fn arguments(cell: Cell, links: Links, seed: u64) -> Vec<String> {
    let [algorithm, paths] = cell.selection.htsim;
    let fixed = "-tm matrix.cm -tiers 3 -linkspeed 100000 -hop_latency 1 -end 100000";
    let control = cell.place.control.htsim();
    // An acknowledgement is sent for so many bytes, which payloads of 4 KB exceed in turn.
    let acknowledged = 4000 * cell.selection.packets_per_ack;
    let chosen = format!(
        "-seed {seed} -sack_threshold {acknowledged} -load_balancing_algo {algorithm} -paths {paths}"
    );
    let links = match links {
        Links::Healthy => String::new(),
        Links::Slow => "-failed 1".to_owned(),
        Links::Dead(count) => format!("-dead {count}"),
    };
    [fixed, control, &chosen, &links]
        .iter()
        .flat_map(|part| part.split_whitespace())
        .map(str::to_owned)
        .collect()
}

/// The pair and the microseconds of a line such as `Flow Uec_0_13 flowId 1 uecSrc 0 finished at 176.2
/// total ..`.
fn finished(line: &str) -> Option<Timed> {
    let (flow, rest) = line.strip_prefix("Flow Uec_")?.split_once(" finished at ")?;
    let (from, to) = flow.split_whitespace().next()?.split_once('_')?;
    let micros = rest.split_whitespace().next()?.parse().ok()?;
    Some(Timed { pair: (from.parse().ok()?, to.parse().ok()?), micros })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use heddle_claims::Effort;
    use heddle_study::paper::Experiment as _;

    use super::*;
    use crate::uet::cells::{PLACES, SELECTIONS};

    #[test]
    fn every_compared_cell_is_recorded() {
        for place in PLACES {
            for selection in &SELECTIONS[place.first_selection()..] {
                let cell = Cell { place, selection };
                for &seed in cell.seeds(Effort::Medium) {
                    let Ratios { mean, worst } = recorded(cell, seed)
                        .unwrap_or_else(|| panic!("{} is missing", cell.label(seed)));
                    assert!(1.0 <= mean && mean <= worst, "{}", cell.label(seed));
                }
            }
        }
    }

    #[test]
    fn a_flow_that_finished_is_read_from_its_line() {
        let line = "Flow Uec_0_13 flowId 1000000001 uecSrc 0 finished at 176.2 total messages 1";
        assert_eq!(finished(line), Some(Timed { pair: (0, 13), micros: 176.2 }));
        assert_eq!(finished("Flow Uec_0_13 flowId 1000000001 uecSrc 0 starting at 0"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_run_with_the_pairs_or_named() {
        use std::os::unix::fs::PermissionsExt as _;
        let cell = Cell { place: &PLACES[4], selection: &SELECTIONS[0] };
        let missing = OsString::from("/no/such/program");
        let folder = Folder::new(&missing, cell, 1).unwrap();
        let said = run(&missing, &folder, cell, 1).unwrap_err().to_string();
        assert!(
            said.starts_with("HTSIM=/no/such/program: ") && said.contains("htsim_uec"),
            "{said}"
        );
        // From the first host flows take 100 us, from others 150 us.
        let line = r"Flow Uec_\1_\2 flowId 1 uecSrc 0 finished at 150.0 total";
        let script = format!(
            "#!/bin/sh\nsed -n 's/^\\([0-9]*\\)->\\([0-9]*\\) .*/{line}/p' matrix.cm | sed '/Uec_0_/s/150/100/'\n"
        );
        let program = folder.0.join("program");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let found = run(&program.into_os_string(), &folder, cell, 1).unwrap();
        assert_eq!(found, [1.5; 8], "host 0 sends nothing under seed 1");
        fs::write(folder.0.join("program"), "#!/bin/sh\necho Unknown parameter -dead\n").unwrap();
        let program = folder.0.join("program").into_os_string();
        let said = run(&program, &folder, cell, 1).unwrap_err().to_string();
        assert!(said.contains("no links that die"), "{said}");
    }

    #[test]
    fn options_of_the_program() {
        let cell = Cell { place: &PLACES[1], selection: &SELECTIONS[4] };
        let words = arguments(cell, cell.place.links, 3).join(" ");
        let expected =
            "-seed 3 -sack_threshold 16000 -load_balancing_algo reps -paths 128 -failed 1";
        assert!(words.ends_with(expected), "{words}");
        let first = matrix(&[(5, 7)], 2_000_000);
        assert_eq!(first, "Nodes 128\nConnections 1\n5->7 id 1 start 0 size 2000000\n");
    }
}
