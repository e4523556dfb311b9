//! Tasks that start again when they fail, with exponential back-off.

use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// The delay after the first failure.
const SHORTEST_DELAY: Duration = Duration::from_millis(100);
/// The longest delay. A run that lasts as long resets the delay.
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// A task under supervision. Dropped, the task ends.
#[derive(Debug)]
pub struct Supervised {
    running: watch::Receiver<bool>,
    _task: JoinSet<()>,
}

impl Supervised {
    /// True while the task runs: it has neither ended nor does it wait to start again.
    pub fn is_running(&self) -> bool {
        *self.running.borrow()
    }

    /// Waits until the task does not run.
    pub async fn ended(&mut self) {
        // An error: the task is gone altogether.
        let _ = self.running.wait_for(|running| !running).await;
    }
}

/// Runs `start`'s future in a task until it returns `Ok`. An error or a panic is logged under
/// `name`, and the task starts again after a delay that doubles from 100 ms to 10 s. Must be called
/// inside a tokio runtime.
pub fn supervise<F, E>(
    name: impl Into<String>,
    start: impl FnMut() -> F + Send + 'static,
) -> Supervised
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: std::fmt::Display + Send + 'static,
{
    let (running, state) = watch::channel(true);
    let mut task = JoinSet::new();
    task.spawn(run(name.into(), start, running));
    Supervised { running: state, _task: task }
}

async fn run<F, E>(name: String, mut start: impl FnMut() -> F, running: watch::Sender<bool>)
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: std::fmt::Display + Send + 'static,
{
    let mut delay = SHORTEST_DELAY;
    loop {
        running.send_replace(true);
        let started = Instant::now();
        let outcome = run_once(start()).await;
        running.send_replace(false);
        let Err(error) = outcome else { return };
        if started.elapsed() >= LONGEST_DELAY {
            delay = SHORTEST_DELAY;
        }
        tracing::error!(task = name, %error, ?delay, "a task has failed and starts again");
        sleep(delay).await;
        delay = (2 * delay).min(LONGEST_DELAY);
    }
}

/// One run, in a task of its own, so that a panic ends nothing else.
async fn run_once<E>(
    future: impl Future<Output = Result<(), E>> + Send + 'static,
) -> Result<(), String>
where
    E: std::fmt::Display + Send + 'static,
{
    let mut task = JoinSet::new();
    task.spawn(future);
    match task.join_next().await {
        Some(Ok(outcome)) => outcome.map_err(|error| error.to_string()),
        Some(Err(panic)) => Err(panic.to_string()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The course of a run.
    enum Run {
        Fails,
        Panics,
        Lasts(Duration),
    }

    /// The times at which the runs of a script start, since the first one. After the script a run
    /// goes on for ever.
    fn starts(script: impl IntoIterator<Item = Run>) -> (Supervised, Arc<Mutex<Vec<Duration>>>) {
        let mut script: VecDeque<Run> = script.into_iter().collect();
        let (begin, times) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let seen = times.clone();
        let task = supervise("test", move || {
            seen.lock().unwrap().push(begin.elapsed());
            let run = script.pop_front();
            async move {
                match run {
                    None => std::future::pending().await,
                    Some(Run::Fails) => Err("it fails"),
                    Some(Run::Panics) => panic!("it panics"),
                    Some(Run::Lasts(time)) => {
                        sleep(time).await;
                        Err("it fails late")
                    }
                }
            }
        });
        (task, times)
    }

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn a_task_that_fails_or_panics_starts_again_after_doubling_delays() {
        let (task, times) = starts([Run::Fails, Run::Panics, Run::Fails]);
        sleep(50 * MS).await;
        assert!(!task.is_running(), "it waits");
        sleep(LONGEST_DELAY).await;
        assert!(task.is_running());
        assert_eq!(*times.lock().unwrap(), [0, 100, 300, 700].map(|ms| ms * MS));
    }

    #[tokio::test(start_paused = true)]
    async fn the_delay_has_an_upper_bound() {
        let (_task, times) = starts((0..10).map(|_| Run::Fails));
        sleep(20 * LONGEST_DELAY).await;
        let times = times.lock().unwrap();
        let delays: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(delays[6], 6400 * MS);
        assert_eq!(delays[7..], [LONGEST_DELAY; 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_run_resets_the_delay() {
        let (_task, times) = starts([Run::Fails, Run::Fails, Run::Lasts(LONGEST_DELAY)]);
        sleep(2 * LONGEST_DELAY).await;
        assert_eq!(*times.lock().unwrap(), [0, 100, 300, 10_400].map(|ms| ms * MS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_returns_ok_has_ended() {
        let task = supervise("test", || async { Ok::<(), String>(()) });
        sleep(LONGEST_DELAY).await;
        assert!(!task.is_running());
    }
}
