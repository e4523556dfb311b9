//! Names of services, backends and balancers.

use heddle_config::Problem;
use heddle_program::output::is_printable;

/// As long as the name of a host may be: a longer one makes tables and metrics unreadable.
const LONGEST: usize = 253;

/// Refuses a name that is empty, too long, or that has characters which a terminal obeys or hides instead of
/// printing them.
pub(super) fn check_name(key: &str, name: &str) -> Result<(), Problem> {
    if name.is_empty() {
        return Err(Problem::at(key, "it is empty").help("a name of letters and digits"));
    }
    if name.len() > LONGEST {
        let message = format!("it has {} bytes", name.len());
        return Err(Problem::at(key, message).help(format!("a name of {LONGEST} bytes at most")));
    }
    let Some(wrong) = name.chars().find(|character| !is_printable(*character)) else {
        return Ok(());
    };
    let message = format!(
        "`{}` has the character U+{:04X}, which cannot be printed",
        name.escape_debug(),
        u32::from(wrong)
    );
    let without: String = name.chars().filter(|character| is_printable(*character)).collect();
    Err(Problem::at(key, message).help(match without.is_empty() {
        true => "a name of letters and digits".to_owned(),
        false => format!("name = {without:?}, without it"),
    }))
}

#[cfg(test)]
mod tests {
    use heddle_config::ConfigError;

    use super::*;

    #[test]
    fn a_name_has_253_bytes_at_most() {
        assert!(check_name("name", &"a".repeat(253)).is_ok());
        let error = ConfigError::from(check_name("name", &"a".repeat(254)).unwrap_err());
        let told = ("it has 254 bytes", Some("a name of 253 bytes at most"));
        assert_eq!((error.message(), error.help()), told);
    }

    #[test]
    fn invisible_characters_and_those_that_turn_text_are_refused() {
        let error = |name| ConfigError::from(check_name("name", name).unwrap_err());
        let turned = error("be1\u{202e}");
        let told = "`be1\\u{202e}` has the character U+202E, which cannot be printed";
        assert_eq!((turned.message(), turned.help()), (told, Some("name = \"be1\", without it")));
        assert_eq!(error("\u{200b}").help(), Some("a name of letters and digits"));
        assert!(check_name("name", "Bücher 書店").is_ok());
    }
}
