//! The signal that stops the servers.

use tokio::sync::watch;

/// The sending side: dropping it stops the servers.
#[derive(Debug)]
pub struct Trigger {
    _sender: watch::Sender<()>,
}

/// Received by each server and each connection.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<()>);

/// A signal that is not sent yet.
pub fn shutdown() -> (Trigger, Shutdown) {
    let (sender, receiver) = watch::channel(());
    (Trigger { _sender: sender }, Shutdown(receiver))
}

impl Shutdown {
    /// Returns once the signal is sent.
    pub async fn wait(&mut self) {
        // No value is ever sent: an error means that the trigger was dropped.
        while self.0.changed().await.is_ok() {}
    }
}
