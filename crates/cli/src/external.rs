//! Sub-commands that are programs of their own.

use heddle_program::external::External;

/// The balancer's client.
pub(crate) const BALANCER: External = External {
    command: &["lb"],
    program: "heddle-lb",
    subcommand: &[],
    how_to_get: "build it, on Linux: ./x build, or cargo build --release --package heddle-lb; then install it beside heddle or on the PATH",
};

/// Network namespaces: the balancer's demonstration, and scenarios on real kernels.
pub(crate) const LAB: External = External {
    command: &["lab"],
    program: "heddle-lab",
    subcommand: &[],
    how_to_get: "build it, on Linux: ./x build, or cargo build --release --package heddle-lab --package heddle-emulation; then install both beside heddle or on the PATH",
};

/// A host's path manager.
pub(crate) const AGENT: External = External {
    command: &["agent"],
    program: "heddle-agent",
    subcommand: &[],
    how_to_get: "build it, on Linux: ./x build, or cargo build --release --package heddle-agent; then install it beside heddle or on the PATH",
};

/// The path service.
pub(crate) const PATH_SERVICE: External = External {
    command: &["path", "serve"],
    program: "heddle-path-service",
    subcommand: &[],
    how_to_get: "build it: cargo build --release --package heddle-path-service; then install it beside heddle or on the PATH",
};

/// RomanRoads' evaluation. Its options are those of `reproduce`, so that completions need no more.
pub(crate) const ROMANROADS: External = External {
    command: &["reproduce", "romanroads"],
    program: "heddle-romanroads",
    subcommand: &[],
    how_to_get: "build it, on Linux: ./x build, or cargo build --release --package heddle-romanroads; then install it beside heddle or on the PATH",
};

/// The sub-commands that are whole commands of `heddle`.
#[cfg(feature = "generate")]
pub(crate) const ALL: [External; 4] = [AGENT, BALANCER, LAB, PATH_SERVICE];
