//! The page: one HTML file that loads nothing, readable without its script and in print.

mod anchors;
mod fabric;
mod figure;
mod heat;
mod json;
mod prose;
mod table;

use anchors::Anchors;

use crate::draw::{Colours, css_variables, escape};
use crate::model::{Block, Report, Section};

const STYLE: &str = include_str!("../assets/report.css");
/// One module: the later parts use the first.
const SCRIPT: &str = concat!(
    include_str!("../assets/base.js"),
    include_str!("../assets/plot.js"),
    include_str!("../assets/fabric.js"),
    include_str!("../assets/table.js"),
);
/// The browser holds us to the promise that nothing is loaded.
const POLICY: &str =
    "default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline';img-src data: blob:";

impl Report {
    /// The report as one HTML file.
    pub fn to_html(&self) -> String {
        let mut anchors = Anchors::default();
        let ids: Vec<String> = self.sections.iter().map(|s| anchors.claim(&s.id)).collect();
        let mut page = Page { colours: self.colours(), anchors, out: head(self) };
        page.push(&header(self));
        page.push(&contents(self, &ids));
        page.push("<main>");
        self.sections.iter().zip(&ids).for_each(|(section, id)| page.section(section, id));
        page.push(&format!(
            "</main>\n<script type=\"module\">\n{SCRIPT}</script>\n</body>\n</html>\n"
        ));
        page.out
    }
}

/// A page in the making.
struct Page {
    colours: Colours,
    anchors: Anchors,
    out: String,
}

impl Page {
    fn push(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    fn section(&mut self, section: &Section, id: &str) {
        let title = escape(&section.title);
        let anchor = anchor(id);
        self.push(&format!("\n<section id=\"{id}\">\n<h2>{title} {anchor}</h2>\n"));
        section.blocks.iter().for_each(|block| self.block(block));
        self.push("</section>\n");
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.push(&prose::paragraphs(text)),
            Block::Code { title, text } => self.push(&format!(
                "<details class=\"code\"><summary>{}</summary><pre>{}</pre></details>\n",
                escape(title),
                escape(text)
            )),
            Block::Table(table) => self.push(&table::table(table)),
            Block::Plot(plot) => {
                let id = self.anchors.claim(&plot.id);
                self.push(&figure::figure(plot, &self.colours, &id));
            }
            Block::FabricMap(map) => {
                let id = self.anchors.claim(&map.id);
                self.push(&fabric::figure(map, &id));
            }
            Block::HeatMap(map) => {
                let id = self.anchors.claim(&map.id);
                self.push(&heat::figure(map, &id));
            }
            Block::Pair(left, right) => {
                self.push("<div class=\"pair\">\n<div>\n");
                self.block(left);
                self.push("</div>\n<div>\n");
                self.block(right);
                self.push("</div>\n</div>\n");
            }
        }
    }
}

fn head(report: &Report) -> String {
    let title = escape(&report.title);
    let (light, dark) = css_variables();
    // Paper is always light; the reader's choice of theme beats that of the system.
    let themes = format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    );
    let reload = report.reload.map_or_else(String::new, |seconds| {
        format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n")
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         {reload}<title>{title}</title>\n<style>\n{themes}{STYLE}</style>\n</head>\n<body>\n"
    )
}

fn header(report: &Report) -> String {
    let title = escape(&report.title);
    let subtitle = match report.subtitle.as_str() {
        "" => String::new(),
        text => format!("<p class=\"subtitle\">{}</p>\n", prose::inline(text)),
    };
    let fact = |(label, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(label), prose::inline(value))
    };
    let facts: String = report.meta.iter().map(fact).collect();
    let facts =
        if facts.is_empty() { facts } else { format!("<dl class=\"facts\">{facts}</dl>\n") };
    let warning = |text: &String| format!("<p class=\"warning\">{}</p>\n", prose::inline(text));
    let warnings: String = report.warnings.iter().map(warning).collect();
    format!(
        "<header>\n<button type=\"button\" class=\"theme\" hidden>Theme</button>\n\
         <h1>{title}</h1>\n{subtitle}{facts}{warnings}</header>\n"
    )
}

/// The link of a heading to itself, to be copied.
fn anchor(id: &str) -> String {
    format!("<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this part\">#</a>")
}

fn contents(report: &Report, ids: &[String]) -> String {
    let entry = |(section, id): (&Section, &String)| {
        format!("<a href=\"#{id}\">{}</a>", escape(&section.title))
    };
    let entries: String = report.sections.iter().zip(ids).map(entry).collect();
    if report.sections.len() < 2 {
        return String::new();
    }
    format!("<nav aria-label=\"Contents\"><div>{entries}</div></nav>\n")
}
