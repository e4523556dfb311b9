//! A plot: two axes, named series, reference lines.

use super::Series;

/// Curves over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The anchor of the plot and the name of its files.
    pub id: String,
    /// The headline.
    pub title: String,
    /// Prose below the plot; empty for none.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves; later ones are drawn on top.
    pub series: Vec<Series>,
    /// Reference lines.
    pub annotations: Vec<Annotation>,
}

/// An axis: label, unit, scale, range.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity, without its unit.
    pub label: String,
    /// The unit of the values.
    pub unit: Unit,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The ends of the axis. `None` takes them from the data (a linear y axis then starts at zero
    /// when nothing is negative), and offers the reader the other scale of y where all values
    /// are positive and span a decade. A range that makes no sense is taken for `None`.
    pub range: Option<(f64, f64)>,
}

/// Mapping of values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios.
    Log,
}

/// The unit of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A bare number.
    None,
    /// A base unit that takes SI prefixes: values in "s" read as µs or ms, in "B" as KB or MB.
    Si(String),
    /// A unit that is written as it is: "%", "packets".
    Plain(String),
}

/// A dashed reference line across the plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Annotation {
    /// Upright, at an abscissa.
    Vertical {
        /// Position in the unit of x.
        x: f64,
        /// Its label; empty for none.
        label: String,
    },
    /// Level, at an ordinate.
    Horizontal {
        /// Position in the unit of y.
        y: f64,
        /// Its label; empty for none.
        label: String,
    },
}

impl Plot {
    /// A plot without series.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis) -> Plot {
        Plot {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
            x,
            y,
            series: Vec::new(),
            annotations: Vec::new(),
        }
    }
    /// With prose below.
    pub fn caption(mut self, caption: impl Into<String>) -> Plot {
        self.caption = caption.into();
        self
    }
    /// With one more series.
    pub fn series(mut self, series: Series) -> Plot {
        self.series.push(series);
        self
    }
    /// True if there is a curve to see: points that can be drawn at two abscissas or more.
    pub fn has_curve(&self) -> bool {
        let points = self.series.iter().flat_map(|series| &series.points);
        let drawn = points.filter(|p| self.x.scale.admits(p.x) && self.y.scale.admits(p.y));
        let mut abscissas = drawn.map(|point| point.x);
        let first = abscissas.next();
        abscissas.any(|x| Some(x) != first)
    }
    /// With an upright reference line.
    pub fn vertical(mut self, x: f64, label: impl Into<String>) -> Plot {
        self.annotations.push(Annotation::Vertical { x, label: label.into() });
        self
    }
    /// With a level reference line.
    pub fn horizontal(mut self, y: f64, label: impl Into<String>) -> Plot {
        self.annotations.push(Annotation::Horizontal { y, label: label.into() });
        self
    }
}

impl Axis {
    /// A linear axis that takes its range from the data.
    pub fn new(label: impl Into<String>, unit: Unit) -> Axis {
        Axis { label: label.into(), unit, scale: Scale::Linear, range: None }
    }
    /// The same axis, logarithmic.
    pub fn log(mut self) -> Axis {
        self.scale = Scale::Log;
        self
    }
    /// The same axis from `low` to `high`.
    pub fn within(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }
}

impl Scale {
    /// True if a value has a place on this scale: finite, positive on a logarithmic one, and of a
    /// size (1e-280 to 1e280, or zero) that leaves room to compute with.
    pub fn admits(self, value: f64) -> bool {
        match self {
            Scale::Linear => value.abs() <= 1e280,
            Scale::Log => (1e-280..=1e280).contains(&value),
        }
    }
    /// The other scale.
    pub(crate) fn other(self) -> Scale {
        match self {
            Scale::Linear => Scale::Log,
            Scale::Log => Scale::Linear,
        }
    }
    /// The name that the page and its script use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
        }
    }
}

impl Unit {
    /// A base unit that takes SI prefixes.
    pub fn si(symbol: impl Into<String>) -> Unit {
        Unit::Si(symbol.into())
    }
    /// A unit that is written as it is.
    pub fn plain(symbol: impl Into<String>) -> Unit {
        Unit::Plain(symbol.into())
    }
}
