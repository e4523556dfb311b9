//! Shares over time as colours, a row each.

use std::collections::BTreeMap;

use super::ink::{Ink, Medium, load_step};
use super::layout::{FONT, Frame, Size, WIDER};
use super::notes::Uprights;
use super::ramp::draw_ramp;
use super::svg::{Pen, Svg, escape, px};
use super::text;
use crate::axis::{Mapping, Span, axis_text, ticks};
use crate::model::{Axis, HeatMap, HeatRow, Mark, Scale, Unit};

/// The height of all rows together, if it gives each one a height between the two.
const HEIGHT: f64 = 420.0;
const LOWEST: f64 = 2.0;
const HIGHEST: f64 = 14.0;
/// Rows as high as this have their names beside them.
const NAMED: f64 = 10.0;
/// Between two groups.
const GAP: f64 = 18.0;
/// Below the rows: labels, the title of the axis, and the key to the colours.
const FOOT: f64 = 74.0;
/// Above the rows, below the labels of what happened.
const HEAD: f64 = 6.0;

/// Positions of a heat map.
struct Layout {
    width: f64,
    left: f64,
    right: f64,
    row: f64,
    /// The top of each row.
    tops: Vec<f64>,
    bottom: f64,
    time: Mapping,
}

/// Draws a map. Each row carries its name, its mean and its greatest share as a title.
pub(crate) fn draw_heat(map: &HeatMap, size: Size, id: &str) -> String {
    let (width, columns) = match size {
        Size::Wide => (860.0, 100),
        Size::Narrow | Size::Paper => (430.0, 60),
    };
    let map = &map.binned(columns);
    let layout = Layout::of(map, width);
    let mut svg = Svg::new(Medium::Page);
    let (height, about) = (px(layout.bottom + FOOT), escape(&map.title));
    let class = size.name();
    svg.raw(&format!(
        r#"<svg class="{class}" viewBox="0 0 {width} {height}" data-head="0" data-name="{id}" role="img" aria-label="{about}" font-size="{FONT}" font-family="Helvetica,Arial,'Liberation Sans',sans-serif">"#
    ));
    draw_cells(&mut svg, map, &layout);
    draw_names(&mut svg, map, &layout);
    draw_time(&mut svg, &layout);
    draw_marks(&mut svg, &map.marks, &layout);
    draw_ramp(&mut svg, (layout.left + 96.0, layout.bottom + 54.0));
    svg.raw("</svg>");
    svg.finish()
}

impl Layout {
    fn of(map: &HeatMap, width: f64) -> Layout {
        let row = (HEIGHT / map.rows.len().max(1) as f64).clamp(LOWEST, HIGHEST);
        let names = map.rows.iter().filter(|_| row >= NAMED).map(|row| row.name.as_str());
        let widest = names.map(|name| text::width(name, FONT)).fold(0.0, f64::max);
        let (left, right) = ((WIDER * widest).min(width / 3.0) + 10.0, width - 18.0);
        let last = map.times.last().copied().filter(|&last| last > 0.0).unwrap_or(1.0);
        let values = Span { low: 0.0, high: last };
        let time = Mapping { scale: Scale::Linear, values, positions: (left, right) };
        let head = Frame { left, right, top: 0.0, bottom: 0.0 };
        let mut bottom = HEAD + Uprights { map: &time, frame: head }.height(&map.marks);
        let tops = (0..map.rows.len()).map(|index| {
            let begins = index == 0 || map.rows[index].group != map.rows[index - 1].group;
            bottom += if begins { GAP } else { 0.0 };
            bottom += row;
            bottom - row
        });
        let tops = tops.collect();
        Layout { width, left, right, row, tops, bottom, time }
    }

    /// The middle of a row.
    fn middle(&self, index: usize) -> f64 {
        self.tops[index] + self.row / 2.0
    }
}

/// A path for each colour: strokes as thick as a row, neighbours of one colour in one.
fn draw_cells(svg: &mut Svg, map: &HeatMap, layout: &Layout) {
    let edges: Vec<String> = std::iter::once(layout.left)
        .chain(map.times.iter().map(|&end| layout.time.at(end)))
        .map(|x| px((x * 10.0).round() / 10.0))
        .collect();
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for (index, row) in map.rows.iter().enumerate() {
        let y = px(layout.middle(index));
        let mut column = 0;
        for stretch in steps(row, map.times.len()).chunk_by(|a, b| a == b) {
            let (from, to) = (&edges[column], &edges[column + stretch.len()]);
            column += stretch.len();
            if let Some(step) = stretch[0] {
                *paths.entry(step).or_default() += &format!("M{from} {y}H{to}");
            }
        }
    }
    for (step, d) in paths {
        svg.stroke(&d, Pen::solid(Ink::Load(step), layout.row));
    }
}

/// The colours of a row; `None` where nothing is known.
fn steps(row: &HeatRow, columns: usize) -> Vec<Option<usize>> {
    let share = |column: usize| row.shares.get(column).copied().filter(|share| share.is_finite());
    (0..columns).map(|column| Some(load_step(share(column)?.clamp(0.0, 1.0)))).collect()
}

/// Names of groups above them, those of rows beside them where there is room, and a title on each
/// row for the pointer.
fn draw_names(svg: &mut Svg, map: &HeatMap, layout: &Layout) {
    let (text_ink, muted) = (svg.paint(Ink::Text), svg.paint(Ink::Muted));
    let starts = (0..map.rows.len())
        .filter(|&index| index == 0 || map.rows[index].group != map.rows[index - 1].group);
    svg.group(&format!(r#"fill="{text_ink}""#), |svg| {
        for index in starts {
            let limit = layout.right - layout.left;
            let group = text::fit(&map.rows[index].group, FONT, limit);
            svg.text((layout.left, layout.tops[index] - 5.0), "", &group);
        }
    });
    svg.group(&format!(r#"fill="{muted}" text-anchor="end""#), |svg| {
        for (index, row) in map.rows.iter().enumerate().filter(|_| layout.row >= NAMED) {
            let name = text::fit(&row.name, FONT, (layout.left - 9.0) / WIDER);
            svg.text((layout.left - 6.0, layout.middle(index) + FONT * 0.35), "", &name);
        }
    });
    svg.group(r#"fill="none" pointer-events="all""#, |svg| {
        for (index, row) in map.rows.iter().enumerate() {
            let (x, y, title) = (px(layout.left), px(layout.tops[index]), escape(&about(row)));
            let (width, height) = (px(layout.right - layout.left), px(layout.row));
            svg.raw(&format!(
                r#"<rect x="{x}" y="{y}" width="{width}" height="{height}"><title>{title}</title></rect>"#
            ));
        }
    });
}

/// Name, mean and greatest share of a row.
fn about(row: &HeatRow) -> String {
    let known = || row.shares.iter().copied().filter(|share| share.is_finite());
    let count = known().count();
    if count == 0 {
        return row.name.clone();
    }
    let mean = known().sum::<f32>() / count as f32;
    let most = known().fold(0.0, f32::max);
    format!("{}: mean {:.0} %, most {:.0} %", row.name, 100.0 * mean, 100.0 * most)
}

/// Lines where something happened, their labels above the rows.
fn draw_marks(svg: &mut Svg, marks: &[Mark], layout: &Layout) {
    let Layout { left, right, bottom, .. } = *layout;
    let uprights = Uprights { map: &layout.time, frame: Frame { left, right, top: 0.0, bottom } };
    let mut floors = Vec::new();
    marks.iter().for_each(|mark| uprights.draw(svg, mark.at, &mark.label, &mut floors));
}

fn draw_time(svg: &mut Svg, layout: &Layout) {
    let room = ((layout.right - layout.left) / 80.0).max(2.0) as usize;
    let ticks = ticks(Scale::Linear, layout.time.values, room);
    let text = axis_text(&Axis::new("Time", Unit::si("s")), Scale::Linear, &ticks.major);
    let (left, right, bottom) = (px(layout.left), px(layout.right), px(layout.bottom + 2.0));
    let strokes = ticks.major.iter().map(|&at| format!("M{} {bottom}v5", px(layout.time.at(at))));
    let axis = format!("M{left} {bottom}H{right}") + &strokes.collect::<String>();
    svg.stroke(&axis, Pen::solid(Ink::Axis, 1.0));
    let (muted, ink) = (svg.paint(Ink::Muted), svg.paint(Ink::Text));
    svg.group(&format!(r#"fill="{muted}" text-anchor="middle""#), |svg| {
        for (&at, label) in ticks.major.iter().zip(&text.labels) {
            let rightmost = layout.width - text::width(label, FONT) / 2.0;
            svg.text((layout.time.at(at).min(rightmost), layout.bottom + 20.0), "", label);
        }
    });
    let middle = (layout.left + layout.right) / 2.0;
    let style = format!(r#" text-anchor="middle" fill="{ink}""#);
    svg.text((middle, layout.bottom + 38.0), &style, &text.title);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(group: &str, name: &str, shares: &[f32]) -> HeatRow {
        HeatRow { group: group.into(), name: name.into(), shares: shares.to_vec() }
    }

    fn map(rows: Vec<HeatRow>) -> HeatMap {
        let marks = vec![Mark { at: 2.0, label: "a fails".into() }];
        HeatMap { times: vec![1.0, 2.0, 3.0], rows, marks, ..HeatMap::default() }
    }

    /// Neighbours of one colour are one stroke; what is not known has none.
    #[test]
    fn a_row_is_strokes_in_the_colours_of_its_shares() {
        let rows = vec![row("up", "a to b", &[0.05, 0.08, 0.97]), row("up", "a to c", &[f32::NAN])];
        let svg = draw_heat(&map(rows), Size::Wide, "m");
        let strokes = |step: usize| {
            let paint = format!("stroke=\"var(--u{step})\"");
            let path = svg
                .split("<path ")
                .find(|path| path.contains(&paint) && path.contains("stroke-width=\"14\""));
            path.map_or(0, |path| path.matches('M').count())
        };
        assert_eq!((0..10).map(strokes).collect::<Vec<_>>(), [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert!(svg.contains("a to b: mean 37 %, most 97 %") && svg.contains(">a fails</text>"));
    }

    /// Names stand beside a few rows; hundreds are thin, and keep their names for the pointer.
    #[test]
    fn hundreds_of_rows_are_thin() {
        let named = |count: usize| {
            let rows = (0..count).map(|i| row("up", &format!("link {i}"), &[0.5])).collect();
            draw_heat(&map(rows), Size::Narrow, "m")
        };
        assert_eq!(named(5).matches(">link 1</text>").count(), 1, "beside the row");
        let many = named(200);
        assert_eq!(many.matches(">link 1</text>").count(), 0);
        assert!(many.contains("link 199: mean 50 %"));
        let height = many.split("viewBox=\"0 0 430 ").nth(1).unwrap().split('"').next().unwrap();
        assert!(height.parse::<f64>().unwrap() < 600.0, "{height}");
    }

    /// Labels of neighbours take a line each, and the rows begin below both.
    #[test]
    fn rows_begin_below_the_labels() {
        let mark = |at, label: &str| Mark { at, label: label.into() };
        let top = |marks: &[Mark]| {
            let map = HeatMap { marks: marks.to_vec(), ..map(vec![row("up", "a", &[])]) };
            Layout::of(&map, 430.0).tops[0]
        };
        let (fails, back) = (mark(1.0, "agg-3 core-2 fails"), mark(1.2, "agg-3 core-2 is back"));
        assert_eq!(top(&[]), 24.0);
        assert_eq!(top(std::slice::from_ref(&fails)), 36.0);
        assert_eq!(top(&[fails, back]), 51.0);
    }

    #[test]
    fn groups_stand_apart() {
        let rows = vec![row("up", "a", &[]), row("up", "b", &[]), row("down", "c", &[])];
        let layout = Layout::of(&map(rows), 860.0);
        assert_eq!(layout.tops, [36.0, 50.0, 82.0]);
        assert!(draw_heat(&map(Vec::new()), Size::Wide, "m").ends_with("</svg>"));
    }
}
