//! A plot in the page: drawn for wide and narrow, linear and logarithmic; the styles and the
//! script only choose which one shows. The data goes along for the script to read values from.

use serde::Serialize;

use super::anchor;
use super::json::{data, short, shorter};
use super::prose::paragraphs;
use crate::axis::other_y_scale;
use crate::draw::{Colours, Ink, Medium, Size, View, draw_plot, escape};
use crate::model::{Axis, Plot, Point, Scale, Series, Style, Unit};

/// Data of a plot for the script.
#[derive(Serialize)]
struct PlotData<'a> {
    x: AxisData<'a>,
    y: AxisData<'a>,
    series: Vec<SeriesData<'a>>,
}

#[derive(Serialize)]
struct AxisData<'a> {
    label: &'a str,
    unit: &'a str,
    /// True if the unit takes SI prefixes.
    si: bool,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    style: &'static str,
    paint: String,
    /// `[x, y]` or `[x, y, low, high]`; `null` where the line breaks.
    points: Vec<Option<Vec<f64>>>,
}

pub(crate) fn figure(plot: &Plot, colours: &Colours, id: &str) -> String {
    let other = other_y_scale(plot);
    let (title, scale) = (escape(&plot.title), plot.y.scale.name());
    let drawings: String = [Some(plot.y.scale), other]
        .into_iter()
        .flatten()
        .flat_map(|scale| [Size::Wide, Size::Narrow].map(|size| (scale, size)))
        .map(|(scale, size)| {
            draw_plot(plot, colours, &View { scale, size, medium: Medium::Page, id }) + "\n"
        })
        .collect();
    let caption = paragraphs(&plot.caption);
    format!(
        "<figure class=\"plot\" id=\"{id}\" data-scale=\"{scale}\">\n<h3>{title} {}</h3>\n{drawings}<div class=\"foot\"><figcaption>{caption}</figcaption>{}</div>\n{}</figure>\n",
        anchor(id),
        tools(other),
        data(&plot_data(plot, colours)),
    )
}

/// Buttons for the script; hidden where there is none.
fn tools(other: Option<Scale>) -> String {
    let switch = match other {
        Some(_) => {
            "<button type=\"button\" data-do=\"scale\" title=\"Switch the vertical axis between linear and logarithmic\">Log y</button>"
        }
        None => "",
    };
    format!(
        "<div class=\"tools\" hidden>{switch}<button type=\"button\" data-do=\"svg\" title=\"Download as SVG\">SVG</button><button type=\"button\" data-do=\"png\" title=\"Download as PNG\">PNG</button><button type=\"button\" data-do=\"csv\" title=\"Download the data as CSV\">CSV</button></div>"
    )
}

fn plot_data<'a>(plot: &'a Plot, colours: &Colours) -> PlotData<'a> {
    let series = |series: &'a Series| SeriesData {
        name: &series.name,
        style: style_name(series.style),
        paint: Medium::Page.paint(Ink::Series(colours.slot(series.key()))),
        points: rounded(series, plot.x.scale),
    };
    PlotData {
        x: axis_data(&plot.x),
        y: axis_data(&plot.y),
        series: plot.series.iter().map(series).collect(),
    }
}

fn axis_data(axis: &Axis) -> AxisData<'_> {
    let (unit, si) = match &axis.unit {
        Unit::None => ("", false),
        Unit::Si(unit) => (unit.as_str(), true),
        Unit::Plain(unit) => (unit.as_str(), false),
    };
    AxisData { label: &axis.label, unit, si }
}

fn style_name(style: Style) -> &'static str {
    match style {
        Style::Line | Style::Dashed => "line",
        Style::Step => "step",
        Style::Markers => "markers",
    }
}

/// Series of more points than this are written with fewer digits.
const MANY: usize = 100;

fn rounded(series: &Series, x_scale: Scale) -> Vec<Option<Vec<f64>>> {
    let round = if series.points.len() > MANY { shorter } else { short };
    let points = series.points.iter().map(|point| numbers(point, x_scale));
    points.map(|numbers| Some(numbers?.into_iter().map(round).collect())).collect()
}

/// Position and error bar of a point that can be drawn.
fn numbers(point: &Point, x_scale: Scale) -> Option<Vec<f64>> {
    if !x_scale.admits(point.x) || !point.y.is_finite() {
        return None;
    }
    let bar = point.bar.filter(|(low, high)| low.is_finite() && high.is_finite());
    let bar = bar.map(|(low, high)| [low, high]);
    Some([point.x, point.y].into_iter().chain(bar.into_iter().flatten()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_sees_only_what_can_be_drawn() {
        let seen = |x, y, scale| numbers(&Point { x, y, bar: Some((0.5, f64::NAN)) }, scale);
        assert_eq!(seen(1.0, 2.0, Scale::Log), Some(vec![1.0, 2.0]));
        assert_eq!(seen(0.0, 2.0, Scale::Log), None);
        assert_eq!(seen(0.0, f64::INFINITY, Scale::Linear), None);
        let whole = Point::from((1.0, 2.0, 1.5, 2.5));
        assert_eq!(numbers(&whole, Scale::Linear), Some(vec![1.0, 2.0, 1.5, 2.5]));
    }
}
