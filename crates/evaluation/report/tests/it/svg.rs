//! Standalone SVG files: well formed whatever the data, complete, and as reviewed.

use heddle_report::{Axis, Plot, Point, Report, Scale, Section, Series, Style, Unit};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn axis(label: &str) -> Axis {
    Axis::new(label, Unit::None)
}

fn groups<'a>(svg: &'a Document, class: &str) -> Vec<Node<'a, 'a>> {
    svg.descendants().filter(|n| n.attribute("class") == Some(class)).collect()
}

/// The first stroke colour inside a group.
fn stroke(group: Node) -> String {
    let mut strokes = group.descendants().filter_map(|n| n.attribute("stroke"));
    strokes.next().unwrap_or_default().to_owned()
}

#[test]
fn a_small_plot_as_reviewed() {
    let load = Axis::new("Load", Unit::plain("%"));
    let time = Axis::new("Mean FCT", Unit::si("s")).log();
    let plot = Plot::new("fct", "FCT by load", load, time)
        .series(Series::line("ECMP", [(20.0, 1e-3, 0.9e-3, 1.1e-3), (60.0, 1e-2, 0.8e-2, 2e-2)]))
        .series(Series::line("HULA", [(20.0, 1e-3), (40.0, 0.0), (60.0, 3e-3)]))
        .series(
            Series::new("HULA (paper)", Style::Dashed, [(20.0, 9e-4), (60.0, 2e-3)])
                .coloured_as("HULA"),
        )
        .horizontal(5e-3, "target");
    insta::assert_snapshot!(plot.to_svg().replace("><", ">\n<"));
}

#[test]
fn points_that_have_no_place_are_left_out() {
    let points = [(1.0, 1.0), (2.0, f64::NAN), (3.0, f64::INFINITY), (4.0, -1.0), (5.0, 10.0)];
    let plot = Plot::new("p", "p", axis("x"), axis("y").log()).series(Series::new(
        "a",
        Style::Markers,
        points,
    ));
    let svg = plot.to_svg();
    let document = Document::parse(&svg).unwrap();
    let markers = groups(&document, "series")[0].descendants().find_map(|n| n.attribute("d"));
    assert_eq!(markers.unwrap_or_default().matches('M').count(), 2);
}

#[test]
fn a_plot_without_points_says_so() {
    let nan = Series::line("a", [(f64::NAN, 1.0)]);
    let negative = Series::line("b", [(1.0, -1.0)]);
    for series in [vec![], vec![nan], vec![negative]] {
        let mut plot = Plot::new("p", "p", axis("x"), axis("y").log());
        plot.series = series;
        assert!(plot.to_svg().contains(">no data</text>"));
    }
}

#[test]
fn a_name_has_one_colour_in_the_whole_report() {
    let line = |name: &str| Series::line(name, [(0.0, 1.0), (1.0, 2.0)]);
    let plot = |id: &str| Plot::new(id, id, axis("x"), axis("y"));
    let report = Report::new("r").section(
        Section::new("s", "s")
            .block(plot("one").series(line("ECMP")).series(line("HULA")))
            .block(plot("two").series(line("HULA")).series(line("paper").coloured_as("ECMP"))),
    );
    let svgs = report.svgs();
    let colours: Vec<Vec<String>> = svgs
        .iter()
        .map(|(_, svg)| {
            groups(&Document::parse(svg).unwrap(), "series").into_iter().map(stroke).collect()
        })
        .collect();
    assert_eq!(svgs.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!((&colours[0][0], &colours[0][1]), (&colours[1][1], &colours[1][0]));
    assert_ne!(colours[0][0], colours[0][1]);
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1e3..1e3_f64,
        Just(0.0),
        Just(f64::MAX),
        Just(f64::MIN),
        Just(5e-324)
    ]
}

fn any_series() -> impl Strategy<Value = Series> {
    let bar = proptest::option::of((any_number(), any_number()));
    let point = (any_number(), any_number(), bar).prop_map(|(x, y, bar)| Point { x, y, bar });
    let style = prop_oneof![
        Just(Style::Line),
        Just(Style::Dashed),
        Just(Style::Step),
        Just(Style::Markers)
    ];
    (".{0,40}", style, proptest::collection::vec(point, 0..40))
        .prop_map(|(name, style, points)| Series::new(name, style, points))
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let unit =
        prop_oneof![Just(Unit::None), ".{0,9}".prop_map(Unit::Si), ".{0,9}".prop_map(Unit::Plain)];
    let scale = prop_oneof![Just(Scale::Linear), Just(Scale::Log)];
    let range = proptest::option::of((any_number(), any_number()));
    (".{0,20}", unit, scale, range).prop_map(|(label, unit, scale, range)| Axis {
        label,
        unit,
        scale,
        range,
    })
}

proptest! {
    #[test]
    fn any_plot_is_well_formed(
        title in ".{0,80}",
        (x, y) in (any_axis(), any_axis()),
        series in proptest::collection::vec(any_series(), 0..9),
        marks in (any_number(), any_number()),
    ) {
        let mut plot = Plot::new(&title, &title, x, y).vertical(marks.0, &title).horizontal(marks.1, "y");
        plot.series = series;
        let svg = plot.to_svg();
        let document = Document::parse(&svg).unwrap();
        let shapes = document.descendants().filter(|n| n.tag_name().name() != "text");
        for value in shapes.flat_map(|n| n.attributes()).filter(|a| ["d", "x", "y", "width"].contains(&a.name())) {
            prop_assert!(!value.value().contains("NaN") && !value.value().contains("inf"), "{}", value.value());
        }
        prop_assert_eq!(svg, plot.to_svg());
    }
}
