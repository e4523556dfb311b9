//! Names of services, backends and balancers.

use heddle_config::Problem;

/// Refuses a name that is empty, or that has characters which a terminal obeys instead of printing.
pub(super) fn check_name(key: &str, name: &str) -> Result<(), Problem> {
    if name.is_empty() {
        return Err(Problem::at(key, "it is empty"));
    }
    if name.chars().any(char::is_control) {
        let message = format!("`{}` has a character that cannot be printed", name.escape_debug());
        return Err(Problem::at(key, message).help("printable characters"));
    }
    Ok(())
}
