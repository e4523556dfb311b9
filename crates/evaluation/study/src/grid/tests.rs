use heddle_claims::Unattended;

use super::*;
use crate::testing::cell;

/// A monitor that stops as a function of the progress says.
struct Until<F> {
    stop: F,
    stopped: AtomicBool,
}

fn until<F: Fn(Progress<'_>) -> bool + Sync>(stop: F) -> Until<F> {
    Until { stop, stopped: AtomicBool::new(false) }
}

impl<F: Fn(Progress<'_>) -> bool + Sync> Monitor for Until<F> {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn progress(&self, progress: Progress<'_>) {
        self.stopped.fetch_or((self.stop)(progress), Ordering::Relaxed);
    }
}

/// Runs a grid on some threads.
fn on(
    threads: usize,
    cells: &[Cell],
    store: &Store,
    monitor: &dyn Monitor,
) -> Result<Vec<RunSummary>, GridError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run(cells, store, Keep::Summaries, monitor))
}

fn digests(runs: &[RunSummary]) -> Vec<(u64, &str)> {
    runs.iter().map(|run| (run.seed, run.digest.as_str())).collect()
}

fn four() -> Vec<Cell> {
    (1..=4).map(|seed| cell(seed, &[])).collect()
}

fn kept(cells: &[Cell], store: &Store) -> Vec<bool> {
    cells.iter().map(|cell| store.load(cell).unwrap().is_some()).collect()
}

#[test]
fn results_are_in_the_cells_order_at_any_number_of_threads() {
    // The first cell takes longest, so that it ends last where there are threads for all.
    let mut cells = four();
    cells[0] = cell(1, &[("measure.flows", "2000")]);
    let runs_on = |threads| {
        let folder = tempfile::tempdir().unwrap();
        on(threads, &cells, &Store::open(folder.path()).unwrap(), &Unattended).unwrap()
    };
    let one = runs_on(1);
    assert_eq!(one.iter().map(|run| run.seed).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(digests(&runs_on(2)), digests(&one));
    assert_eq!(digests(&runs_on(4)), digests(&one));
}

/// One thread: cells 0 and 1 end, cell 2 is stopped, cell 3 never begins.
#[test]
fn a_stop_keeps_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let cells = four();
    let stop = until(|at| at.run == 2);
    let error = on(1, &cells, &store, &stop).unwrap_err();
    assert!(matches!(error, GridError::Interrupted { done: 2, cells: 4 }), "{error}");
    assert_eq!(error.to_string(), "interrupted: 2 of 4 runs are done and kept");
    assert_eq!(kept(&cells, &store), [true, true, false, false]);
}

/// A kept result is marked by hand; the grid gives it back as it is and computes the others.
#[test]
fn what_is_kept_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let cells = four();
    let whole = on(2, &cells, &store, &Unattended).unwrap();
    let marked = RunSummary { scheme: "kept".into(), ..whole[1].clone() };
    store.save(&cells[1], &marked).unwrap();
    let again = on(2, &cells, &store, &Unattended).unwrap();
    assert_eq!(again[1].scheme, "kept");
    assert_eq!((&again[0], &again[2..]), (&whole[0], &whole[2..]));
}

/// A stop while the results of an earlier run are read ends with the first run that has to be
/// computed.
#[test]
fn a_stop_among_kept_results() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let cells = four();
    on(1, &cells[..2], &store, &Unattended).unwrap();
    let error = on(1, &cells, &store, &until(|_| true)).unwrap_err();
    assert!(matches!(error, GridError::Interrupted { done: 2, cells: 4 }), "{error}");
    assert_eq!(kept(&cells, &store), [true, true, false, false]);
}

#[test]
fn progress_ends_with_every_cell_done() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = until(|at| {
        assert!((0.0..=1.0).contains(&at.part) && at.runs == 4);
        seen.lock().unwrap().push((at.done, at.label.to_owned()));
        false
    });
    on(1, &four(), &store, &watch).unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.last(), Some(&(4, "seed 4".to_owned())));
    assert!(seen.is_sorted_by_key(|(done, _)| *done));
}

#[test]
fn no_cells_no_results() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(run(&[], &store, Keep::Summaries, &until(|_| true)).unwrap(), []);
}
