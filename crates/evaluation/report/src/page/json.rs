//! Data for the script, inside the page.

use serde::Serialize;

/// A script element that holds JSON. "<" is written as an escape, so that no text ends the element.
pub(crate) fn data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    let json = json.replace('<', "\\u003c");
    format!("<script type=\"application/json\">{json}</script>\n")
}

/// A number with six significant digits, as many as anyone reads off a plot.
pub(crate) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A number of a curve of many points, with the four digits that a pointer can tell apart.
pub(crate) fn shorter(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Base64 (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let quad = |chunk: &[u8]| {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = move |i: usize| char::from(DIGITS[(word >> (18 - 6 * i) & 63) as usize]);
        let filled = chunk.len() + 1;
        (0..4).map(move |i| if i < filled { digit(i) } else { '=' })
    };
    bytes.chunks(3).flat_map(quad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_the_element() {
        let html = data(&"</script><b>");
        assert_eq!(html.matches('<').count(), 2); // the element's own tags
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!([1.0 / 3.0, 123_456_789.0, 0.0].map(short), [0.333333, 123_457_000.0, 0.0]);
        assert_eq!([1.0 / 3.0, 123_456_789.0, 0.0].map(shorter), [0.3333, 123_500_000.0, 0.0]);
    }

    #[test]
    fn base64_as_in_rfc_4648_section_10() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(cases.map(|text| base64(text.as_bytes())), expected);
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
