//! Reports of the simulator's own errors.

pub(crate) use heddle_program::Failure;
use heddle_program::Report;
use heddle_scenario::ScenarioError;
use heddle_sim::SimError;
use heddle_study::bench::BenchError;
use heddle_study::grid::GridError;
use heddle_study::paper::EvaluationError;

/// The report of a wrong scenario or of an interruption, however deep it is; `None` for other
/// errors.
pub(crate) fn describe(error: &anyhow::Error) -> Option<Report> {
    if let Some(error @ GridError::Interrupted { .. }) = grid(error) {
        let message = format!("{error}; the same command goes on from there");
        return Some(Report::interrupted(&message));
    }
    if let Some(SimError::Interrupted) = simulation(error) {
        return Some(Report::interrupted("interrupted"));
    }
    if let Some(error @ EvaluationError::Interrupted) = error.downcast_ref() {
        return Some(Report::interrupted(&error.to_string()));
    }
    scenario(error).map(heddle_path_files::of_scenario)
}

/// The grid's error, if it is one.
fn grid(error: &anyhow::Error) -> Option<&GridError> {
    match error.downcast_ref() {
        Some(EvaluationError::Grid(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// The simulator's error, if it is one.
fn simulation(error: &anyhow::Error) -> Option<&SimError> {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(BenchError::Sim(error)), _) | (_, Some(EvaluationError::Sim(error))) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// The scenario's error, if it is one.
fn scenario(error: &anyhow::Error) -> Option<&ScenarioError> {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(BenchError::Scenario(error)), _) | (_, Some(EvaluationError::Scenario(error))) => {
            Some(error)
        }
        _ => error.downcast_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_one_wherever_it_is_noticed() {
        let grid = || GridError::Interrupted { done: 2, cells: 4 };
        let failures: [Failure; 6] = [
            grid().into(),
            EvaluationError::Grid(grid()).into(),
            EvaluationError::Interrupted.into(),
            SimError::Interrupted.into(),
            EvaluationError::Sim(SimError::Interrupted).into(),
            BenchError::Sim(SimError::Interrupted).into(),
        ];
        for failure in &failures {
            let report = failure.report(describe);
            assert_eq!((report.code, report.json["error"].as_str()), (130, Some("interrupted")));
        }
        for failure in &failures[..2] {
            assert_eq!(
                failure.report(describe).text,
                "interrupted: 2 of 4 runs are done and kept; the same command goes on from there"
            );
        }
    }
}
