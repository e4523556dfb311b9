//! One plot as one SVG element.

use super::axes::draw_axes;
use super::ink::{Colours, Ink, Medium};
use super::layout::{AxisLayout, FONT, Layout, Size, TITLE_FONT};
use super::legend::draw_legend;
use super::marks::Curve;
use super::notes::{draw_annotations, draw_no_data, has_data};
use super::svg::{Svg, escape, px};
use crate::model::{Plot, Scale};

/// Options of drawing a plot.
pub(crate) struct View<'a> {
    /// The scale of the y axis.
    pub scale: Scale,
    pub size: Size,
    pub medium: Medium,
    /// The stem of all ids inside, unique in the page.
    pub id: &'a str,
}

/// Draws a plot. Page drawings carry what the script needs to read values off them.
pub(crate) fn draw_plot(plot: &Plot, colours: &Colours, view: &View) -> String {
    let layout = Layout::new(plot, view.scale, view.size);
    let mut svg = Svg::new(view.medium);
    let stem = format!("{}-{}-{}", slug(view.id), view.size.name(), view.scale.name());
    svg.raw(&opening(&layout, view, &stem));
    draw_head(&mut svg, plot, &layout, &stem);
    draw_axes(&mut svg, &layout);
    let curves: Vec<Curve> =
        plot.series.iter().map(|s| Curve::new(plot, s, colours, &layout)).collect();
    curves.iter().for_each(|curve| curve.draw(&mut svg, &format!("{stem}-clip")));
    draw_annotations(&mut svg, plot, &layout);
    if !has_data(plot, &layout) {
        draw_no_data(&mut svg, &layout);
    }
    draw_legend(&mut svg, &curves, &layout);
    svg.raw("</svg>");
    svg.finish()
}

fn opening(layout: &Layout, view: &View, stem: &str) -> String {
    let (width, height, head) = (layout.width, layout.height, layout.head);
    let common = format!(
        r#"role="img" aria-labelledby="{stem}-title {stem}-desc" font-size="{FONT}" font-family="Helvetica,Arial,'Liberation Sans',sans-serif""#
    );
    match view.medium {
        Medium::File => format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 -{head} {w} {h}" {common}><rect y="-{head}" width="{w}" height="{h}" fill="{page}"/>"#,
            w = px(width),
            h = px(height + head),
            head = px(head),
            page = Medium::File.paint(Ink::Page),
        ),
        Medium::Page => format!(
            r#"<svg class="{size} {scale}" viewBox="0 0 {w} {h}" data-head="{head}" data-x="{x}" data-y="{y}" data-name="{name}" {common}>"#,
            size = view.size.name(),
            scale = view.scale.name(),
            w = px(width),
            h = px(height),
            head = px(head),
            x = mapping(&layout.x),
            y = mapping(&layout.y),
            name = escape(&slug(view.id)),
        ),
    }
}

/// `scale position position value value`: all that is needed to map back.
fn mapping(axis: &AxisLayout) -> String {
    let (map, (from, to)) = (axis.map, axis.map.positions);
    let (low, high) = (map.values.low, map.values.high);
    format!("{} {} {} {low:e} {high:e}", map.scale.name(), px(from), px(to))
}

/// Title and description for machines, the title above y = 0 for files, and the clip path.
fn draw_head(svg: &mut Svg, plot: &Plot, layout: &Layout, stem: &str) {
    let (title, about) = (escape(&plot.title), escape(&description(plot, layout)));
    svg.raw(&format!(
        r#"<title id="{stem}-title">{title}</title><desc id="{stem}-desc">{about}</desc>"#
    ));
    let frame = layout.frame;
    let (x, y) = (px(frame.left), px(frame.top - 1.0));
    let (w, h) = (px(frame.right - frame.left), px(frame.bottom - frame.top + 2.0));
    svg.raw(&format!(
        r#"<clipPath id="{stem}-clip"><rect x="{x}" y="{y}" width="{w}" height="{h}"/></clipPath>"#
    ));
    let ink = svg.paint(Ink::Text);
    let style = format!(r#" font-size="{TITLE_FONT}" font-weight="600" fill="{ink}""#);
    for (line, text) in layout.title.iter().enumerate() {
        svg.text((4.0, layout.title_baseline(line)), &style, text);
    }
}

/// Description of a plot in words.
fn description(plot: &Plot, layout: &Layout) -> String {
    let names: Vec<&str> = plot.series.iter().map(|s| s.name.as_str()).collect();
    format!(
        "{}; {}; series: {}.",
        ends("Horizontal axis", &layout.x),
        ends("vertical axis", &layout.y),
        names.join(", ")
    )
}

fn ends(which: &str, axis: &AxisLayout) -> String {
    let AxisLayout { text, map, .. } = axis;
    match (text.labels.first(), text.labels.last()) {
        (Some(first), Some(last)) => {
            format!("{which}: {}, {}, from {first} to {last}", text.title, map.scale.name())
        }
        _ => format!("{which}: {}", text.title),
    }
}

/// An id of letters, digits, '-' and '_' only, and not empty: all else becomes '-'.
pub(crate) fn slug(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let id: String = id.chars().map(safe).collect();
    if id.is_empty() { "part".into() } else { id }
}
