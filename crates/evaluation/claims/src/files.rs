//! Files that are written whole or not at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use heddle_report::Report;

/// A file or folder that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub error: std::io::Error,
}

impl FileError {
    /// Adds the path to an I/O error.
    pub fn at(path: &Path) -> impl FnOnce(std::io::Error) -> FileError + '_ {
        move |error| FileError { path: path.to_owned(), error }
    }
}

/// Writes a file so that it is never seen half written, and leaves nothing else behind.
///
/// # Errors
/// Those of the file system.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let partial = partial(path);
    let written = fill(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The first error is the one to report; on a full disk it matters that this file goes.
        let _ = fs::remove_file(&partial);
    }
    written.map_err(FileError::at(path))
}

/// Makes a folder and those above it.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(FileError::at(folder))
}

/// Writes `report.html` into a folder, and each plot below `plots/` as a file of its own. Makes the
/// folders.
///
/// # Errors
/// The first file that cannot be written.
pub fn write_report(folder: &Path, report: &Report) -> Result<(), FileError> {
    let plots = folder.join("plots");
    make_folder(&plots)?;
    for (id, svg) in report.svgs() {
        write_atomically(&plots.join(format!("{id}.svg")), svg.as_bytes())?;
    }
    write_atomically(&folder.join("report.html"), report.to_html().as_bytes())
}

/// A name that no other writer has, in this process or another.
fn partial(path: &Path) -> PathBuf {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let (process, writer) = (std::process::id(), WRITERS.fetch_add(1, Ordering::Relaxed));
    path.with_extension(format!("{process}-{writer}.partial"))
}

fn fill(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        write_atomically(&file, b"a longer text").unwrap();
        write_atomically(&file, b"short").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"short");
        fs::create_dir_all(folder.path().join("b.json/in")).unwrap();
        assert!(write_atomically(&folder.path().join("b.json"), b"x").is_err());
        assert_eq!(names(folder.path()), ["a.json", "b.json"], "nothing half written stays");
        let missing = folder.path().join("nowhere/c.json");
        assert_eq!(write_atomically(&missing, b"x").unwrap_err().path, missing);
    }

    /// A grid may hold the same cell twice (`--over workload.load=0.4,0.40`), and two commands may
    /// share a folder.
    #[test]
    fn writers_of_one_file_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..20).for_each(|_| write_atomically(&file, b"whole").unwrap()));
            }
        });
        assert_eq!(fs::read(&file).unwrap(), b"whole");
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn a_report_is_a_page_and_its_plots() {
        use heddle_report::{Axis, Plot, Section, Unit};
        let axis = || Axis::new("x", Unit::None);
        let plot = Plot::new("fct", "FCT", axis(), axis());
        let report = Report::new("A report").section(Section::new("s", "S").block(plot));
        let folder = tempfile::tempdir().unwrap();
        write_report(&folder.path().join("out"), &report).unwrap();
        assert_eq!(names(&folder.path().join("out")), ["plots", "report.html"]);
        assert_eq!(names(&folder.path().join("out/plots")), ["fct.svg"]);
    }
}
