//! One named curve of a plot.

/// A curve: its points are drawn in the order given.
///
/// A few thousand points are plenty for a screen and a paper; thin larger samples before
/// (a CDF of 1000 quantiles looks like one of a million flows).
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// Series with one key share colour and marker all over the report. Empty: the name is the key.
    /// Lets "HULA (paper)" wear the colour of "HULA".
    pub colour_key: String,
    /// The data. A point that cannot be drawn breaks the line: a gap is not bridged.
    pub points: Vec<Point>,
    /// Style of the line or markers.
    pub style: Style,
}

/// A value, with the range it may lie in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Abscissa, in the unit of the x axis.
    pub x: f64,
    /// Ordinate, in the unit of the y axis.
    pub y: f64,
    /// Ends of the error bar (low, high), absolute and in the unit of y.
    pub bar: Option<(f64, f64)>,
}

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Straight lines; the points are marked when they are few.
    Line,
    /// Broken lines: a model, a bound, or what a paper reports.
    Dashed,
    /// Stairs: a value holds until the next point (distribution functions, queue lengths).
    Step,
    /// The points alone.
    Markers,
}

impl Series {
    /// A series in a given style.
    pub fn new<P: Into<Point>>(
        name: impl Into<String>,
        style: Style,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        let points = points.into_iter().map(Into::into).collect();
        Series { name: name.into(), colour_key: String::new(), points, style }
    }
    /// Straight lines between the points.
    pub fn line<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(name, Style::Line, points)
    }
    /// Stairs: each value holds until the next point.
    pub fn step<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(name, Style::Step, points)
    }
    /// In the colour and with the marker of another name.
    pub fn coloured_as(mut self, key: impl Into<String>) -> Series {
        self.colour_key = key.into();
        self
    }
    /// Key of the colour: the given one, else the name.
    pub fn key(&self) -> &str {
        if self.colour_key.is_empty() { &self.name } else { &self.colour_key }
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Point {
        Point { x, y, bar: None }
    }
}

/// `(x, y, low, high)`: a point with an error bar.
impl From<(f64, f64, f64, f64)> for Point {
    fn from((x, y, low, high): (f64, f64, f64, f64)) -> Point {
        Point { x, y, bar: Some((low, high)) }
    }
}
