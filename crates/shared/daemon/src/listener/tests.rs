#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::*;

const DEADLINE: Duration = Duration::from_secs(10);

/// Gives out results in order, then nothing any more.
struct Script(Mutex<VecDeque<io::Result<u32>>>);

impl Script {
    fn of(results: impl IntoIterator<Item = io::Result<u32>>) -> Script {
        Script(Mutex::new(results.into_iter().collect()))
    }
}

impl Listener for Script {
    type Stream = u32;

    async fn accept(&self) -> io::Result<(u32, Source)> {
        let next = self.0.lock().unwrap().pop_front();
        match next {
            Some(result) => result.map(|number| (number, Source::LOCAL)),
            None => std::future::pending().await,
        }
    }
}

fn no_descriptors() -> io::Result<u32> {
    Err(io::Error::other("too many open files"))
}

/// 100 ms, 200 ms, and after a success 100 ms again.
#[tokio::test(start_paused = true)]
async fn the_delay_doubles_and_a_success_resets_it() {
    let script = [no_descriptors(), no_descriptors(), Ok(1), no_descriptors(), Ok(2)];
    let mut incoming = Incoming::new(Script::of(script), 8);
    let start = Instant::now();
    let (first, _one) = incoming.next().await;
    assert_eq!((first, start.elapsed()), (1, Duration::from_millis(300)));
    let (second, _two) = incoming.next().await;
    assert_eq!((second, start.elapsed()), (2, Duration::from_millis(400)));
}

#[tokio::test(start_paused = true)]
async fn the_delay_has_an_upper_bound() {
    let failures = (0..6).map(|_| no_descriptors());
    let mut incoming = Incoming::new(Script::of(failures.chain([Ok(1)])), 8);
    let start = Instant::now();
    incoming.next().await;
    assert_eq!(start.elapsed(), Duration::from_millis(100 + 200 + 400 + 800 + 1600 + 1600));
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_nothing_is_accepted_until_a_place_is_dropped() {
    let mut incoming = Incoming::new(Script::of([Ok(1), Ok(2), Ok(3)]), 2);
    let (_, first) = incoming.next().await;
    let (_, _second) = incoming.next().await;
    assert!(timeout(DEADLINE, incoming.next()).await.is_err());
    drop(first);
    assert_eq!(timeout(DEADLINE, incoming.next()).await.unwrap().0, 3);
}

#[tokio::test]
async fn a_stop_closes_the_listener_and_waits_for_the_handlers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(
        Incoming::new(listener, 4),
        async move { drop(stopped.await) },
        |mut stream: TcpStream, _place| async move {
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            stream.write_all(&byte).await.unwrap();
        },
    ));
    let mut client = TcpStream::connect(address).await.unwrap();
    let mut other = TcpStream::connect(address).await.unwrap();
    other.write_all(b"y").await.unwrap();
    assert_eq!(timeout(DEADLINE, other.read_u8()).await.unwrap().unwrap(), b'y');
    drop(stop);
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!server.is_finished(), "one handler has its request still to come");
    client.write_all(b"x").await.unwrap();
    assert_eq!(timeout(DEADLINE, client.read_u8()).await.unwrap().unwrap(), b'x');
    timeout(DEADLINE, server).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handler_that_panics_leaves_the_others_alone() {
    let (stop, stopped) = oneshot::channel::<()>();
    let (to, mut handled) = tokio::sync::mpsc::channel(4);
    let server = tokio::spawn(serve(
        Incoming::new(Script::of([Ok(1), Ok(2), Ok(3)]), 1),
        async move { drop(stopped.await) },
        move |number, place| {
            let to = to.clone();
            async move {
                let _place = place;
                assert!(number != 2, "the second connection's handler panics");
                to.send(number).await.unwrap();
            }
        },
    ));
    for wanted in [1, 3] {
        assert_eq!(timeout(DEADLINE, handled.recv()).await.unwrap(), Some(wanted));
    }
    drop(stop);
    timeout(DEADLINE, server).await.unwrap().unwrap();
}
