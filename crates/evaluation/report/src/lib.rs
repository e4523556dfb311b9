//! Reports for people who judge plots: a document model in, one self-contained HTML file out.
//!
//! [`Report::to_html`] writes a page that loads nothing (a content security policy forbids it) and
//! is complete without scripts: every plot is drawn here, as SVG. The embedded script only adds
//! to it: values under the pointer, series that hide and show, linear and logarithmic axes,
//! downloads, and utilisation maps that play over time.
//! [`Plot::to_svg`] and [`Report::svgs`] write the same plots as standalone files for papers.
//!
//! Promises: the same model gives the same bytes; all text is escaped; points that cannot be drawn
//! (NaN, infinite, not positive on a logarithmic axis) are left out, and a plot without points says
//! "no data"; nothing panics. A name has one colour and one marker in the whole report,
//! chosen so that they stay apart for colour-blind readers.
//!
//! ```
//! use heddle_report::{Axis, Plot, Report, Section, Series, Unit};
//!
//! let load = Axis::new("Load", Unit::plain("%"));
//! let fct = Axis::new("Mean flow completion time", Unit::si("s"));
//! let plot = Plot::new("fct", "Mean FCT by load", load, fct)
//!     .series(Series::line("ECMP", [(30.0, 0.004), (60.0, 0.011)]))
//!     .series(Series::line("HULA", [(30.0, 0.003), (60.0, 0.005)]));
//! let report = Report::new("A study").section(Section::new("fct", "FCT").block(plot));
//! assert!(report.to_html().starts_with("<!doctype html>"));
//! ```

mod axis;
mod draw;
mod model;
mod page;
#[cfg(feature = "png")]
mod png;

pub use draw::{Colours, page_colours};
pub use model::{
    Annotation, Axis, Block, Cell, FabricMap, HeatMap, HeatRow, Link, Mark, Node, Plot, Point,
    Report, Run, Scale, Section, Series, Status, Style, Table, Unit,
};
#[cfg(feature = "png")]
pub use png::PngError;
