//! Layout of a plot: title, legend, frame, labels.

use super::text;
use crate::axis::{AxisText, Mapping, Span, Ticks, axis_text, ticks, x_span, y_axis};
use crate::model::{Plot, Scale};

/// The size of all text but the title, in pixels.
pub(crate) const FONT: f64 = 12.0;
/// The size of the title.
pub(crate) const TITLE_FONT: f64 = 14.0;
/// Length of the line sample in the legend, and from its start to the name.
pub(crate) const SAMPLE: (f64, f64) = (24.0, 30.0);
/// Height of a line of the legend.
pub(crate) const LEGEND_LINE: f64 = 20.0;

/// Room for names over their estimated width: readers' fonts may be wider than Helvetica.
pub(crate) const WIDER: f64 = 1.15;
/// Width of bold text over that of plain text.
const BOLD: f64 = 1.1;
const TITLE_LINE: f64 = 19.0;
const LEGEND_GAP: f64 = 18.0;
/// Below the frame: tick labels and the title of the x axis.
const FOOT: f64 = 42.0;

/// For what a plot is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The full width of the page.
    Wide,
    /// A phone, or half the page.
    Narrow,
    /// A file for a paper or slides.
    Paper,
}

/// The rectangle that the data lies in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// One axis, ready to draw.
pub(crate) struct AxisLayout {
    pub map: Mapping,
    pub ticks: Ticks,
    pub text: AxisText,
}

/// Everything but the ink.
pub(crate) struct Layout {
    pub width: f64,
    pub height: f64,
    pub frame: Frame,
    pub x: AxisLayout,
    pub y: AxisLayout,
    /// The lines of the title, which stand above y = 0.
    pub title: Vec<String>,
    /// The height above y = 0 that the title takes.
    pub head: f64,
    /// Entries of the legend, in the order of the series.
    pub legend: Vec<LegendEntry>,
}

/// An entry of the legend and its place.
pub(crate) struct LegendEntry {
    pub name: String,
    pub left: f64,
    pub middle: f64,
}

impl Size {
    /// The name that the page's styles and script use.
    pub fn name(self) -> &'static str {
        match self {
            Size::Wide => "wide",
            Size::Narrow => "narrow",
            Size::Paper => "paper",
        }
    }

    /// Width of the whole and height of the frame, in pixels.
    fn pixels(self) -> (f64, f64) {
        match self {
            Size::Wide => (860.0, 320.0),
            Size::Narrow => (430.0, 240.0),
            Size::Paper => (600.0, 280.0),
        }
    }
}

impl Layout {
    pub fn new(plot: &Plot, y_scale: Scale, size: Size) -> Layout {
        let (width, frame_height) = size.pixels();
        let (y_values, y_ticks) = y_axis(plot, y_scale);
        let mut y_text = axis_text(&plot.y, y_scale, &y_ticks.major);
        y_text.labels.iter_mut().for_each(|label| *label = text::fit(label, FONT, width / 4.0));
        let left = 28.0 + widest(&y_text.labels) + 10.0;
        let right = width - 18.0;

        let legend = legend(plot, left, right);
        let rows = legend.last().map_or(0.0, |entry| entry.middle + LEGEND_LINE / 2.0);
        let top = rows + 10.0;
        let frame = Frame { left, right, top, bottom: top + frame_height };
        let title = text::wrap(&plot.title, TITLE_FONT * BOLD, width - 8.0);
        let y_map =
            Mapping { scale: y_scale, values: y_values, positions: (frame.bottom, frame.top) };
        Layout {
            width,
            height: frame.bottom + FOOT,
            frame,
            x: x_axis(plot, x_span(plot), (left, right)),
            y: AxisLayout { map: y_map, ticks: y_ticks, text: y_text },
            head: title.len() as f64 * TITLE_LINE + 6.0,
            title,
            legend,
        }
    }

    /// The baseline of a line of the title.
    pub fn title_baseline(&self, line: usize) -> f64 {
        (line + 1) as f64 * TITLE_LINE - 4.0 - self.head
    }
}

/// The x axis with as many labels as fit side by side.
fn x_axis(plot: &Plot, values: Span, positions: (f64, f64)) -> AxisLayout {
    let width = positions.1 - positions.0;
    let with_room = |room| {
        let ticks = ticks(plot.x.scale, values, room);
        let text = axis_text(&plot.x, plot.x.scale, &ticks.major);
        let fits = (widest(&text.labels) + 14.0) * text.labels.len() as f64 <= width + 14.0;
        (fits, ticks, text)
    };
    let most = (width / 80.0).max(8.0) as usize;
    let found = (2..=most).rev().map(with_room).find(|(fits, _, _)| *fits);
    let (_, ticks, text) = found.unwrap_or_else(|| with_room(1));
    let map = Mapping { scale: plot.x.scale, values, positions };
    AxisLayout { map, ticks, text }
}

/// Legend entries from left to right in as many rows as they take.
fn legend(plot: &Plot, left: f64, right: f64) -> Vec<LegendEntry> {
    let (mut x, mut y) = (left, LEGEND_LINE / 2.0);
    let mut entries = Vec::new();
    for series in &plot.series {
        let name = text::fit(&series.name, FONT, (right - left - SAMPLE.1) / WIDER);
        let width = SAMPLE.1 + WIDER * text::width(&name, FONT);
        if x > left && x + width > right {
            (x, y) = (left, y + LEGEND_LINE);
        }
        entries.push(LegendEntry { name, left: x, middle: y });
        x += width + LEGEND_GAP;
    }
    entries
}

fn widest(labels: &[String]) -> f64 {
    labels.iter().map(|label| text::width(label, FONT)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Axis, Series, Unit};

    fn plot(names: &[&str]) -> Plot {
        let x = Axis::new("Flow size", Unit::si("B")).log();
        let y = Axis::new("Share", Unit::None);
        let ends = [(1e2, 0.0), (1e9, 1.0)];
        let empty = Plot::new("p", "A title", x, y);
        names.iter().fold(empty, |plot, &name| plot.series(Series::line(name, ends)))
    }

    #[test]
    fn legend_rows_break_where_the_width_ends() {
        let names = ["TCP over ECMP", "TCP over HULA", "MPTCP over ECMP", "MPTCP over MP-HULA"];
        let rows = |size| {
            let layout = Layout::new(&plot(&names), Scale::Linear, size);
            layout.legend.iter().map(|entry| entry.middle as i32 / 20).collect::<Vec<_>>()
        };
        assert_eq!(rows(Size::Wide), [0, 0, 0, 0]);
        assert_eq!(rows(Size::Narrow), [0, 0, 1, 1]);
    }

    #[test]
    fn labels_thin_out_when_the_axis_is_short() {
        let labels = |size| Layout::new(&plot(&["a"]), Scale::Linear, size).x.text.labels;
        let wide = ["100 B", "1 KB", "10 KB", "100 KB", "1 MB", "10 MB", "100 MB", "1 GB"];
        assert_eq!(labels(Size::Wide), wide);
        assert_eq!(labels(Size::Narrow), ["100 B", "10 KB", "1 MB", "100 MB"]);
    }
}
