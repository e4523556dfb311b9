//! Width of text, estimated without fonts: good enough to place labels, never to cut glyphs.

/// The width of `text` in pixels, in a sans serif of `size` pixels (Helvetica's widths, by class).
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// `text` in lines of at most `limit` pixels, broken at spaces; a longer word keeps a line of its
/// own.
pub(crate) fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `text`, its end replaced by an ellipsis if it is wider than `limit` pixels.
pub(crate) fn fit(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut used = width("…", size);
    let kept = text.chars().take_while(|&c| {
        used += em(c) * size;
        used <= limit
    });
    kept.collect::<String>() + "…"
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 0.22,
        ' ' | '.' | ',' | ':' | ';' | '!' | 'I' | 'f' | 't' | '/' => 0.28,
        '(' | ')' | '[' | ']' | 'r' | '-' | '·' => 0.33,
        'm' | 'M' | 'W' | '%' | '@' | '…' => 0.88,
        'w' | 'A'..='Z' => 0.70,
        '⁰'..='ₜ' | '¹' | '²' | '³' => 0.36,
        '\u{2e80}'.. => 1.0,
        _ => 0.556,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_near_those_of_helvetica() {
        // Sums of the AFM widths: 0.722 + 0.722 + 0.833 + 0.667 and 7 * 0.556 + 0.278.
        assert!((width("ECMP", 10.0) - 29.4).abs() < 1.0);
        assert!((width("1234.567", 10.0) - 41.7).abs() < 0.5);
    }

    #[test]
    fn lines_break_at_spaces() {
        let lines = wrap("mean flow completion time", 10.0, 90.0);
        assert_eq!(lines, ["mean flow", "completion time"]);
        assert_eq!(wrap("unbreakable", 10.0, 5.0), ["unbreakable"]);
        assert!(wrap("", 10.0, 50.0).is_empty());
    }

    #[test]
    fn long_names_end_in_an_ellipsis() {
        assert_eq!(fit("HULA", 10.0, 100.0), "HULA");
        let short = fit("MPTCP over ECMP, eight subflows", 10.0, 80.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 80.0, "{short}");
    }
}
