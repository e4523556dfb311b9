//! The HTML page: loads nothing, escapes everything, is the same every time.

use heddle_report::{
    Axis, Block, Cell, FabricMap, HeatMap, HeatRow, Link, Mark, Node, Plot, Report, Run, Section,
    Series, Status, Table, Unit,
};

/// Text that would break out of a tag, an attribute, a script or a style.
const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;{{";

/// A report with every kind of block, all of whose texts are `text`.
fn report(text: &str) -> Report {
    let axis = || Axis::new(text, Unit::plain(text));
    let plot = Plot::new(text, text, axis(), axis().log())
        .caption(text)
        .series(Series::line(text, [(1.0, 1.0, 0.5, 2.0), (2.0, 20.0, 10.0, 30.0)]))
        .series(Series::step("other", [(1.0, 2.0), (2.0, f64::NAN)]).coloured_as(text))
        .vertical(1.5, text)
        .horizontal(3.0, text);
    let node = |tier| Node { name: text.into(), tier, x: None };
    let map = FabricMap {
        id: text.into(),
        title: text.into(),
        caption: text.into(),
        tiers: vec![text.into(), text.into()],
        nodes: vec![node(0), node(1), node(usize::MAX)],
        links: vec![Link { a: 0, b: 1, name: text.into(), rate: text.into() }],
        times: vec![0.0, 1e-3],
        marks: vec![Mark { at: 1e-3, label: text.into() }],
        runs: vec![Run { name: text.into(), frames: vec![vec![[0.1, 0.9]]] }],
    };
    let heat = HeatMap {
        id: text.into(),
        title: text.into(),
        caption: text.into(),
        times: vec![1e-3],
        marks: vec![Mark { at: 1e-3, label: text.into() }],
        rows: vec![HeatRow { group: text.into(), name: text.into(), shares: vec![0.5] }],
    };
    let table = Table::new([text]).caption(text).row([Cell::badge(text, Status::Warn)]);
    Report::new(text)
        .subtitle(text)
        .fact(text, text)
        .section(
            Section::new(text, text)
                .block(text)
                .block(table)
                .block(Block::pair(plot.clone(), plot))
                .block(map)
                .block(heat),
        )
        .section(Section::new(text, text))
}

/// The page itself, in a report without any text.
fn count(html: &str, what: &str) -> usize {
    html.matches(what).count()
}

#[test]
fn hostile_text_stays_text() {
    let (hostile, tame) = (report(HOSTILE).to_html(), report("tame").to_html());
    for opening in ["<script", "</script", "<img", "<svg", "<style", "</style", "<g ", "<td"] {
        assert_eq!(count(&hostile, opening), count(&tame, opening), "{opening}");
    }
    assert!(hostile.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

#[test]
fn nothing_is_loaded() {
    let html = report("tame").to_html();
    for address in ["http://", "https://", "@import", "url(//", "src=", "<link", "<iframe"] {
        assert_eq!(count(&html, address), 0, "{address}");
    }
    assert!(html.contains("default-src 'none'"));
    // All that is referred to is in the page.
    assert_eq!(count(&html, "url("), count(&html, "url(#"));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(report("tame").to_html(), report("tame").to_html());
}

#[test]
fn ids_are_unique() {
    let html = report("tame").to_html();
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    assert!(all >= 6, "{ids:?}");
}

#[test]
fn references_find_their_ids() {
    let html = report("tame").to_html();
    let targets = html.split("url(#").skip(1).filter_map(|rest| rest.split(')').next());
    let anchors = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
    for id in targets.chain(anchors) {
        assert!(html.contains(&format!(" id=\"{id}\"")), "{id}");
    }
}

#[test]
fn an_empty_report_is_a_page_under_a_hundred_kilobytes() {
    let html = Report::new("Empty").to_html();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.len() < 100_000, "{}", html.len());
}

#[test]
fn the_other_scale_is_drawn_too_where_it_is_offered() {
    let axis = |label| Axis::new(label, Unit::None);
    let page = |plot| Report::new("r").section(Section::new("s", "s").block(plot)).to_html();
    let plot = Plot::new("p", "p", axis("x"), axis("y"));
    let decade = page(plot.clone().series(Series::line("a", [(1.0, 1.0), (2.0, 10.0)])));
    let narrow = page(plot.series(Series::line("a", [(1.0, 1.0), (2.0, 9.0)])));
    let drawn = |html: &str, class| count(html, &format!("<svg class=\"{class}\""));
    let classes = ["wide linear", "narrow linear", "wide log", "narrow log"];
    assert_eq!(classes.map(|class| drawn(&decade, class)), [1, 1, 1, 1]);
    assert_eq!(classes.map(|class| drawn(&narrow, class)), [1, 1, 0, 0]);
    assert_eq!((count(&decade, "data-do=\"scale\""), count(&narrow, "data-do=\"scale\"")), (1, 0));
}
