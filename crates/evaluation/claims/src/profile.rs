//! Profiles: sets of settings under which a paper's claims are judged.

use serde::Serialize;

/// A set of settings under which a paper's claims are judged, where the paper leaves some open or
/// contradicts itself.
///
/// Settings come from a source. Some were found after results had been seen: the book's chapter on
/// validation lists them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its settings in a phrase.
    pub title: &'static str,
    /// Strength of its evidence.
    pub basis: Basis,
    /// Changes to the scenarios of the default profile.
    pub settings: &'static [Setting],
}

/// Strength of a profile's evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A reading of the paper's text, with this project's choices where it is silent.
    Reading,
    /// The paper's text, or a talk of its authors.
    Text,
    /// Inferred from the tools of the time. The paper does not say it.
    Inference,
}

impl Basis {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Reading => "one reading",
            Basis::Text => "the paper's text",
            Basis::Inference => "inference",
        }
    }
}

/// A setting of a profile.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Dotted key of the scenario file.
    pub key: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Source of the value.
    pub source: &'static str,
}

/// A profile that a paper does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{system} has no profile {name}; there {known}")]
pub struct UnknownProfile {
    /// The name that was asked for.
    pub name: String,
    /// The paper's system.
    pub system: &'static str,
    /// The names that there are, as the end of a sentence.
    pub known: String,
    /// One of them.
    pub example: &'static str,
}

impl Profile {
    /// The one profile of a paper that leaves nothing of weight open.
    pub const ONLY: Profile =
        Profile { name: "default", title: "as published", basis: Basis::Reading, settings: &[] };

    /// The changes as dotted keys and values.
    pub fn changes(&self) -> Vec<(&'static str, &'static str)> {
        self.settings.iter().map(|setting| (setting.key, setting.value)).collect()
    }

    /// The profile of some name among a system's profiles; the first without a name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn find(
        profiles: &'static [Profile],
        name: Option<&str>,
        system: &'static str,
    ) -> Result<&'static Profile, UnknownProfile> {
        let named = |profile: &&Profile| name.is_none_or(|name| profile.name == name);
        profiles.iter().find(named).ok_or_else(|| UnknownProfile {
            name: name.unwrap_or_default().to_owned(),
            system,
            known: known(profiles),
            example: profiles.last().map_or("default", |profile| profile.name),
        })
    }
}

fn known(profiles: &[Profile]) -> String {
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name).collect();
    match names.as_slice() {
        [only] => format!("is {only} alone"),
        several => format!("are {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Profile] = &[
        Profile::ONLY,
        Profile {
            name: "text",
            title: "16 hosts",
            basis: Basis::Text,
            settings: &[Setting { key: "fabric.hosts_per_tor", value: "16", source: "section 3" }],
        },
    ];

    #[test]
    fn a_profile_is_found_by_its_name_and_the_first_without_one() {
        assert_eq!(Profile::find(TWO, None, "X").unwrap().name, "default");
        let text = Profile::find(TWO, Some("text"), "X").unwrap();
        assert_eq!(text.changes(), [("fabric.hosts_per_tor", "16")]);
    }

    #[test]
    fn an_unknown_profile_is_refused_with_those_that_there_are() {
        let refused = |profiles| Profile::find(profiles, Some("y"), "X").unwrap_err().to_string();
        assert_eq!(refused(TWO), "X has no profile y; there are default, text");
        assert_eq!(refused(&TWO[..1]), "X has no profile y; there is default alone");
    }
}
