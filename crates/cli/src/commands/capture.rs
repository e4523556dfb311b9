//! The spread of a capture's flows over next hops: an addition of `heddle reproduce cflb --pcap` to
//! the claims.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use heddle_driver::{Appendix, write_json};
use heddle_papers::cflb::experiments::Routers;
use heddle_papers::cflb::figures::spread_section;
use heddle_papers::cflb::pcap::{Capture, CaptureError};
use heddle_papers::cflb::spread::{Deviations, Spread, spread};
use heddle_report::Section;
use serde::Serialize;

use crate::failure::Failure;
use crate::{output, table};

/// The spread of a capture's flows.
#[derive(Serialize)]
pub(crate) struct Spreading {
    /// The file's name.
    file: String,
    /// A summary of the file's contents.
    holds: String,
    /// Each row of routers, by each chooser.
    routers: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    #[serde(skip)]
    routers: Routers,
    title: &'static str,
    spreads: Vec<Spread>,
}

/// The figures and their titles.
const ROWS: [(Routers, &str); 3] = [
    (Routers::One, "one router, 2 next hops"),
    (Routers::FourInARow, "four routers in a row, 2 next hops each"),
    (Routers::OneOfFour, "one router, 4 next hops"),
];

impl Spreading {
    /// Reads a capture, once for each row of routers.
    pub(crate) fn of(path: &Path) -> Result<Spreading, Failure> {
        let (mut holds, mut routers) = (String::new(), Vec::new());
        for (row, title) in ROWS {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let read = |file| -> anyhow::Result<_> {
                let mut capture = Capture::new(file)?;
                let mut cut = "";
                // A capture that was stopped in the middle of a frame is good up to there.
                let packets = std::iter::from_fn(|| match capture.next() {
                    Some(Err(CaptureError::Truncated { .. })) => {
                        cut = "; it ends in the middle of a frame";
                        None
                    }
                    packet => packet,
                });
                let spreads = spread(packets, &row.choosers(), &row.plan())?;
                Ok((format!("{}{cut}", capture.tally()), spreads))
            };
            let (tally, spreads) =
                read(file).with_context(|| format!("cannot read {}", path.display()))?;
            holds = tally;
            routers.push(Row { routers: row, title, spreads });
        }
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Spreading { file, holds, routers })
    }
}

impl Appendix for Spreading {
    /// A section of a report for each row of routers.
    fn sections(&self) -> Vec<Section> {
        let section = |row: &Row| spread_section(&self.file, row.routers, &row.spreads);
        self.routers.iter().map(section).collect()
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        write_json(&folder.join("capture.json"), self)
    }

    /// A table for each row of routers.
    fn print(&self) -> Result<(), Failure> {
        output::line(format_args!("\n{}: {}", self.file, self.holds))?;
        for row in &self.routers {
            let header = ["chooser", "mean deviation", "largest", "chi-square of flows", "p"];
            let mut table = table::new(&header);
            for spread in &row.spreads {
                table.add_row(cells(row.routers, spread));
            }
            output::line(format_args!("\n{}\n{table}", row.title))?;
        }
        Ok(())
    }
}

fn cells(routers: Routers, spread: &Spread) -> Vec<String> {
    let Deviations { mean, max, .. } = match routers {
        Routers::FourInARow => &spread.paths,
        Routers::One | Routers::OneOfFour => &spread.links,
    };
    let flows = &spread.flows;
    vec![
        spread.chooser.clone(),
        format!("{mean:.2} points"),
        format!("{max:.2} points"),
        format!("{:.1} of {}", flows.statistic, flows.degrees),
        format!("{:.3}", flows.p_value),
    ]
}
