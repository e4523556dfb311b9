//! Contents of a report: plain data with constructors, no drawing.

mod fabric;
mod heat;
mod plot;
mod series;
mod table;

pub use fabric::{FabricMap, Link, Mark, Node, Run};
pub use heat::{HeatMap, HeatRow};
pub use plot::{Annotation, Axis, Plot, Scale, Unit};
pub use series::{Point, Series, Style};
pub use table::{Cell, Status, Table};

/// A whole document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The headline, also the title of the page.
    pub title: String,
    /// One line below the title; empty for none.
    pub subtitle: String,
    /// Facts about the study (seed, version, date), as label and value.
    pub meta: Vec<(String, String)>,
    /// Warnings that a reader needs before figures are compared, above the body.
    pub warnings: Vec<String>,
    /// The body, in order.
    pub sections: Vec<Section>,
    /// Seconds after which browsers load the page anew, as figures come; `None`: not at all.
    pub reload: Option<u32>,
}

/// A part of the report with a heading, listed in the table of contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The anchor: `[text](#id)` in any prose leads here.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The content, in order.
    pub blocks: Vec<Block>,
}

/// One piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Prose: paragraphs parted by blank lines, `**bold**`, `` `code` ``, `[text](#anchor)`.
    Text(String),
    /// Lines of a program or a file, as they are, below a heading that shows and hides them.
    Code {
        /// The heading.
        title: String,
        /// The lines.
        text: String,
    },
    /// A table.
    Table(Table),
    /// A plot.
    Plot(Plot),
    /// Utilisation of a network over time.
    FabricMap(FabricMap),
    /// Many values over time.
    HeatMap(HeatMap),
    /// Two blocks side by side; one below the other where the page is narrow.
    Pair(Box<Block>, Box<Block>),
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Report {
        Report { title: title.into(), ..Report::default() }
    }
    /// With a line below the title.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Report {
        self.subtitle = subtitle.into();
        self
    }
    /// With one more fact about the study.
    pub fn fact(mut self, label: impl Into<String>, value: impl Into<String>) -> Report {
        self.meta.push((label.into(), value.into()));
        self
    }
    /// With one more warning.
    pub fn warning(mut self, text: impl Into<String>) -> Report {
        self.warnings.push(text.into());
        self
    }
    /// With seconds after which browsers load the page anew.
    pub fn reload(mut self, seconds: u32) -> Report {
        self.reload = Some(seconds);
        self
    }
    /// With one more section.
    pub fn section(mut self, section: Section) -> Report {
        self.sections.push(section);
        self
    }
    /// Every plot, in reading order, those inside pairs included.
    pub fn plots(&self) -> Vec<&Plot> {
        let mut found = Vec::new();
        self.sections.iter().flat_map(|s| &s.blocks).for_each(|b| b.collect_plots(&mut found));
        found
    }
}

impl Section {
    /// An empty section.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Section {
        Section { id: id.into(), title: title.into(), blocks: Vec::new() }
    }
    /// With one more block; strings become prose.
    pub fn block(mut self, block: impl Into<Block>) -> Section {
        self.blocks.push(block.into());
        self
    }
    /// With those of some plots that [have a curve](Plot::has_curve), two side by side.
    pub fn pairs(mut self, plots: impl IntoIterator<Item = Plot>) -> Section {
        let mut drawn = plots.into_iter().filter(Plot::has_curve);
        while let Some(left) = drawn.next() {
            self.blocks.push(match drawn.next() {
                Some(right) => Block::pair(left, right),
                None => left.into(),
            });
        }
        self
    }
    /// With those of some plots that [have a curve](Plot::has_curve), one below the other.
    pub fn plots(mut self, plots: impl IntoIterator<Item = Plot>) -> Section {
        self.blocks.extend(plots.into_iter().filter(Plot::has_curve).map(Block::Plot));
        self
    }
}

impl Block {
    /// Two blocks side by side.
    pub fn pair(left: impl Into<Block>, right: impl Into<Block>) -> Block {
        Block::Pair(Box::new(left.into()), Box::new(right.into()))
    }

    fn collect_plots<'a>(&'a self, found: &mut Vec<&'a Plot>) {
        match self {
            Block::Plot(plot) => found.push(plot),
            Block::Pair(left, right) => {
                left.collect_plots(found);
                right.collect_plots(found);
            }
            Block::Text(_)
            | Block::Code { .. }
            | Block::Table(_)
            | Block::FabricMap(_)
            | Block::HeatMap(_) => {}
        }
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Block {
        Block::Text(text.into())
    }
}
impl From<String> for Block {
    fn from(text: String) -> Block {
        Block::Text(text)
    }
}
impl From<Table> for Block {
    fn from(table: Table) -> Block {
        Block::Table(table)
    }
}
impl From<Plot> for Block {
    fn from(plot: Plot) -> Block {
        Block::Plot(plot)
    }
}
impl From<HeatMap> for Block {
    fn from(map: HeatMap) -> Block {
        Block::HeatMap(map)
    }
}
impl From<FabricMap> for Block {
    fn from(map: FabricMap) -> Block {
        Block::FabricMap(map)
    }
}
