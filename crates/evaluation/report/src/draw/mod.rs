//! Drawing: models in, SVG text out, for the page or as a file.

mod axes;
mod fabric;
mod ink;
mod layout;
mod legend;
mod marks;
mod notes;
mod plot;
mod svg;
mod text;

pub use ink::Colours;

pub(crate) use fabric::{draw_fabric, levels};
pub(crate) use ink::{Ink, LOAD_STEPS, Medium, css_variables};
pub(crate) use layout::Size;
pub(crate) use plot::{View, draw_plot, slug};
pub(crate) use svg::escape;

use crate::model::{Plot, Report};

impl Plot {
    /// The plot as a standalone SVG file for print: light, with its title, complete without styles or scripts.
    /// Colours follow the order of its series; see [`Plot::to_svg_with`] for those of a report.
    pub fn to_svg(&self) -> String {
        self.to_svg_with(&Colours::of(self.series.iter().map(|s| s.key())))
    }

    /// As [`Plot::to_svg`], with colours shared with other plots.
    pub fn to_svg_with(&self, colours: &Colours) -> String {
        let view =
            View { scale: self.y.scale, size: Size::Paper, medium: Medium::File, id: &self.id };
        draw_plot(self, colours, &view)
    }
}

impl Report {
    /// The colours of all series, by order of first appearance.
    pub fn colours(&self) -> Colours {
        let plots = self.plots();
        Colours::of(plots.iter().flat_map(|plot| &plot.series).map(|series| series.key()))
    }

    /// Every plot as a standalone SVG file, with its id, in the colours of the report.
    pub fn svgs(&self) -> Vec<(String, String)> {
        let colours = self.colours();
        self.plots().iter().map(|p| (p.id.clone(), p.to_svg_with(&colours))).collect()
    }
}
