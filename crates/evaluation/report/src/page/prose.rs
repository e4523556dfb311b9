//! Prose: paragraphs, `**bold**`, `` `code` `` and `[links](#to-anchors)`. Anything else is text.

use crate::draw::{escape, slug};

/// Paragraphs parted by blank lines.
pub(crate) fn paragraphs(text: &str) -> String {
    let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines().map(str::trim) {
        match (line, paragraphs.last_mut()) {
            ("", _) => paragraphs.push(Vec::new()),
            (line, Some(paragraph)) => paragraph.push(line),
            (_, None) => {}
        }
    }
    let full = paragraphs.iter().filter(|lines| !lines.is_empty());
    full.map(|lines| format!("<p>{}</p>\n", inline(&lines.join("\n")))).collect()
}

/// Markup inside a line.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['*', '`', '[']) {
        let (before, mark) = rest.split_at(start);
        out.push_str(&escape(before));
        match bold(mark).or_else(|| code(mark)).or_else(|| link(mark)) {
            Some((markup, after)) => {
                out.push_str(&markup);
                rest = after;
            }
            None => {
                out.push_str(&mark[..1]);
                rest = &mark[1..];
            }
        }
    }
    out + &escape(rest)
}

fn bold(text: &str) -> Option<(String, &str)> {
    let (inside, after) = between(text, "**", "**")?;
    Some((format!("<strong>{}</strong>", inline(inside)), after))
}

fn code(text: &str) -> Option<(String, &str)> {
    let (inside, after) = between(text, "`", "`")?;
    Some((format!("<code>{}</code>", escape(inside)), after))
}

/// Only links inside the page: a report must not lead a browser elsewhere by itself.
fn link(text: &str) -> Option<(String, &str)> {
    let (name, after) = between(text, "[", "]")?;
    let (target, after) = between(after, "(#", ")")?;
    Some((format!("<a href=\"#{}\">{}</a>", slug(target), inline(name)), after))
}

/// Text between two marks at the start of `text`, and the rest; `None` if it is empty.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close).filter(|(inside, _)| !inside.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_part_at_blank_lines() {
        let html = paragraphs("one\ntwo\n\n  \n three \n");
        assert_eq!(html, "<p>one\ntwo</p>\n<p>three</p>\n");
        assert_eq!(paragraphs(" \n"), "");
    }

    #[test]
    fn marks_become_markup() {
        assert_eq!(inline("a **b `c`** d"), "a <strong>b <code>c</code></strong> d");
        assert_eq!(inline("see [Fig. 5](#fct 5)"), "see <a href=\"#fct-5\">Fig. 5</a>");
        assert_eq!(inline("`a**b**<c>`"), "<code>a**b**&lt;c&gt;</code>");
    }

    #[test]
    fn anything_else_is_text() {
        for text in ["2 * 3 * 4", "**", "****", "`", "[x]", "[x](y)", "**open", "é*[`ü"] {
            assert_eq!(inline(text), escape(text), "{text}");
        }
        assert_eq!(inline("[x](javascript:y)<&"), "[x](javascript:y)&lt;&amp;");
    }
}
