//! The features of a build: that of `./x demo` leaves out those whose compilation takes long.

use crate::failure::Failure;

/// Refuses what is wanted and not in this build.
pub(crate) fn require(is_wanted: bool, is_built: bool, what: &str) -> Result<(), Failure> {
    match is_wanted && !is_built {
        true => Err(left_out(what)),
        false => Ok(()),
    }
}

/// The refusal of what is not in this build.
pub(crate) fn left_out(what: &str) -> Failure {
    Failure::usage(format!("this build has no {what}"), "./x build makes heddle with all features")
}
