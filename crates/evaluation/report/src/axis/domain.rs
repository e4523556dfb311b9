//! Domain of an axis.

use super::span::Span;
use super::ticks::{Ticks, ticks, widen};
use crate::model::{Annotation, Axis, Plot, Point, Scale};

/// Labels that a y axis has room for.
const Y_ROOM: usize = 5;
/// A span as short as this counts as a single value.
const TINY: f64 = 1e-290;
/// Air left and right of the outermost points, as a share of the axis.
const AIR: f64 = 0.025;
/// An axis is at most so many times as long as the largest value, and begins at most so many times
/// below the least one.
const BAR: f64 = 4.0;

/// True if a point has a place in the plot, `y_scale` standing in for the scale of its y axis.
pub(crate) fn drawable(plot: &Plot, y_scale: Scale, point: &Point) -> bool {
    plot.x.scale.admits(point.x) && y_scale.admits(point.y)
}

/// The ends of the x axis: those asked for, or the data with a little air.
pub(crate) fn x_span(plot: &Plot) -> Span {
    let scale = plot.x.scale;
    let lines = plot.annotations.iter().filter_map(|a| match a {
        Annotation::Vertical { x, .. } => Some(*x),
        Annotation::Horizontal { .. } => None,
    });
    let points = plot.series.iter().flat_map(|s| &s.points).map(|p| p.x);
    asked_for(&plot.x, scale)
        .or_else(|| extent(scale, points.chain(lines)).map(|span| with_air(scale, span)))
        .unwrap_or(empty(scale))
}

/// The y axis on a scale: the ends asked for, or the data up to the next ticks.
pub(crate) fn y_axis(plot: &Plot, scale: Scale) -> (Span, Ticks) {
    let lines = plot.annotations.iter().filter_map(|a| match a {
        Annotation::Horizontal { y, .. } => Some(*y),
        Annotation::Vertical { .. } => None,
    });
    if let Some(span) = asked_for(&plot.y, scale) {
        return (span, ticks(scale, span, Y_ROOM));
    }
    let span = extent(scale, visible_y(plot).chain(lines)).unwrap_or(empty(scale));
    widen(scale, grounded(scale, span), Y_ROOM)
}

/// The other scale of the y axis, where a reader gains from it: the range is free, all values are
/// positive, and they span a decade.
pub(crate) fn other_y_scale(plot: &Plot) -> Option<Scale> {
    let all = extent(Scale::Linear, visible_y(plot))?;
    let worth_it = plot.y.range.is_none() && all.low > 0.0 && all.high / all.low >= 10.0;
    worth_it.then(|| plot.y.scale.other())
}

/// The y values, error bars included, of the points inside the x range asked for. A bar that is much
/// longer than the values, as of two seeds that differ, is cut at the frame.
fn visible_y(plot: &Plot) -> impl Iterator<Item = f64> {
    let x_range = asked_for(&plot.x, plot.x.scale);
    let points = plot.series.iter().flat_map(|s| &s.points);
    let points = points
        .filter(move |p| plot.x.scale.admits(p.x) && x_range.is_none_or(|r| r.contains(p.x)))
        .filter(|p| p.y.is_finite());
    let sizes = || points.clone().map(|p| p.y.abs()).filter(|size| *size > 0.0);
    let most = BAR * sizes().fold(0.0, f64::max);
    let least = sizes().fold(f64::INFINITY, f64::min) / BAR;
    let cut = move |end: f64| match end {
        end if !end.is_finite() => end,
        end if end > 0.0 => end.clamp(least.min(most), most),
        end => end.max(-most),
    };
    points
        .flat_map(move |p| [Some(p.y), p.bar.map(|b| cut(b.0)), p.bar.map(|b| cut(b.1))])
        .flatten()
}

fn asked_for(axis: &Axis, scale: Scale) -> Option<Span> {
    let (low, high) = axis.range?;
    let sound = scale.admits(low) && scale.admits(high) && high - low > TINY;
    sound.then_some(Span { low, high })
}

fn extent(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Span> {
    values.filter(|&v| scale.admits(v)).fold(None, |span, v| {
        let Span { low, high } = span.unwrap_or(Span { low: v, high: v });
        Some(Span { low: low.min(v), high: high.max(v) })
    })
}

fn empty(scale: Scale) -> Span {
    match scale {
        Scale::Linear => Span { low: 0.0, high: 1.0 },
        Scale::Log => Span { low: 1.0, high: 10.0 },
    }
}

fn with_air(scale: Scale, span: Span) -> Span {
    let Span { low, high } = apart(scale, span);
    match scale {
        Scale::Linear => {
            let air = (high - low) * AIR;
            // An axis of counts or times does not start below zero.
            let first = if low >= 0.0 { (low - air).max(0.0) } else { low - air };
            Span { low: first, high: high + air }
        }
        Scale::Log => {
            let air = libm::pow(high, AIR) / libm::pow(low, AIR);
            Span { low: low / air, high: high * air }
        }
    }
}

/// A linear y axis shows zero unless the data lies on both sides of it.
fn grounded(scale: Scale, span: Span) -> Span {
    match scale {
        Scale::Log => apart(scale, span),
        Scale::Linear if span.low.abs().max(span.high.abs()) <= TINY => empty(scale),
        Scale::Linear => Span { low: span.low.min(0.0), high: span.high.max(0.0) },
    }
}

/// A single value gets a neighbourhood.
fn apart(scale: Scale, span: Span) -> Span {
    if span.high - span.low > TINY {
        return span;
    }
    match scale {
        Scale::Log => Span { low: span.low / 2.0, high: span.high * 2.0 },
        Scale::Linear if span.low.abs() <= TINY => Span { low: -0.5, high: 0.5 },
        Scale::Linear => {
            let half = span.low.abs() / 2.0;
            Span { low: span.low - half, high: span.high + half }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Series, Unit};

    fn plot(points: &[(f64, f64)]) -> Plot {
        let axis = Axis::new("v", Unit::None);
        Plot::new("p", "p", axis.clone(), axis).series(Series::line("a", points.iter().copied()))
    }
    fn y_span(plot: &Plot, scale: Scale) -> Span {
        y_axis(plot, scale).0
    }
    fn span(low: f64, high: f64) -> Span {
        Span { low, high }
    }

    #[test]
    fn y_starts_at_zero_and_ends_at_a_tick() {
        assert_eq!(y_span(&plot(&[(1.0, 3.2), (2.0, 8.7)]), Scale::Linear), span(0.0, 10.0));
        assert_eq!(y_span(&plot(&[(1.0, -4.0), (2.0, 8.7)]), Scale::Linear), span(-4.0, 10.0));
        assert_eq!(y_span(&plot(&[(1.0, 3.2), (2.0, 870.0)]), Scale::Log), span(3.0, 900.0));
    }

    #[test]
    fn x_follows_the_data_with_air_but_not_below_zero() {
        assert_eq!(x_span(&plot(&[(10.0, 1.0), (90.0, 1.0)])), span(8.0, 92.0));
        assert_eq!(x_span(&plot(&[(0.0, 1.0), (40.0, 1.0)])), span(0.0, 41.0));
    }

    /// The bar from a thousandth to a thousand times 5 takes the axis to four times 5.
    #[test]
    fn long_bars_are_cut_at_the_frame() {
        let axis = Axis::new("v", Unit::None);
        let points = [(1.0, 5.0, 0.005, 5000.0), (2.0, 4.0, 3.0, 5.0)];
        let plot = Plot::new("p", "p", axis.clone(), axis).series(Series::line("a", points));
        assert_eq!(y_span(&plot, Scale::Linear), span(0.0, 20.0));
        assert_eq!(y_span(&plot, Scale::Log), span(1.0, 20.0));
    }

    #[test]
    fn what_cannot_be_drawn_does_not_count() {
        let odd = plot(&[(1.0, f64::NAN), (2.0, 5.0), (f64::INFINITY, 900.0), (3.0, -2.0)]);
        assert_eq!(y_span(&odd, Scale::Log), span(2.0, 10.0)); // 5 alone: 2.5 to 10
        assert_eq!(y_span(&odd, Scale::Linear), span(-2.0, 5.0));
    }

    #[test]
    fn a_range_is_obeyed_if_it_makes_sense() {
        let mut asked = plot(&[(1.0, 3.2), (50.0, 870.0)]);
        asked.x.range = Some((0.0, 10.0));
        assert_eq!(x_span(&asked), span(0.0, 10.0));
        assert_eq!(y_span(&asked, Scale::Linear), span(0.0, 3.5)); // 870 lies outside
        asked.y.range = Some((5.0, 5.0));
        assert_eq!(y_span(&asked, Scale::Linear), span(0.0, 3.5));
    }

    #[test]
    fn no_points_and_single_points_still_give_an_axis() {
        assert_eq!(x_span(&plot(&[])), span(0.0, 1.0));
        assert_eq!(y_span(&plot(&[]), Scale::Log), span(1.0, 10.0));
        assert_eq!(y_span(&plot(&[(1.0, 0.0)]), Scale::Linear), span(0.0, 1.0));
        let one = x_span(&plot(&[(4.0, 1.0)]));
        assert!(one.low < 4.0 && 4.0 < one.high);
    }

    #[test]
    fn the_other_scale_is_offered_over_a_decade_of_positive_values() {
        assert_eq!(other_y_scale(&plot(&[(1.0, 1.0), (2.0, 10.0)])), Some(Scale::Log));
        assert_eq!(other_y_scale(&plot(&[(1.0, 1.0), (2.0, 9.0)])), None);
        assert_eq!(other_y_scale(&plot(&[(1.0, 0.0), (2.0, 90.0)])), None);
        let mut fixed = plot(&[(1.0, 1.0), (2.0, 10.0)]);
        fixed.y.range = Some((1.0, 10.0));
        assert_eq!(other_y_scale(&fixed), None);
    }
}
