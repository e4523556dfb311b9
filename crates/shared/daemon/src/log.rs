//! The daemon's log on standard error, whose failures do not matter: with a full disk under it
//! lines are lost, and packets are not.

use std::io::{self, Write};

use tracing_subscriber::filter::LevelFilter;

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the log of this process. Called once.
pub fn start(format: Format, level: LevelFilter) {
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(|| Lossy(io::stderr()));
    match format {
        Format::Text => lines.with_target(false).init(),
        Format::Json => lines.json().init(),
    }
}

/// Writes a line to standard error, if that takes it.
pub fn line(text: &str) {
    let _ = Lossy(io::stderr()).write_all(format!("{text}\n").as_bytes());
}

/// A writer that loses what cannot be written, and says that it was.
#[derive(Debug)]
struct Lossy<W>(W);

impl<W: Write> Write for Lossy<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.0.write(bytes).unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that takes a few bytes more.
    struct NearlyFull(usize);

    impl Write for NearlyFull {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes.len().min(std::mem::take(&mut self.0)) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                written => Ok(written),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn what_cannot_be_written_is_lost_without_an_error() {
        let mut log = Lossy(NearlyFull(4));
        log.write_all(b"a line").unwrap();
        log.write_all(b"another").unwrap();
        log.flush().unwrap();
    }
}
