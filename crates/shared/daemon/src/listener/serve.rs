//! A handler for each connection.

use std::future::Future;
use std::pin::pin;

use tokio::task::JoinSet;

use super::{Incoming, Listener, Place};

/// Runs `handler` for each connection in a task of its own, until `stop` is ready; then accepts no
/// more, closes the listening socket and returns when the last handler has. Dropped, it ends all
/// handlers at once: put it under a timeout to limit how long the stop may take. A connection
/// counts against the limits until its handler has dropped its place.
pub async fn serve<L, H, F>(
    mut incoming: Incoming<L>,
    stop: impl Future<Output = ()>,
    mut handler: H,
) where
    L: Listener,
    H: FnMut(L::Stream, Place) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let mut stop = pin!(stop);
    let mut handlers = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut stop => break,
            (stream, place) = incoming.next() => {
                handlers.spawn(handler(stream, place));
            }
            // A panic of a handler affects no other handler.
            Some(_) = handlers.join_next() => {}
        }
    }
    drop(incoming);
    while handlers.join_next().await.is_some() {}
}
