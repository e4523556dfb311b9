//! The reasons why there is no configuration.

use heddle_config::Problem;
use heddle_program::Failure;

/// The reasons why there is no configuration.
pub(super) enum Refused {
    /// A key of the switch's own file.
    Problem(Problem),
    /// Another file.
    Other(Failure),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused::Problem(problem)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused::Other(failure)
    }
}
