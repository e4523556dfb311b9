//! Load on the machine's processors.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Threads that never wait. Dropping it ends them.
#[derive(Debug)]
pub struct BusyProcessors {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyProcessors {
    /// Starts so many threads.
    #[must_use]
    pub fn start(threads: usize) -> BusyProcessors {
        let stop: Arc<AtomicBool> = Arc::default();
        let start = |_| {
            let stop = stop.clone();
            thread::spawn(move || {
                let mut count = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    count = black_box(count).wrapping_add(1);
                }
            })
        };
        let threads = (0..threads).map(start).collect();
        BusyProcessors { stop, threads }
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
