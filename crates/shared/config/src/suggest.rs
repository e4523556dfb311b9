//! Suggestions for misspelt names: "did you mean ...?".
//!
//! The one such function of the project. It is part of this crate because most names that are
//! misspelt are those of configuration files, and every crate that looks up names (the path
//! encoder, heddled) depends on this one already; it needs only `strsim`.

/// Jaro-Winkler similarity above which one name is taken for a misspelling of another.
const SIMILAR: f64 = 0.8;

/// Longest list of known names in a suggestion.
const MOST_LISTED: usize = 20;

/// The name of `known` that is most similar to `name`, if it is similar enough for `name` to be a
/// misspelling of it; capital letters are as small ones. Of equally similar ones, the last.
///
/// ```
/// assert_eq!(heddle_config::nearest("laod", ["sizes", "load"]), Some("load"));
/// assert_eq!(heddle_config::nearest("L2", ["l2", "ipip"]), Some("l2"));
/// assert_eq!(heddle_config::nearest("xyz", ["sizes", "load"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let small = name.to_lowercase();
    let similarity = |other: &str| strsim::jaro_winkler(&small, &other.to_lowercase());
    let similarities = known.into_iter().map(|other| (similarity(other), other));
    let (similarity, best) = similarities.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (similarity > SIMILAR).then_some(best)
}

/// A sentence with the [`nearest`] of `known`, or else with all of them (the first 20). `None` if
/// none is known.
///
/// ```
/// let suggestion = heddle_config::suggest("laod", &["sizes", "load"]);
/// assert_eq!(suggestion.as_deref(), Some("did you mean `load`?"));
/// ```
pub fn suggest<S: AsRef<str>>(name: &str, known: &[S]) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    if let Some(best) = nearest(name, known.iter().map(AsRef::as_ref)) {
        return Some(format!("did you mean `{best}`?"));
    }
    let listed = known.iter().take(MOST_LISTED);
    let list: Vec<String> = listed.map(|name| format!("`{}`", name.as_ref())).collect();
    let more = if known.len() > MOST_LISTED { ", ..." } else { "" };
    Some(format!("known here: {}{more}", list.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggestion_is_the_nearest_name_or_the_list() {
        assert_eq!(suggest("laod", &["load", "sizes"]).unwrap(), "did you mean `load`?");
        assert_eq!(suggest("xyz", &["load", "sizes"]).unwrap(), "known here: `load`, `sizes`");
        assert_eq!(suggest::<&str>("xyz", &[]), None);
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (0..30).map(|number| format!("n{number}")).collect();
        let text = suggest("xyz", &names).unwrap();
        assert!(text.ends_with("`n19`, ..."), "{text}");
    }
}
