//! Named variants: overrides under a name, which a sweep compares.
//!
//! Switches and hosts choose their schemes by keys of their own; a variant sets as many keys as a
//! scheme takes. Variants are tables `[[variant]]` of a file, or come from a command line or a
//! program.

use heddle_config::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ScenarioError, Source, raw};

/// The key of variants in a file, and of their axis in a sweep.
pub const VARIANT: &str = "variant";

/// Overrides under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Its name in tables and plots.
    pub name: String,
    /// Dotted keys and values, as in [`Source::overrides`]; a table precedes its keys.
    pub settings: Vec<(String, String)>,
}

impl Variant {
    /// A variant with these settings, in any order.
    ///
    /// # Errors
    /// Without a name or a setting, or with two settings of one key.
    pub fn new(name: &str, settings: Vec<(String, String)>) -> Result<Variant, ScenarioError> {
        Ok(new(name, settings, &ON_LINE)?)
    }

    /// Parses `NAME=KEY=VALUE,KEY=VALUE`; commas as in [`split`].
    ///
    /// ```
    /// let reps = heddle_scenario::Variant::parse("reps=scheme=ecmp,entropy=reps")?;
    /// assert_eq!((reps.name.as_str(), reps.settings[1].1.as_str()), ("reps", "reps"));
    /// # Ok::<(), heddle_scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Variant::new`], and of a setting without a value.
    pub fn parse(text: &str) -> Result<Variant, ScenarioError> {
        let (name, settings) = text.split_once('=').unwrap_or((text, ""));
        let pair = |part: &String| match part.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(Problem::new(format!("variant {name}: `{part}` sets no value"))
                .help("write KEY=VALUE; a value with commas stands in quotes, brackets or braces")),
        };
        let settings = split(settings);
        let settings = settings.iter().filter(|part| !part.is_empty()).map(pair);
        Ok(new(name, settings.collect::<Result<_, _>>()?, &ON_LINE)?)
    }
}

/// The error of a scenario with the settings of a variant: it names the variant.
#[must_use]
pub fn within_variant(error: ScenarioError, name: &str) -> ScenarioError {
    error.within(&format!("{VARIANT} {name}"))
}

/// The same of a variant that a table of the file may be: a setting that stands there has its key and
/// line there.
#[must_use]
pub fn within_table(error: ScenarioError, source: &Source, variant: &Variant) -> ScenarioError {
    match in_table(&error, source, variant) {
        Some(located) => located,
        None => within_variant(error, &variant.name),
    }
}

fn in_table(error: &ScenarioError, source: &Source, variant: &Variant) -> Option<ScenarioError> {
    let at = variants(source).ok()?.iter().position(|of_file| of_file == variant)?;
    let key = error.key();
    let is_below = |key: &str, table: &str| {
        key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_set = |(of_variant, _): &(String, String)| is_below(key, of_variant);
    if !variant.settings.iter().any(is_set) {
        return None;
    }
    let message = format!("in {VARIANT} {}: {}", variant.name, error.message());
    let problem = Problem::at(&format!("{VARIANT}.{at}.{key}"), message);
    let problem = match error.help() {
        Some(help) => problem.help(help),
        None => problem,
    };
    Some(crate::document(source).ok()?.locate(problem))
}

/// Parts of a text between commas; commas inside brackets, braces or quotes do not separate.
pub fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quote) = (vec![String::new()], 0u32, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some(c),
            // An apostrophe inside a word quotes nothing.
            (None, '\'') if !parts.last().is_some_and(|part| ends_in_word(part)) => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            (None, _) => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

fn ends_in_word(part: &str) -> bool {
    part.ends_with(char::is_alphanumeric)
}

/// The fixes of a variant that lacks something, in the form in which it is given.
struct Fixes {
    name: &'static str,
    settings: &'static str,
}

/// On a command line.
const ON_LINE: Fixes = Fixes {
    name: "write NAME=KEY=VALUE,..",
    settings: "give it a key, of the file's own value if need be: NAME=scheme=ecmp",
};

/// In a file.
const IN_FILE: Fixes = Fixes {
    name: "name = \"reps\"",
    settings: "give it a key below its name, of the file's own value if need be: scheme = \"ecmp\"",
};

fn new(name: &str, mut settings: Vec<(String, String)>, fixes: &Fixes) -> Result<Variant, Problem> {
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(Problem::new("a variant has no name").help(fixes.name));
    }
    if settings.is_empty() {
        return Err(Problem::new(format!("variant {name} sets nothing")).help(fixes.settings));
    }
    // A table would replace its keys.
    settings.sort_by_key(|(key, _)| key.split('.').count());
    for (at, (key, _)) in settings.iter().enumerate() {
        if settings[..at].iter().any(|(other, _)| other == key) {
            return Err(Problem::new(format!("variant {name} sets {key} twice"))
                .help("leave one of both values"));
        }
    }
    Ok(Variant { name, settings })
}

/// The variants of a file, in order. The rest of it need not be complete: a variant may give what
/// it lacks.
///
/// # Errors
/// If the source does not parse, or a variant of it is wrong.
pub fn variants(source: &Source) -> Result<Vec<Variant>, ScenarioError> {
    /// The part of a file that is read.
    #[derive(Deserialize)]
    struct Tables {
        #[serde(default)]
        variant: Vec<raw::Variant>,
    }
    let document = crate::document(source)?;
    let tables: Tables = document.read()?;
    of_tables(&tables.variant).map_err(|problem| document.locate(problem))
}

/// The variants of a file's tables.
pub(crate) fn of_tables(tables: &[raw::Variant]) -> Result<Vec<Variant>, Problem> {
    let mut variants = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("{VARIANT}.{at}"));
        variants.push(of_table(table).map_err(inside)?);
        check_names(&variants).map_err(inside)?;
    }
    Ok(variants)
}

fn of_table(table: &raw::Variant) -> Result<Variant, Problem> {
    let Some(Value::String(name)) = table.get("name") else {
        return Err(Problem::at("name", "a text is expected").help(IN_FILE.name));
    };
    let mut settings = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| *key != "name") {
        flatten(key, value, &mut settings);
    }
    new(name, settings, &IN_FILE)
}

/// The overrides of a key: keys of a table are set one by one, unless its `kind` makes it another.
fn flatten(key: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(table) if !table.is_empty() && !table.contains_key("kind") => {
            table.iter().for_each(|(step, value)| flatten(&format!("{key}.{step}"), value, into));
        }
        value => into.push((key.to_owned(), toml(value))),
    }
}

/// A value as TOML in one line. Texts are JSON's, which TOML reads alike.
fn toml(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", list(items.iter().map(toml).collect())),
        Value::Object(table) => {
            let is_bare = |key: &str| !key.is_empty() && key.chars().all(is_bare);
            let pair = |(key, value): (&String, &Value)| match is_bare(key) {
                true => format!("{key} = {}", toml(value)),
                false => format!("{} = {}", Value::from(key.as_str()), toml(value)),
            };
            format!("{{ {} }}", list(table.iter().map(pair).collect()))
        }
        other => other.to_string(),
    }
}

/// True for what a TOML key without quotes is made of.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Checks the variants of a sweep over some keys.
///
/// # Errors
/// Of variants with one name, of a variant whose setting a swept key replaces, of a key that is
/// swept twice, and of [`VARIANT`] as a key.
pub fn check_variants(variants: &[Variant], swept: &[&str]) -> Result<(), ScenarioError> {
    check_names(variants)?;
    for (at, axis) in swept.iter().enumerate() {
        if swept[..at].contains(axis) {
            return Err(Problem::new(format!("{axis} is swept twice"))
                .help(format!("give all of its values at once: {axis}=V1,V2"))
                .into());
        }
        if *axis == VARIANT {
            return Err(Problem::new("`variant` is no key with values to try")
                .help("variants are an axis of their own: choose them by their names")
                .into());
        }
        let replaced = |key: &str| key == *axis || key.starts_with(&format!("{axis}."));
        for Variant { name, settings } in variants {
            if let Some((key, _)) = settings.iter().find(|(key, _)| replaced(key)) {
                let message = format!("variant {name} sets {key}, and {axis} is swept as well");
                let help = format!("leave {axis} to the variants, or {key} out of them");
                return Err(Problem::new(message).help(help).into());
            }
        }
    }
    Ok(())
}

/// Checks the values of a swept key.
///
/// # Errors
/// Of a value that is given twice.
pub fn check_values(key: &str, values: &[String]) -> Result<(), ScenarioError> {
    let again = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
    match again {
        None => Ok(()),
        Some((_, value)) => Err(Problem::new(format!("{key} has the value {value} twice"))
            .help("leave one out: each value makes a row of its own")
            .into()),
    }
}

fn check_names(variants: &[Variant]) -> Result<(), Problem> {
    for (at, Variant { name, .. }) in variants.iter().enumerate() {
        if variants[..at].iter().any(|other| other.name == *name) {
            return Err(Problem::new(format!("two variants are called {name}"))
                .help("names tell rows and curves apart: rename one"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variant: &Variant) -> Vec<String> {
        variant.settings.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// The message and the fix of an error, as a terminal shows them.
    fn said<T: std::fmt::Debug>(result: Result<T, ScenarioError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn commas_inside_values_do_not_separate() {
        assert_eq!(split("[1, 2],{ a = \"x,y\" }, z"), ["[1, 2]", "{ a = \"x,y\" }", "z"]);
        assert_eq!(split("{ a = 'x}, y' },Bob's,z"), ["{ a = 'x}, y' }", "Bob's", "z"]);
    }

    #[test]
    fn a_text_is_a_name_and_settings_of_which_tables_come_first() {
        let text = "gap = scheme.flowlet_gap=50us, scheme = { kind = \"hula\", x = 1 },";
        let variant = Variant::parse(text).unwrap();
        assert_eq!(variant.name, "gap");
        let expected = ["scheme={ kind = \"hula\", x = 1 }", "scheme.flowlet_gap=50us"];
        assert_eq!(settings(&variant), expected);
    }

    #[test]
    fn a_table_of_a_file_sets_keys_unless_its_kind_makes_it_another() {
        let text = r#"
            [[variant]]
            name = "reps"
            scheme = "ecmp"
            transport.pacing = true
            measure = { flows = 20, size_classes = ["1KB"] }
            [[variant]]
            name = "hula"
            scheme = { kind = "hula", flowlet_gap = "50us" }
        "#;
        let variants = variants(&Source::new("a.toml", text)).unwrap();
        let expected = [
            "scheme=\"ecmp\"",
            "measure.flows=20",
            "measure.size_classes=[\"1KB\"]",
            "transport.pacing=true",
        ];
        assert_eq!(settings(&variants[0]), expected);
        let hula = "scheme={ flowlet_gap = \"50us\", kind = \"hula\" }";
        assert_eq!(
            (variants[1].name.as_str(), settings(&variants[1])),
            ("hula", vec![hula.into()])
        );
    }

    #[test]
    fn a_variant_of_a_file_that_is_wrong_is_refused_with_its_line() {
        let error = |text: &str| said(variants(&Source::new("a.toml", text)));
        let help = "help: name = \"reps\"";
        assert_eq!(
            error("[[variant]]\nscheme = \"ecmp\""),
            format!("a.toml:1: variant.0.name: a text is expected\n{help}")
        );
        let twice =
            "[[variant]]\nname = \"a\"\nseeds = [1]\n[[variant]]\nname = \"a\"\nseeds = [2]";
        assert_eq!(
            error(twice),
            "a.toml:4: variant.1: two variants are called a\nhelp: names tell rows and curves apart: rename one"
        );
        let nothing = error("[[variant]]\nname = \"a\"");
        assert!(nothing.starts_with("a.toml:1: variant.0: variant a sets nothing\n"), "{nothing}");
        assert!(nothing.ends_with("if need be: scheme = \"ecmp\""), "{nothing}");
        let nameless = error("[[variant]]\nname = \"\"\nseeds = [1]");
        assert_eq!(nameless, format!("a.toml:1: variant.0: a variant has no name\n{help}"));
    }

    #[test]
    fn a_wrong_setting_of_a_variant_of_a_file_has_its_key_and_line_there() {
        let text = "[[variant]]\nname = \"a\"\nseeds = [1]\nscheme.kind = \"hula\"\nscheme.x = 1\n";
        let source = Source::new("a.toml", text);
        let variant = variants(&source).unwrap().remove(0);
        let error = |key: &str| ScenarioError::from(Problem::at(key, "wrong").help("fix"));
        let within = |key: &str| within_table(error(key), &source, &variant).to_string();
        assert_eq!(
            within("scheme.x"),
            "a.toml:5: variant.0.scheme.x: in variant a: wrong\nhelp: fix"
        );
        assert_eq!(
            within("seeds.0"),
            "a.toml:3: variant.0.seeds.0: in variant a: wrong\nhelp: fix"
        );
        assert_eq!(within("workload"), "workload: in variant a: wrong\nhelp: fix");
        let other = Variant { name: "b".to_owned(), ..variant.clone() };
        let other = within_table(error("scheme.x"), &source, &other).to_string();
        assert_eq!(other, "scheme.x: in variant b: wrong\nhelp: fix");
    }

    #[test]
    fn a_variant_that_sets_nothing_or_a_key_twice_is_refused() {
        let error = |text: &str| said(Variant::parse(text));
        assert!(error("reps").starts_with("variant reps sets nothing\nhelp: give it a key"));
        assert!(error("=scheme=ecmp").starts_with("a variant has no name\n"));
        assert!(error("a=scheme=ecmp,scheme=hula").starts_with("variant a sets scheme twice\n"));
        assert!(error("a=scheme=ecmp,hula").starts_with("variant a: `hula` sets no value\n"));
    }

    /// A swept key below one of a variant refines it: `scheme.k` of the variant's scheme.
    #[test]
    fn a_variant_sets_nothing_that_a_swept_key_replaces() {
        let gap = [Variant::parse("gap=scheme.flowlet_gap=50us").unwrap()];
        assert_eq!(
            said(check_variants(&gap, &["workload.load", "scheme"])),
            "variant gap sets scheme.flowlet_gap, and scheme is swept as well\n\
             help: leave scheme to the variants, or scheme.flowlet_gap out of them"
        );
        assert!(check_variants(&gap, &["scheme.flowlet_gap"]).is_err());
        let hula = [Variant::parse("hula=scheme=hula").unwrap()];
        assert_eq!(check_variants(&hula, &["scheme.flowlet_gap", "schemes"]), Ok(()));
        assert!(said(check_variants(&[], &["variant"])).contains("an axis of their own"));
        let twins = [hula[0].clone(), hula[0].clone()];
        assert!(said(check_variants(&twins, &[])).starts_with("two variants are called hula"));
    }
}
