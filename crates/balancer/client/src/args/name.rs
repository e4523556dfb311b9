//! Names of the command line.

/// A parser of the name of a service or of a backend that is there.
pub(super) fn name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty: give a name, as `heddle lb backends` lists them".into()),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::Cli;

    #[test]
    fn an_empty_name_is_refused_with_the_way_to_the_names() {
        for line in [
            "drain X",
            "drain be1 --service X",
            "weight X 1",
            "weight be1 1 --service X",
            "backend remove X",
            "backend remove be1 --service X",
            "changes reset X",
            "changes reset be1 --service X",
            "connections --service X",
            "connections --backend X",
            "counters --service X",
        ] {
            let words = |name: &'static str| {
                line.split(' ').map(move |word| if word == "X" { name } else { word })
            };
            let parsed = |name| Cli::try_parse_from(["heddle-lb"].into_iter().chain(words(name)));
            assert!(parsed("a").is_ok(), "{line}");
            let refused = parsed("").unwrap_err().to_string();
            assert!(refused.contains("give a name, as `heddle lb backends`"), "{line}: {refused}");
        }
    }
}
