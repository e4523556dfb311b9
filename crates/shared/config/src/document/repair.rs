//! All mistakes of a file, not the first alone: what is wrong is taken out of the tree, and the rest
//! is read again.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::node::{Node, Value};
use super::overrides::parse_value;
use super::{Document, Origin};
use crate::error::{ConfigError, Problem};

/// The most mistakes that are looked for.
const MOST: usize = 100;

/// A file that may have mistakes.
#[derive(Debug)]
pub struct Examined<C> {
    /// The part of the file without mistakes.
    pub sound: Option<C>,
    /// The mistakes, in the order of their lines.
    pub mistakes: Vec<ConfigError>,
    /// False: there may be more, which cannot be told before these are corrected.
    pub complete: bool,
    /// The items of lists that the sound part lacks.
    pub gone: Gone,
}

/// The items of lists that were taken out of a file, by their keys there.
#[derive(Clone, Debug, Default)]
pub struct Gone(BTreeSet<Vec<String>>);

impl Gone {
    /// The key in the file of a key of what is left, whose lists may be shorter; both dotted.
    #[must_use]
    pub fn key_in_file(&self, key: &str) -> String {
        let key: Vec<String> = key.split('.').map(str::to_owned).collect();
        self.original(&key).join(".")
    }

    fn original(&self, key: &[String]) -> Vec<String> {
        let mut original = Vec::with_capacity(key.len());
        for step in key {
            let mut step = step.clone();
            if let Ok(wanted) = step.parse::<usize>() {
                let is_there = |number: &usize| {
                    let item = original.iter().cloned().chain([number.to_string()]);
                    !self.0.contains(&item.collect::<Vec<String>>())
                };
                let number = (0..).filter(is_there).nth(wanted);
                step = number.map_or(step, |number| number.to_string());
            }
            original.push(step);
        }
        original
    }
}

impl Document {
    /// Reads the whole file as a `T` and resolves that, and finds its mistakes: each is taken out,
    /// with what depends on it, before the rest is read again. `fallbacks` are values, as TOML, for
    /// keys that have to be there, as `("server.*.name", "\"server *\"")`: `*` is any step of a
    /// key, and in a value the number of the item that the key is in.
    ///
    /// ```
    /// # use heddle_config::{Document, Problem};
    /// #[derive(serde::Deserialize)]
    /// #[serde(deny_unknown_fields)]
    /// struct File {
    ///     port: u16,
    ///     #[serde(default)]
    ///     user: String,
    /// }
    /// let resolve = |file: &File| match file.port {
    ///     0 => Err(Problem::at("port", "0 is not a port number")),
    ///     _ => Ok(()),
    /// };
    /// let document = Document::parse("a.toml", "usr = \"x\"\nport = 0").unwrap();
    /// let lines: Vec<_> = document.examine(&[("port", "1")], resolve).mistakes.iter().map(|m| m.line()).collect();
    /// assert_eq!(lines, [Some(1), Some(2)]);
    /// ```
    pub fn examine<T: DeserializeOwned, C>(
        self,
        fallbacks: &[(&str, &str)],
        resolve: impl Fn(&T) -> Result<C, Problem>,
    ) -> Examined<C> {
        let mut repair = Repair { document: self, fallbacks, ..Repair::default() };
        for _ in 0..MOST {
            let read = T::deserialize(&repair.document.root).and_then(|file| resolve(&file));
            let problem = match read {
                Ok(sound) => return repair.end(Some(sound)),
                Err(problem) => problem,
            };
            if !repair.take_out(problem) {
                break;
            }
        }
        repair.end(None)
    }
}

/// A document whose mistakes are taken out one by one.
struct Repair<'a> {
    document: Document,
    fallbacks: &'a [(&'a str, &'a str)],
    mistakes: Vec<ConfigError>,
    /// The keys whose values are gone or others than the file's, as the file has them.
    changed: BTreeSet<Vec<String>>,
    gone: Gone,
}

impl Default for Repair<'_> {
    fn default() -> Self {
        let root = Node { value: Value::Table(Default::default()), origin: Origin::File };
        Repair {
            document: Document { name: String::new(), root },
            fallbacks: &[],
            mistakes: Vec::new(),
            changed: BTreeSet::new(),
            gone: Gone::default(),
        }
    }
}

impl Repair<'_> {
    fn end<C>(mut self, sound: Option<C>) -> Examined<C> {
        self.mistakes.sort_by_key(ConfigError::line);
        let Repair { mistakes, gone, .. } = self;
        Examined { complete: sound.is_some(), sound, mistakes, gone }
    }

    /// Notes a problem, unless it comes of what was taken out before, and takes out what causes it.
    /// False if nothing can be.
    fn take_out(&mut self, problem: Problem) -> bool {
        let (key, meant) = (problem.key().to_vec(), problem.nearest());
        let original = self.gone.original(&key);
        if !self.follows(&original, &problem) {
            let error = self.document.locate(problem);
            self.mistakes.push(error.with_key(original.join(".")));
        }
        if meant.is_some_and(|(name, meant)| self.replace_name(&key, &name, &meant)) {
            return true;
        }
        let fallback = self.fallbacks.iter().find(|(pattern, _)| matches(&key, pattern));
        if let Some((_, value)) = fallback
            && self.changed.insert(original.clone())
        {
            // What was taken out of the value before is no part of the one in its place.
            self.gone.0.retain(|gone| !gone.starts_with(&original));
            let value = parse_value(&numbered(value, &original), Origin::File);
            return super::overrides::set(&mut self.document.root, &key.join("."), value).is_ok();
        }
        self.remove(&key)
    }

    /// True if a problem is one of a value that was changed, or that depends on one, or says that
    /// it is missing.
    fn follows(&self, key: &[String], problem: &Problem) -> bool {
        let message = problem.to_string();
        let is_missing = |changed: &Vec<String>| {
            let (Some(last), above) = (changed.last(), &changed[..changed.len().saturating_sub(1)])
            else {
                return false;
            };
            above == key && message.contains(&format!("`{last}`"))
        };
        let causes: Vec<_> =
            problem.causes().iter().map(|cause| self.gone.original(cause)).collect();
        let is_cause = |one: &Vec<String>| causes.iter().any(|cause| meets(one, cause));
        self.changed.iter().any(|changed| key.starts_with(changed) || is_missing(changed))
            || self.changed.iter().chain(&self.gone.0).any(is_cause)
    }

    /// Writes a key, or a value, as it was meant.
    fn replace_name(&mut self, key: &[String], name: &str, meant: &str) -> bool {
        let Some((last, above)) = key.split_last() else { return false };
        let Some(node) = find(&mut self.document.root, above) else { return false };
        let Value::Table(entries) = &mut node.value else { return false };
        if last == name && !entries.contains_key(meant) {
            let value = entries.remove(last);
            return value.is_some_and(|value| entries.insert(meant.into(), value).is_none());
        }
        match entries.get_mut(last).map(|node| &mut node.value) {
            Some(Value::String(text)) if text == name => {
                *text = meant.to_owned();
                self.changed.insert(self.gone.original(key))
            }
            _ => false,
        }
    }

    /// Removes the value of a key, or what is nearest around it.
    fn remove(&mut self, key: &[String]) -> bool {
        for length in (1..=key.len()).rev() {
            let (path, original) = (&key[..length], self.gone.original(&key[..length]));
            let Some((last, above)) = path.split_last() else { return false };
            let Some(node) = find(&mut self.document.root, above) else { continue };
            match &mut node.value {
                Value::Table(entries) => {
                    if entries.remove(last).is_some() {
                        self.changed.insert(original);
                        return true;
                    }
                }
                Value::Array(items) => {
                    let Some(index) = last.parse().ok().filter(|index| *index < items.len()) else {
                        continue;
                    };
                    items.remove(index);
                    self.gone.0.insert(original);
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

/// True if a key is one of a pattern's.
fn matches(key: &[String], pattern: &str) -> bool {
    let same = |(step, wanted): (&String, &str)| wanted == "*" || step == wanted;
    pattern.split('.').count() == key.len() && key.iter().zip(pattern.split('.')).all(same)
}

/// True if a key is a pattern's, or is in what the pattern's are in, or has them in it.
fn meets(key: &[String], pattern: &[String]) -> bool {
    key.iter().zip(pattern).all(|(step, wanted)| wanted == "*" || step == wanted)
}

/// A fallback with the number of the item that its key is in, in place of `*`.
fn numbered(value: &str, key: &[String]) -> String {
    let number = key.iter().rev().find(|step| step.parse::<usize>().is_ok());
    number.map_or_else(|| value.to_owned(), |number| value.replace('*', number))
}

fn find<'a>(root: &'a mut Node, key: &[String]) -> Option<&'a mut Node> {
    key.iter().try_fold(root, |node, step| match &mut node.value {
        Value::Table(entries) => entries.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        name: String,
        #[serde(default)]
        item: Vec<Item>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        port: u16,
        #[serde(default)]
        weight: u16,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Tcp,
        Udp,
    }

    fn resolve(file: &File) -> Result<usize, Problem> {
        if file.name.is_empty() {
            return Err(Problem::at("name", "it is empty"));
        }
        for (number, item) in file.item.iter().enumerate() {
            let at =
                |key: &str, message: &str| Problem::at(&format!("item.{number}.{key}"), message);
            if item.weight > 9 {
                return Err(at("weight", "too much"));
            }
            if item.port == 0 {
                return Err(at("port", "0 is not a port number"));
            }
            if matches!(item.kind, Some(Kind::Udp)) && item.weight == 1 {
                return Err(at("kind", "UDP has another weight"));
            }
        }
        Ok(file.item.len())
    }

    /// Line and key of each mistake, and what is left: the number of items.
    fn mistakes(text: &str) -> (Vec<(usize, String)>, Option<usize>) {
        let document = Document::parse("a.toml", text).unwrap();
        let examined = document.examine(&[("name", "\"x\"")], resolve);
        assert_eq!(examined.complete, examined.sound.is_some());
        let place = |error: &ConfigError| (error.line().unwrap_or(0), error.key().to_owned());
        (examined.mistakes.iter().map(place).collect(), examined.sound)
    }

    #[test]
    fn a_sound_file_has_none() {
        assert_eq!(mistakes("name = \"x\"\n[[item]]\nport = 1"), (vec![], Some(1)));
    }

    #[test]
    fn every_mistake_is_told_once_with_its_line() {
        let text = "nmae = \"\"\n[[item]]\nprot = 0\nweight = \"x\"\n[[item]]\nport = 0\nweight = 77\n\
                    [[item]]\nport = 1\ncolour = 3\nkind = \"upd\"\n[[item]]\nweight = 1\n";
        let wanted = [
            (1, "name"), // what was meant by line 1, which is empty
            (1, "nmae"),
            (3, "item.0.port"),
            (3, "item.0.prot"),
            (4, "item.0.weight"),
            (6, "item.1.port"),
            (7, "item.1.weight"),
            (10, "item.2.colour"),
            (11, "item.2.kind"),
            (12, "item.3.port"),
        ];
        let (mut found, left) = mistakes(text);
        found.sort();
        assert_eq!(found, wanted.map(|(line, key)| (line, key.to_owned())));
        assert_eq!(left, Some(1), "the third item alone is sound");
    }
}
