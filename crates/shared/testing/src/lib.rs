//! Requirements of tests: root, etcd, installed programs, programs of other packages, drivers of the
//! kernel.
//!
//! A test whose requirement is missing fails, and the failure names the package to install. A test
//! is skipped only if an environment variable requests it ([`Need::variable`]), and each skip
//! writes one line to standard error:
//!
//! ```text
//! test skipped: joins_reach_their_backend: HEDDLE_WITHOUT_ROOT=1
//! ```
//!
//! Exceptions are needs that no package can meet ([`skip_because`]): BMv2's programs, and
//! drivers that its kernel was built without ([`Driver`]).
//!
//! The line is visible without `--nocapture`, and `tools/tally.py` counts it.

mod built;
mod driver;
mod need;
mod program;
mod skip;

pub use built::require_built;
pub use driver::Driver;
pub use need::Need;
pub use program::require_program;
pub use skip::{skip_because, skip_without};
