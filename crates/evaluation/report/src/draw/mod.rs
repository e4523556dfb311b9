//! Drawing: models in, SVG text out, for the page or as a file.

mod axes;
mod fabric;
mod heat;
mod ink;
mod layout;
mod legend;
mod marks;
mod notes;
mod plot;
mod ramp;
mod svg;
mod text;

pub use ink::Colours;

pub(crate) use fabric::{draw_fabric, levels};
pub(crate) use heat::draw_heat;
pub(crate) use ink::{Ink, LOAD_STEPS, Medium, css_variables};
pub(crate) use layout::Size;
pub(crate) use plot::{View, draw_plot, slug};
pub(crate) use svg::escape;

use crate::model::{FabricMap, Plot, Report, Run};

impl Plot {
    /// The plot as a standalone SVG file for print: light, with its title, complete without styles
    /// or scripts. Colours follow the order of its series; see [`Plot::to_svg_with`] for those of a
    /// report.
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

impl FabricMap {
    /// A run's mean utilisation as SVG, to be placed in a page that colours it as time goes on. A
    /// direction of a link is a `line` whose `data-i` is twice the link, plus the direction; the
    /// text `.when` says of what time the colours are. Colours are the CSS variables of
    /// [`page_colours`].
    pub fn to_page_svg(&self, run: &Run) -> String {
        draw_fabric(self, run, &self.id)
    }
}

/// The CSS variables of drawings in pages, light and dark: `--page`, `--text`, `--muted`, `--axis`,
/// `--grid`, series from `--s0`, utilisation from `--u0` (idle) to `--u9` (full).
pub fn page_colours() -> (String, String) {
    css_variables()
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
