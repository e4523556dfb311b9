//! Requirements of tests: root, etcd, installed programs, programs of other packages.
//!
//! A test whose requirement is missing fails, and the failure names the package to install. A test
//! is skipped only if an environment variable requests it ([`Need::variable`]), and each skip
//! writes one line to standard error:
//!
//! ```text
//! test skipped: joins_reach_their_backend: HEDDLE_WITHOUT_ROOT=1
//! ```
//!
//! Programs that no distribution's package has are the exception ([`skip_because`]): BMv2's.
//!
//! The line is visible without `--nocapture`, and `tools/tally.py` counts it.

mod built;
mod need;
mod program;
mod skip;

pub use built::require_built;
pub use need::Need;
pub use program::require_program;
pub use skip::{skip_because, skip_without};
