//! The curves: lines, stairs, markers, error bars.

use super::ink::{Colours, Ink, dash_of};
use super::layout::{Frame, Layout};
use super::svg::{Pen, Svg, Xy, escape, px};
use crate::axis::drawable;
use crate::model::{Plot, Point, Series, Style};

/// Up to so many points are all marked. Of more, some are marked if the curve only rises or only
/// falls, as distribution functions do; on a restless curve marks would be clutter.
const FEW: usize = 24;
/// The distance between marked points of a long curve, in pixels.
const STRIDE: f64 = 110.0;
/// Points closer than this to the last one, in pixels, add nothing that can be seen.
const FINE: f64 = 0.3;
/// Half the width of an error bar's caps.
const CAP: f64 = 3.0;
/// Positions are kept within what every renderer can draw.
const FAR: f64 = 1e5;

/// Corners of the markers in units of their radius; none for the circle.
const SHAPES: [&[Xy]; 7] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
    &[(0.0, -1.3), (1.15, 0.0), (0.0, 1.3), (-1.15, 0.0)],
    &[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)],
    &[(-1.2, -0.95), (1.2, 0.95), (1.2, -0.95), (-1.2, 0.95)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
];

/// Appearance of one series.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub slot: usize,
    pub style: Style,
    /// True if there are many points to mark.
    crowded: bool,
}

impl Look {
    pub fn of(series: &Series, colours: &Colours) -> Look {
        let crowded = series.style == Style::Markers && series.points.len() > 10 * FEW;
        Look { slot: colours.slot(series.key()), style: series.style, crowded }
    }

    pub fn ink(self) -> Ink {
        Ink::Series(self.slot)
    }

    pub fn pen(self) -> Pen {
        let dash = if self.style == Style::Dashed { "5 4" } else { dash_of(self.slot) };
        Pen { ink: self.ink(), width: 1.8, dash }
    }

    pub fn radius(self) -> f64 {
        if self.crowded { 1.8 } else { 3.6 }
    }

    /// Filled markers; hollow ones for a dashed series.
    pub fn draw_markers(self, svg: &mut Svg, d: &str) {
        if self.style != Style::Dashed || d.is_empty() {
            return svg.fill(d, self.ink());
        }
        let (page, rim) = (svg.paint(Ink::Page), svg.paint(self.ink()));
        svg.raw(&format!(r#"<path d="{d}" fill="{page}" stroke="{rim}" stroke-width="1.3"/>"#));
    }
}

/// A series turned into paths.
pub(crate) struct Curve<'a> {
    pub name: &'a str,
    pub look: Look,
    line: String,
    band: String,
    bars: String,
    markers: String,
}

impl<'a> Curve<'a> {
    pub fn new(plot: &Plot, series: &'a Series, colours: &Colours, layout: &Layout) -> Curve<'a> {
        let look = Look::of(series, colours);
        let places = places(plot, series, layout);
        Curve {
            name: &series.name,
            look,
            line: line(&places, look.style),
            band: band(plot, series, layout),
            bars: bars(plot, series, layout),
            markers: markers(&places, look, layout.frame),
        }
    }

    pub fn is_marked(&self) -> bool {
        !self.markers.is_empty()
    }

    /// Draws the series as a group that carries its name; `clip` names the clip path of the frame.
    pub fn draw(&self, svg: &mut Svg, clip: &str) {
        svg.group(&format!(r#"class="series" data-series="{}""#, escape(self.name)), |svg| {
            let round = r#"stroke-linejoin="round" stroke-linecap="round""#;
            svg.group(&format!(r#"clip-path="url(#{clip})" {round}"#), |svg| {
                svg.wash(&self.band, self.look.ink());
                svg.stroke(&self.bars, Pen::solid(self.look.ink(), 1.1));
                svg.stroke(&self.line, self.look.pen());
            });
            self.look.draw_markers(svg, &self.markers);
        });
    }
}

/// The path of one marker.
pub(crate) fn marker(slot: usize, (x, y): Xy, radius: f64) -> String {
    let shape = SHAPES[slot % SHAPES.len()];
    if shape.is_empty() {
        let (left, y, r, d) = (px(x - radius), px(y), px(radius), px(2.0 * radius));
        return format!("M{left} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z");
    }
    let corner = |&(dx, dy): &Xy| format!("{} {}", px(x + dx * radius), px(y + dy * radius));
    let corners: Vec<String> = shape.iter().map(corner).collect();
    format!("M{}z", corners.join("L"))
}

/// Positions of the points; `None` for those that have no place.
fn places(plot: &Plot, series: &Series, layout: &Layout) -> Vec<Option<Xy>> {
    let scale = layout.y.map.scale;
    let place = |p: &Point| (near(layout.x.map.at(p.x)), near(layout.y.map.at(p.y)));
    series.points.iter().map(|p| drawable(plot, scale, p).then(|| place(p))).collect()
}

fn near(position: f64) -> f64 {
    position.clamp(-FAR, FAR)
}

/// The line or the stairs through the points, broken where one is missing.
fn line(places: &[Option<Xy>], style: Style) -> String {
    if style == Style::Markers {
        return String::new();
    }
    places.split(Option::is_none).map(|run| stretch(run, style)).collect()
}

fn stretch(run: &[Option<Xy>], style: Style) -> String {
    let points: Vec<Xy> = run.iter().flatten().copied().collect();
    let points = if style == Style::Step { points } else { simplified(&points) };
    let Some((&first, rest)) = points.split_first() else { return String::new() };
    let mut d = format!("M{} {}", px(first.0), px(first.1));
    if run.len() == 1 {
        d.push_str("h0"); // a point on its own shows as a dot
    }
    let mut last = first;
    for (i, &(x, y)) in rest.iter().enumerate() {
        let seen = (x - last.0).abs() >= FINE || (y - last.1).abs() >= FINE;
        if seen || i + 1 == rest.len() {
            let (x, y) = (px(x), px(y));
            d.push_str(&match style {
                Style::Step => format!("H{x}V{y}"),
                _ => format!("L{x} {y}"),
            });
            last = (near_number(&x, last.0), near_number(&y, last.1));
        }
    }
    d
}

/// The line with fewer corners, none of the others further than [`FINE`] from it (Douglas and
/// Peucker 1973).
fn simplified(points: &[Xy]) -> Vec<Xy> {
    let mut is_kept = vec![false; points.len()];
    for end in [is_kept.len().saturating_sub(1), 0] {
        is_kept.get_mut(end).into_iter().for_each(|kept| *kept = true);
    }
    let mut parts = vec![(0, points.len().saturating_sub(1))];
    while let Some((first, last)) = parts.pop() {
        let off = |i: usize| (i, distance(points[i], points[first], points[last]));
        let between = (first + 1..last).map(off);
        if let Some((corner, distance)) = between.max_by(|a, b| a.1.total_cmp(&b.1))
            && distance > FINE
        {
            is_kept[corner] = true;
            parts.extend([(first, corner), (corner, last)]);
        }
    }
    points.iter().zip(is_kept).filter_map(|(&point, kept)| kept.then_some(point)).collect()
}

/// Distance of a point from the line through two others; from the first if they are one.
fn distance(point: Xy, from: Xy, to: Xy) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (px, py) = (point.0 - from.0, point.1 - from.1);
    let length = (dx * dx + dy * dy).sqrt();
    if length > 0.0 { ((dx * py - dy * px) / length).abs() } else { (px * px + py * py).sqrt() }
}

/// The position as it was written, so that rounding does not add up.
fn near_number(text: &str, otherwise: f64) -> f64 {
    text.parse().unwrap_or(otherwise)
}

fn markers(places: &[Option<Xy>], look: Look, frame: Frame) -> String {
    let inside = |&(x, y): &Xy| {
        (frame.left - 0.5..=frame.right + 0.5).contains(&x)
            && (frame.top - 0.5..=frame.bottom + 0.5).contains(&y)
    };
    let shown: Vec<Xy> = places.iter().flatten().copied().filter(inside).collect();
    let all = look.style == Style::Markers || shown.len() <= FEW;
    let marked = if all { shown } else { some(&shown, look) };
    marked.into_iter().map(|at| marker(look.slot, at, look.radius())).collect()
}

/// Points about a stride apart, begun at a place that differs between series.
fn some(places: &[Xy], look: Look) -> Vec<Xy> {
    if !places.is_sorted_by(|a, b| a.1 >= b.1) && !places.is_sorted_by(|a, b| a.1 <= b.1) {
        return Vec::new();
    }
    let mut left = STRIDE * (0.3 + (look.slot % SHAPES.len()) as f64 / SHAPES.len() as f64);
    let mut last = places.first().copied().unwrap_or_default();
    let mut marked = Vec::new();
    for &(x, y) in places {
        if (x - last.0).abs() + (y - last.1).abs() >= left {
            marked.push((x, y));
            (left, last) = (STRIDE, (x, y));
        }
    }
    marked
}

/// An error bar in pixels.
#[derive(Clone, Copy)]
struct Bar {
    x: f64,
    low: f64,
    high: f64,
}

/// The error bars of neighbours on a line, in groups: a point without one, or without a place, parts
/// them. Each point of a series without a line stands alone.
fn grouped_bars(plot: &Plot, series: &Series, layout: &Layout) -> Vec<Vec<Bar>> {
    let scale = layout.y.map.scale;
    let place =
        |p: &Point| p.bar.filter(|_| drawable(plot, scale, p)).map(|ends| bar(p, ends, layout));
    let places: Vec<Option<Bar>> = series.points.iter().map(place).collect();
    match series.style {
        Style::Line | Style::Dashed => places
            .split(Option::is_none)
            .map(|group| group.iter().flatten().copied().collect())
            .collect(),
        Style::Step | Style::Markers => places.into_iter().flatten().map(|bar| vec![bar]).collect(),
    }
}

/// An end that the scale does not admit (zero on a logarithmic one) leaves the frame.
fn bar(point: &Point, (low, high): (f64, f64), layout: &Layout) -> Bar {
    let y = |value: f64, beyond: f64| match layout.y.map.scale.admits(value) {
        true => near(layout.y.map.at(value)),
        false => beyond,
    };
    let (low, high) = (y(low, layout.frame.bottom + CAP), y(high, layout.frame.top - CAP));
    Bar { x: near(layout.x.map.at(point.x)), low, high }
}

/// The area between the ends of the error bars along a line.
fn band(plot: &Plot, series: &Series, layout: &Layout) -> String {
    let groups = grouped_bars(plot, series, layout).into_iter().filter(|group| group.len() > 1);
    let area = |group: Vec<Bar>| {
        let above = group.iter().map(|bar| (bar.x, bar.high));
        let below = group.iter().rev().map(|bar| (bar.x, bar.low));
        let corners = above.chain(below).map(|(x, y)| format!("{} {}", px(x), px(y)));
        format!("M{}z", corners.collect::<Vec<_>>().join("L"))
    };
    groups.map(area).collect()
}

/// Bars of their own for points that no [`band`] holds.
fn bars(plot: &Plot, series: &Series, layout: &Layout) -> String {
    let groups = grouped_bars(plot, series, layout);
    let drawn = |bar: &Bar| {
        let (left, x, cap) = (px(bar.x - CAP), px(bar.x), px(2.0 * CAP));
        let (low, high) = (px(bar.low), px(bar.high));
        format!("M{left} {low}h{cap}M{left} {high}h{cap}M{x} {low}V{high}")
    };
    groups.iter().filter(|group| group.len() == 1).flatten().map(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::super::layout::Size;
    use super::*;
    use crate::model::{Axis, Scale, Unit};

    const NONE: Option<Xy> = None;

    #[test]
    fn lines_break_at_gaps_and_lone_points_are_dots() {
        let places = [Some((0.0, 5.0)), Some((10.0, 6.0)), NONE, Some((30.0, 7.0)), NONE, NONE];
        assert_eq!(line(&places, Style::Line), "M0 5L10 6M30 7h0");
        assert_eq!(line(&places, Style::Step), "M0 5H10V6M30 7h0");
        assert_eq!(line(&places, Style::Markers), "");
    }

    #[test]
    fn points_that_cannot_be_told_apart_are_dropped_but_the_last() {
        let places: Vec<_> = (0..=1000).map(|i| Some((f64::from(i) * 0.01, 1.0))).collect();
        let d = line(&places, Style::Line);
        assert!(d.ends_with("L10 1"), "{d}");
        assert!(d.matches('L').count() <= 34, "{d}");
    }

    #[test]
    fn a_line_keeps_the_corners_that_can_be_seen() {
        let bend = [(0.0, 0.0), (5.0, 0.2), (10.0, 0.0), (15.0, 4.0), (20.0, 8.0)];
        assert_eq!(simplified(&bend), [(0.0, 0.0), (10.0, 0.0), (20.0, 8.0)]);
        assert_eq!(simplified(&[(1.0, 2.0), (9.0, 2.0), (1.0, 2.0)]).len(), 3, "there and back");
        assert_eq!([simplified(&[]).len(), simplified(&[(1.0, 1.0)]).len()], [0, 1]);
    }

    #[test]
    fn long_curves_are_marked_here_and_there() {
        let places: Vec<_> = (0..1000).map(|i| (f64::from(i), 100.0)).collect();
        let look = |slot| Look { slot, style: Style::Step, crowded: false };
        let starts: Vec<_> = (0..7).map(|slot| some(&places, look(slot))[0].0).collect();
        assert!(starts.windows(2).all(|w| w[0] < w[1]), "{starts:?}");
        assert_eq!(some(&places, look(0)).len(), 9); // 33, 143, ... 913
    }

    /// Two neighbours with error bars have a band; a third behind a gap, and markers, have bars.
    #[test]
    fn error_bars_along_a_line_are_a_band() {
        let points = [
            (0.0, 2.0, 1.0, 3.0),
            (1.0, 3.0, 2.0, 4.0),
            (2.0, f64::NAN, 0.0, 0.0),
            (3.0, 2.0, 1.0, 3.0),
        ];
        let drawn = |style| {
            let axis = |title: &str| Axis::new(title, Unit::None);
            let plot =
                Plot::new("p", "P", axis("x"), axis("y")).series(Series::new("a", style, points));
            let layout = Layout::new(&plot, Scale::Linear, Size::Narrow);
            let series = &plot.series[0];
            let corners = band(&plot, series, &layout).matches(['M', 'L']).count();
            (corners, bars(&plot, series, &layout).matches('V').count())
        };
        assert_eq!([Style::Line, Style::Markers].map(drawn), [(4, 1), (0, 3)]);
    }

    #[test]
    fn a_circle_is_two_arcs() {
        assert_eq!(marker(0, (10.0, 5.0), 3.0), "M7 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0z");
        assert_eq!(marker(3, (0.0, 0.0), 10.0), "M0 -13L11.5 0L0 13L-11.5 0z");
    }
}
