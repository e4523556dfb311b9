//! SIGHUP, by which other daemons read their configuration again. The agent has none.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// From now on SIGHUP is noted in the log, and no more; until then it ends the process. To be called
/// in a runtime.
///
/// # Errors
/// If the system does not let it be caught.
pub(crate) fn outlive() -> io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            tracing::info!(
                "SIGHUP changes nothing: options are read at the start, restart the agent"
            );
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    /// Without it this process would end.
    #[test]
    fn a_hangup_does_not_end_the_agent() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            super::outlive().unwrap();
            kill_process(getpid(), Signal::HUP).unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        });
    }
}
