//! The Ethernet addresses of the interfaces that the program is attached to, kept up to date.

use std::io;

use heddle_daemon::links::{self, Links};
use tokio::sync::watch;

use crate::mac::Mac;

/// Addresses by the name of the interface. One that has none, or is gone, is missing.
pub type Macs = Links<Mac>;

/// Sends the addresses of `interfaces` whenever one changes, until the receiver is dropped. In the network namespace of the calling
/// thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(interfaces: Vec<String>, to: watch::Sender<Macs>) -> io::Result<()> {
    links::watch(interfaces, links::mac, to).await
}
