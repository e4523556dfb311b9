//! Reference lines with their labels, and the notice that there is nothing to show.

use super::ink::Ink;
use super::layout::{FONT, Frame, Layout, WIDER};
use super::svg::{Pen, Svg, px};
use super::text;
use crate::axis::{Mapping, drawable};
use crate::model::{Annotation, Mark, Plot, Series, Style};

/// Places looked at on the line between two points.
const STEPS: u32 = 64;

/// The baseline of the first label below the top of the frame, and the height of a line of labels.
const FIRST_LABEL: f64 = 12.0;
const LABEL_LINE: f64 = 15.0;

const DOTTED: Pen = Pen { ink: Ink::Muted, width: 1.2, dash: "2 3" };

/// Draws the reference lines that lie inside the frame.
pub(crate) fn draw_annotations(svg: &mut Svg, plot: &Plot, layout: &Layout) {
    let uprights = Uprights { map: &layout.x.map, frame: layout.frame };
    let mut floors = Vec::new();
    for annotation in &plot.annotations {
        match annotation {
            Annotation::Vertical { x, label } => uprights.draw(svg, *x, label, &mut floors),
            Annotation::Horizontal { y, label } => draw_level(svg, (plot, layout), *y, label),
        }
    }
}

/// Upright lines in a frame, with their labels below its top.
pub(crate) struct Uprights<'a> {
    pub map: &'a Mapping,
    pub frame: Frame,
}

/// The place of an upright line and its label.
struct Upright {
    x: f64,
    /// The label's start or end, by `anchor`.
    label: f64,
    anchor: &'static str,
    /// Lines of labels above it.
    line: usize,
}

impl Uprights<'_> {
    /// Draws a line. `floors` keeps where earlier labels ended, so that neighbours go one line lower.
    pub fn draw(&self, svg: &mut Svg, x: f64, label: &str, floors: &mut Vec<f64>) {
        let frame = self.frame;
        let Some(place) = self.place(x, label, floors) else { return };
        let (x, top) = (px(place.x), frame.top + FIRST_LABEL + LABEL_LINE * place.line as f64);
        svg.stroke(&format!("M{x} {}V{}", px(frame.bottom), px(frame.top)), DOTTED);
        draw_label(svg, (place.label, top), place.anchor, label);
    }

    /// The height that the labels of some marks take.
    pub fn height(&self, marks: &[Mark]) -> f64 {
        let mut floors = Vec::new();
        let lines = marks.iter().filter_map(|mark| self.place(mark.at, &mark.label, &mut floors));
        lines.map(|place| FIRST_LABEL + LABEL_LINE * place.line as f64).fold(0.0, f64::max)
    }

    /// `None` outside of the frame.
    fn place(&self, x: f64, label: &str, floors: &mut Vec<f64>) -> Option<Upright> {
        let Uprights { map, frame } = self;
        if !map.scale.admits(x) || !(map.values.low..=map.values.high).contains(&x) {
            return None;
        }
        let (x, width) = (map.at(x), WIDER * text::width(label, FONT));
        let (start, anchor) =
            if x + 6.0 + width > frame.right { (x - 5.0, "end") } else { (x + 5.0, "start") };
        let left = if anchor == "end" { start - width } else { start };
        let line = floors.iter().position(|&end| end < left).unwrap_or(floors.len());
        floors.truncate(line);
        floors.push(left + width + 8.0);
        Some(Upright { x, label: start, anchor, line })
    }
}

fn draw_level(svg: &mut Svg, (plot, layout): (&Plot, &Layout), y: f64, label: &str) {
    let (map, frame) = (&layout.y.map, layout.frame);
    if !map.scale.admits(y) || !(map.values.low..=map.values.high).contains(&y) {
        return;
    }
    let y = map.at(y);
    svg.stroke(&format!("M{} {}H{}", px(frame.left), px(y), px(frame.right)), DOTTED);
    let end = frame.right - 4.0;
    let span = (end - text::width(label, FONT), end);
    draw_label(svg, (end, baseline(plot, layout, y, span)), "end", label);
}

/// The baseline of the label of a level line at `y`, above or below the line: where fewer curves
/// cross it, above if there is no difference.
fn baseline(plot: &Plot, layout: &Layout, y: f64, span: (f64, f64)) -> f64 {
    let (frame, above, below) = (layout.frame, y - 5.0, y + 14.0);
    if y - frame.top < 16.0 {
        return below;
    }
    let crossed = |baseline: f64| {
        let height = (baseline - FONT, baseline + 3.0);
        plot.series.iter().filter(|series| crosses(series, layout, span, height)).count()
    };
    if frame.bottom - y > 18.0 && crossed(below) < crossed(above) { below } else { above }
}

/// True if a series has a point or a straight line between two in a box.
fn crosses(series: &Series, layout: &Layout, span: (f64, f64), height: (f64, f64)) -> bool {
    let (x_map, y_map) = (&layout.x.map, &layout.y.map);
    let is_inside =
        |(x, y): (f64, f64)| (span.0..=span.1).contains(&x) && (height.0..=height.1).contains(&y);
    let drawn = series.points.iter().filter(|p| x_map.scale.admits(p.x) && y_map.scale.admits(p.y));
    let places: Vec<(f64, f64)> = drawn.map(|p| (x_map.at(p.x), y_map.at(p.y))).collect();
    if series.style == Style::Markers {
        return places.into_iter().any(is_inside);
    }
    let between = |pair: &[(f64, f64)]| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        (0..=STEPS)
            .map(f64::from)
            .map(|step| step / f64::from(STEPS))
            .any(|part| is_inside((x0 + part * (x1 - x0), y0 + part * (y1 - y0))))
    };
    places.windows(2).any(between)
}

/// A label that keeps the curves behind it at a distance.
fn draw_label(svg: &mut Svg, at: (f64, f64), anchor: &str, label: &str) {
    let (ink, page) = (svg.paint(Ink::Muted), svg.paint(Ink::Page));
    let halo = format!(r#"stroke="{page}" stroke-width="3" stroke-linejoin="round""#);
    let style = format!(r#" text-anchor="{anchor}" fill="{ink}" {halo} paint-order="stroke""#);
    svg.text(at, &style, label);
}

/// True if any series has a point to draw.
pub(crate) fn has_data(plot: &Plot, layout: &Layout) -> bool {
    let points = plot.series.iter().flat_map(|s| &s.points);
    points.into_iter().any(|p| drawable(plot, layout.y.map.scale, p))
}

/// Says "no data" in the middle of the frame.
pub(crate) fn draw_no_data(svg: &mut Svg, layout: &Layout) {
    let (frame, ink) = (layout.frame, svg.paint(Ink::Muted));
    let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    svg.text(middle, &format!(r#" text-anchor="middle" font-size="16" fill="{ink}""#), "no data");
}

#[cfg(test)]
mod tests {
    use super::super::layout::Size;
    use super::*;
    use crate::model::{Axis, Scale, Unit};

    /// A curve that ends just above the line pushes the label below it; one just below does not.
    #[test]
    fn a_level_lines_label_keeps_clear_of_curves() {
        let is_below = |end: f64| {
            let axis = |title: &str| Axis::new(title, Unit::None);
            let line = Series::line("a", [(0.0, 3.0), (10.0, end)]);
            let far = Series::line("b", [(0.0, 4.0), (10.0, 4.0)]);
            let plot = Plot::new("p", "P", axis("x"), axis("y").within(0.0, 4.0));
            let plot = plot.series(line).series(far).horizontal(1.0, "as HULA");
            let layout = Layout::new(&plot, Scale::Linear, Size::Narrow);
            let (y, end) = (layout.y.map.at(1.0), layout.frame.right - 4.0);
            baseline(&plot, &layout, y, (end - 50.0, end)) > y
        };
        assert!(is_below(1.1));
        assert!(!is_below(0.9) && !is_below(3.0));
    }
}
