//! A TOML text that knows where its keys stand.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Problem, advice};

/// A parsed file.
pub(super) struct Document<'a> {
    name: &'a str,
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(name: &'a str, text: &'a str) -> Result<Document<'a>, ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError {
            file: name.to_owned(),
            line: error.span().map(|span| line(text, span.start)),
            problem: Problem::new(one_line(error.message())),
        };
        let root = DeTable::parse(text).map_err(wrong)?;
        Ok(Document { name, text, root })
    }

    /// Reads the whole file as a `T`.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        let deserializer = toml::de::Deserializer::from(self.root.clone());
        T::deserialize(deserializer).map_err(|error| self.mistyped(&error))
    }

    /// Gives a problem the line of its key, or of the nearest thing around it.
    pub(super) fn locate(&self, problem: Problem) -> ConfigError {
        let line = offset(self.root.get_ref(), &problem.key).map(|at| line(self.text, at));
        ConfigError { file: self.name.to_owned(), line, problem }
    }

    fn mistyped(&self, error: &toml::de::Error) -> ConfigError {
        let span = error.span();
        let key = span.as_ref().map(|span| path(self.root.get_ref(), span)).unwrap_or_default();
        let message = one_line(error.message());
        let help = meant(&message);
        let message = message.split(", expected one of").next().unwrap_or_default().to_owned();
        // A table without a key that it needs is at fault where it begins; the file as a whole is so nowhere.
        let line = span.filter(|_| !key.is_empty()).map(|span| line(self.text, span.start));
        ConfigError { file: self.name.to_owned(), line, problem: Problem { key, message, help } }
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

/// The line of a byte offset, from 1.
fn line(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count() + 1
}

/// serde says "unknown field `a`, expected one of `b`, `c`" (or "expected `b`"): which of them was meant.
fn meant(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (word, known) = words.split_first()?;
    advice(word, known)
}

/// Where the value of `key` stands, or that of the last table around it that is there.
fn offset(root: &DeTable<'_>, key: &[String]) -> Option<usize> {
    let (first, rest) = key.split_first()?;
    let (name, value) = root.iter().find(|(name, _)| name.get_ref() == first.as_str())?;
    let mut at = name.span().start;
    let mut value = value;
    for step in rest {
        let Some((start, next)) = child(value.get_ref(), step) else { break };
        (at, value) = (start, next);
    }
    Some(at)
}

fn child<'v, 't>(value: &'v DeValue<'t>, step: &str) -> Option<(usize, &'v Spanned<DeValue<'t>>)> {
    match value {
        DeValue::Table(table) => {
            let (name, value) = table.iter().find(|(name, _)| name.get_ref() == step)?;
            Some((name.span().start, value))
        }
        DeValue::Array(items) => {
            let item = items.get(step.parse::<usize>().ok()?)?;
            Some((item.span().start, item))
        }
        _ => None,
    }
}

/// The key whose name or value is at `span`.
fn path(root: &DeTable<'_>, span: &Range<usize>) -> Vec<String> {
    let inside = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    for (name, value) in root {
        let step = name.get_ref().to_string();
        if name.span() == *span {
            return vec![step];
        }
        let below = path_in(value, span);
        if inside(value.span()) || !below.is_empty() {
            return [vec![step], below].concat();
        }
    }
    Vec::new()
}

fn path_in(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Vec<String> {
    match value.get_ref() {
        DeValue::Table(table) => path(table, span),
        DeValue::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(number, item)| {
                let below = path_in(item, span);
                let here = item.span().start <= span.start && span.end <= item.span().end;
                (here || !below.is_empty()).then(|| [vec![number.to_string()], below].concat())
            })
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}
