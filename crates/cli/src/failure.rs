//! How commands fail: what is printed, and the exit code.

use std::fmt;

use heddle_path_encoder::PathEncoderError;
use heddle_scenario::ScenarioError;
use heddle_sim::SimError;
use heddle_study::evaluation::ExperimentError;
use heddle_study::grid::GridError;
use heddled::config::ConfigError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A scenario or a fabric file is wrong.
    Scenario(ScenarioError),
    /// The load balancer's configuration is wrong.
    Config(ConfigError),
    /// The command line is wrong in a way that only the files that it names could tell.
    Usage(Advised),
    /// Something else, and what mends it.
    Advised(Advised),
    /// Stopped by the user.
    Interrupted(String),
    /// Anything else.
    Other(anyhow::Error),
}

/// What is wrong and what mends it.
#[derive(Debug)]
pub(crate) struct Advised {
    message: String,
    help: String,
}

impl Advised {
    fn to_json(&self, error: &str) -> serde_json::Value {
        serde_json::json!({ "error": error, "message": self.message, "help": self.help })
    }
}

impl Failure {
    /// Something that went wrong, and what mends it.
    pub(crate) fn advised(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Advised(Advised { message: message.into(), help: help.into() })
    }

    /// A command line that is wrong for the files that it names, and what mends it.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage(Advised { message: message.into(), help: help.into() })
    }

    /// The exit code, as `heddle --help` lists them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Scenario(_) | Failure::Config(_) => 3,
            Failure::Interrupted(_) => 130,
            Failure::Advised(_) | Failure::Other(_) => 1,
        }
    }

    /// The failure as a JSON object, for `--json`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Failure::Scenario(e) => serde_json::json!({
                "error": "scenario", "file": e.file(), "line": e.line(), "key": e.key(),
                "message": e.message(), "help": e.help(),
            }),
            Failure::Config(ConfigError { file, line, problem }) => serde_json::json!({
                "error": "config", "file": file, "line": line, "key": problem.key.join("."),
                "message": problem.message, "help": problem.help,
            }),
            Failure::Usage(advised) => advised.to_json("usage"),
            Failure::Advised(advised) => advised.to_json("failed"),
            Failure::Interrupted(message) => {
                serde_json::json!({ "error": "interrupted", "message": message })
            }
            Failure::Other(error) => {
                serde_json::json!({ "error": "failed", "message": format!("{error:#}") })
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Scenario(error) => write!(f, "error: {error}"),
            Failure::Config(error) => write!(f, "error: {error}"),
            Failure::Usage(Advised { message, help })
            | Failure::Advised(Advised { message, help }) => {
                write!(f, "error: {message}\nhelp: {help}")
            }
            Failure::Interrupted(message) => write!(f, "{message}"),
            Failure::Other(error) => write!(f, "error: {error:#}"),
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        Failure::Scenario(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::Config(error)
    }
}

impl From<GridError> for Failure {
    fn from(error: GridError) -> Failure {
        match error {
            GridError::Interrupted { .. } => {
                Failure::Interrupted(format!("{error}; the same command goes on from there"))
            }
            other => Failure::Other(other.into()),
        }
    }
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Failure {
        match error {
            SimError::Interrupted => Failure::Interrupted("interrupted".into()),
            other => Failure::Other(other.into()),
        }
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        match error {
            ExperimentError::Scenario(error) => error.into(),
            ExperimentError::Fabric(error) => Failure::Other(error.into()),
            ExperimentError::Sim(error) => error.into(),
        }
    }
}

impl From<PathEncoderError> for Failure {
    fn from(error: PathEncoderError) -> Failure {
        Failure::Other(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_one_wherever_it_is_noticed() {
        let grid: Failure = GridError::Interrupted { done: 2, cells: 4 }.into();
        assert_eq!(
            grid.to_string(),
            "interrupted: 2 of 4 runs are done and kept; the same command goes on from there"
        );
        let failures: [Failure; 3] = [
            grid,
            SimError::Interrupted.into(),
            ExperimentError::Sim(SimError::Interrupted).into(),
        ];
        for failure in failures {
            assert_eq!(
                (failure.code(), failure.to_json()["error"].as_str()),
                (130, Some("interrupted"))
            );
        }
    }

    #[test]
    fn what_can_be_mended_says_how() {
        let failure = Failure::usage("--x is missing", "give it");
        assert_eq!(
            (failure.code(), failure.to_string()),
            (2, "error: --x is missing\nhelp: give it".to_owned())
        );
        let json = Failure::advised("k: mode 644", "chmod 600 k").to_json();
        assert_eq!(
            json,
            serde_json::json!({ "error": "failed", "message": "k: mode 644", "help": "chmod 600 k" })
        );
    }

    #[test]
    fn causes_are_told_from_the_outside_in() {
        let error = anyhow::anyhow!("not found").context("a.toml");
        let failure = Failure::from(error);
        assert_eq!(
            (failure.code(), failure.to_string()),
            (1, "error: a.toml: not found".to_owned())
        );
        assert_eq!(failure.to_json()["message"], "a.toml: not found");
    }
}
