//! Postcards, from the programs' ring buffer into a file.
//!
//! Lines are CSV, with a header: of files of several switches one can be made.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use heddle_bpf_loader::maps::Events;
use heddle_switch_maps::abi::Postcard;

use super::DaemonError;
use crate::config::{self, Config};

/// The time between two looks into the ring buffer, which has room for 300,000 postcards a second.
pub(super) const PERIOD: Duration = Duration::from_millis(50);

/// Bytes at which a file is full.
const MOST: u64 = 1 << 30;

const HEADER: &str = "time_ns,switch,packet,protocol,source,source_port,destination,destination_port,from,to,length,utilisation,queue_bytes";

/// A full scale of utilisation.
const FULL_UTIL: f64 = 65536.0;

/// The writer.
pub(super) struct Postcards {
    cards: Events<Postcard>,
    path: PathBuf,
    /// None once it is full, or an error has ended it.
    file: Option<BufWriter<File>>,
    bytes: u64,
    node: String,
    /// The neighbours' names, by port.
    peers: Vec<String>,
}

impl Postcards {
    /// A writer to the sample's file, behind what is there.
    pub(super) fn open(
        cards: Events<Postcard>,
        sample: &config::Postcards,
        config: &Config,
    ) -> Result<Postcards, DaemonError> {
        let path = sample.file.clone();
        let failed = |error| DaemonError::Postcards { path: path.clone(), error };
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let ports = config.ports.iter().map(|port| port.number).max().unwrap_or(0);
        let mut writer = Postcards {
            cards,
            path: path.clone(),
            file: Some(BufWriter::new(file)),
            bytes,
            node: config.node.clone(),
            peers: (0..=ports).map(|port| config.peer(port)).collect(),
        };
        if bytes == 0 {
            writer.append(HEADER).map_err(failed)?;
        }
        Ok(writer)
    }

    /// Writes what the ring buffer has. A failure ends the writing, and is logged.
    pub(super) fn write(&mut self) {
        if self.file.is_none() {
            return;
        }
        if let Err(error) = self.take_all() {
            let path = self.path.display();
            tracing::error!(%path, %error, "no more postcards are written");
            self.file = None;
        }
    }

    fn take_all(&mut self) -> io::Result<()> {
        while let Some(card) = self.cards.take_next().map_err(io::Error::other)? {
            if self.bytes >= MOST {
                return Err(io::Error::other(format!("the file has {MOST} bytes")));
            }
            self.append(&self.line(&card))?;
        }
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        self.bytes += line.len() as u64 + 1;
        self.file.as_mut().map_or(Ok(()), |file| writeln!(file, "{line}"))
    }

    fn line(&self, card: &Postcard) -> String {
        let Postcard { at, packet, protocol, source_port, destination_port, length, queue, .. } =
            *card;
        let address = |address: heddle_switch_maps::abi::Address| IpAddr::from(address);
        let peer = |port: u16| self.peers.get(usize::from(port)).map_or("", String::as_str);
        format!(
            "{at},{},{packet:08x},{protocol},{},{source_port},{},{destination_port},{},{},{length},{:.4},{queue}",
            self.node,
            address(card.source),
            address(card.destination),
            peer(card.from),
            peer(card.to),
            f64::from(card.util) / FULL_UTIL,
        )
    }
}
