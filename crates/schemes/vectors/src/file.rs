//! Files of traces.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use crate::config::SwitchInfo;
use crate::counts::Counts;
use crate::input::{Input, hex_word};
use crate::output::Output;
use crate::schemes::Config;

/// The folder of the files.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/schemes");

/// A file of traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    /// The traces.
    pub traces: Vec<Trace>,
}

/// One switch and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The sentence that the trace shows.
    pub name: String,
    /// The origin of the decisions: a sentence of the paper, or how they were drawn.
    pub source: String,
    /// The switch.
    pub switch: SwitchInfo,
    /// The scheme and its parameters.
    pub config: Config,
    /// The steps.
    pub steps: Vec<TraceStep>,
    /// Counters after the last step, those that are 0 aside.
    #[serde(default)]
    pub counters: Counts,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// Time in nanoseconds.
    pub now: u64,
    /// Random bits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rnd: u32,
    /// The input.
    #[serde(rename = "in")]
    pub input: Input,
    /// The decision.
    #[serde(rename = "out")]
    pub output: Output,
    /// Digest of the state after the step, in hex.
    #[serde(default, with = "hex_word")]
    pub state: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(rnd: &u32) -> bool {
    *rnd == 0
}

/// Error of a file.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for FileError {}

impl VectorFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be read or has another format.
    pub fn read(path: &Path) -> Result<VectorFile, FileError> {
        let parse = || Ok(serde_json::from_str(&read_text(path)?)?);
        parse().map_err(|error| FileError { path: path.to_owned(), error })
    }

    /// Writes the file, unless its text is there already.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        if self.is_in(path) {
            return Ok(());
        }
        write_text(path, &self.text()).map_err(|error| FileError { path: path.to_owned(), error })
    }

    /// True if the file at `path` has this file's text.
    pub fn is_in(&self, path: &Path) -> bool {
        read_text(path).is_ok_and(|found| found == self.text())
    }

    /// All files of [`FOLDER`] with their names, in order of name.
    ///
    /// # Errors
    /// That of [`VectorFile::read`].
    pub fn all() -> Result<Vec<(String, VectorFile)>, FileError> {
        let folder = Path::new(FOLDER);
        let list = || -> io::Result<Vec<PathBuf>> {
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
        };
        let mut paths = list().map_err(|error| FileError { path: folder.to_owned(), error })?;
        let ends = |path: &Path, end| path.as_os_str().as_encoded_bytes().ends_with(end);
        paths.retain(|path| ends(path, b".json") || ends(path, b".json.gz"));
        paths.sort();
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.iter().map(|path| Ok((name(path), VectorFile::read(path)?))).collect()
    }

    /// The file's text: a line for each step.
    pub fn text(&self) -> String {
        let traces: Vec<String> = self.traces.iter().map(Trace::text).collect();
        format!("{{\n  \"traces\": [\n{}\n  ]\n}}\n", traces.join(",\n"))
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

fn read_text(path: &Path) -> io::Result<String> {
    if !is_compressed(path) {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let mut bytes = Vec::new();
    if is_compressed(path) {
        GzEncoder::new(text.as_bytes(), Compression::best()).read_to_end(&mut bytes)?;
    } else {
        bytes.extend_from_slice(text.as_bytes());
    }
    fs::write(path, bytes)
}

impl Trace {
    fn text(&self) -> String {
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("        {}", json(step))).collect();
        let field = |name: &str, value: String| format!("      \"{name}\": {value}");
        let fields = [
            field("name", json(&self.name)),
            field("source", json(&self.source)),
            field("switch", json(&self.switch)),
            field("config", json(&self.config)),
            field("steps", format!("[\n{}\n      ]", steps.join(",\n"))),
            field("counters", json(&self.counters)),
        ];
        format!("    {{\n{}\n    }}", fields.join(",\n"))
    }
}

/// JSON on one line, with spaces.
fn json(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut to = serde_json::Serializer::with_formatter(&mut text, Spaced);
    // Strings, numbers and structures of them are always JSON.
    let _ = value.serialize(&mut to);
    String::from_utf8_lossy(&text).into_owned()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}
