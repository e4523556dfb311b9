//! The corpus's files: blocks of lines, each a word and what it says.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// A block: its name, and its lines in order.
pub struct Block {
    pub name: String,
    lines: Vec<(String, String)>,
}

impl Block {
    /// The value of the line with this word; empty if there is none.
    pub fn get(&self, word: &str) -> &str {
        self.lines.iter().find(|(key, _)| key == word).map_or("", |(_, value)| value)
    }

    pub fn bytes(&self, word: &str) -> Vec<u8> {
        from_hex(self.get(word))
    }

    /// The lines in order, but for what the block shows.
    pub fn steps(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.lines.iter().map(|(word, value)| (word.as_str(), value.as_str()));
        pairs.filter(|(word, _)| *word != "shows")
    }
}

pub fn from_hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The end of a file's name.
const END: &str = ".txt.gz";
const STATES: &str = "states.txt.gz";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/balancer")
}

fn blocks(path: &Path) -> Vec<Block> {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let family = path.file_name().unwrap().to_str().unwrap().strip_suffix(END).unwrap();
    let block = |text: &str| {
        let mut lines = text.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
        let (_, name) = lines.next().unwrap();
        let lines = lines.map(|(word, value)| (word.to_owned(), value.to_owned())).collect();
        Block { name: format!("{family}/{name}"), lines }
    };
    text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).map(block).collect()
}

/// The events before a packet, by name.
pub fn states() -> Vec<Block> {
    blocks(&folder().join(STATES))
}

/// Every case of every family, in order.
pub fn cases() -> Vec<Block> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_family = |path: &PathBuf| {
        path.to_str().is_some_and(|path| path.ends_with(END)) && !path.ends_with(STATES)
    };
    let mut files: Vec<PathBuf> = files.filter(is_family).collect();
    files.sort();
    files.iter().flat_map(|path| blocks(path)).collect()
}
