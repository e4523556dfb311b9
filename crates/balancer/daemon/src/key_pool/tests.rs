use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use heddle_balancer_maps::Error;
use heddle_balancer_maps::abi::AssignedKey;
use heddle_balancer_maps::maps::Pushed;
use heddle_wire::{Key, Version};

use super::*;

const ROOM: usize = 4096;

/// A queue that a test can look into.
#[derive(Clone, Default)]
struct TestQueue(Arc<Mutex<Vec<AssignedKey>>>);

impl TestQueue {
    fn keys(&self) -> std::sync::MutexGuard<'_, Vec<AssignedKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue for TestQueue {
    fn push(&mut self, key: &AssignedKey) -> Result<Pushed, Error> {
        let mut keys = self.keys();
        if keys.len() == ROOM {
            return Ok(Pushed::Full);
        }
        keys.push(*key);
        Ok(Pushed::Queued)
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.keys().clear();
        Ok(())
    }
}

/// Part `own` of `all` equal ones, each of every `all`th slot of the ring.
fn part(own: u32, all: u32) -> Owns {
    Box::new(move |token| (token >> 20) % all == own)
}

fn system(owns: Owns) -> Generator {
    Generator::new(Version::V1, Box::new(getrandom::fill), owns)
}

/// RomanRoads, section III-C: "the average number of tries to generate a valid key is roughly equal
/// to the number of LBs". Their sum has a variance of keys * n * (n - 1).
#[test]
fn n_balancers_need_n_tries() {
    for (version, balancers) in
        [1, 2, 4, 8].map(|n| (Version::V1, n)).into_iter().chain([(Version::V0, 4)])
    {
        let random = Box::new(getrandom::fill);
        let mut generator = Generator::new(version, random, part(0, balancers));
        let mut queue = TestQueue::default();
        generator.fill(&mut queue).unwrap();
        assert_eq!((queue.keys().len(), generator.made()), (ROOM, ROOM as u64));
        let (keys, n) = (ROOM as f64, f64::from(balancers));
        let off = (generator.tried() as f64 - keys * n).abs();
        assert!(off <= 1.0 + 5.0 * (keys * n * (n - 1.0)).sqrt(), "{balancers}: {off}");
        for key in queue.keys().iter() {
            assert_eq!(version.token(Key(key.key)).0, key.token);
            assert_eq!((key.token >> 20) % balancers, 0);
        }
    }
}

#[test]
fn a_full_queue_costs_nothing_and_is_filled_from_where_it_was() {
    let (mut generator, mut queue) = (system(part(0, 2)), TestQueue::default());
    generator.fill(&mut queue).unwrap();
    let tried = generator.tried();
    generator.fill(&mut queue).unwrap();
    assert_eq!(generator.tried(), tried);
    queue.keys().pop();
    generator.fill(&mut queue).unwrap();
    assert_eq!((queue.keys().len(), generator.made()), (ROOM, ROOM as u64 + 1));
}

#[test]
fn a_change_of_the_ring_leaves_no_key_of_the_old_one() {
    let (mut generator, mut queue) = (system(part(0, 2)), TestQueue::default());
    generator.fill(&mut queue).unwrap();
    generator.set_ring(part(1, 2), &mut queue).unwrap();
    assert_eq!(queue.keys().len(), 0);
    generator.fill(&mut queue).unwrap();
    assert!(queue.keys().iter().all(|key| (key.token >> 20) % 2 == 1));
}

/// 1024 times 64 keys.
#[test]
fn who_owns_nothing_gives_up() {
    let (mut generator, mut queue) = (system(Box::new(|_| false)), TestQueue::default());
    generator.fill(&mut queue).unwrap();
    assert_eq!((generator.made(), generator.tried()), (0, 65_536));
}

#[test]
fn without_randomness_there_is_no_key() {
    let none = Box::new(|_: &mut [u8]| Err(getrandom::Error::UNSUPPORTED));
    let (mut generator, mut queue) =
        (Generator::new(Version::V1, none, part(0, 1)), TestQueue::default());
    assert!(matches!(generator.fill(&mut queue), Err(KeyError::Random(_))));
    assert_eq!(queue.keys().len(), 0);
}

fn eventually(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(300));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_thread_keeps_the_queue_full() {
    let queue = TestQueue::default();
    let keys = KeyPool::start(Version::V1, queue.clone(), part(0, 2)).unwrap();
    let is_full = || queue.keys().len() == ROOM;
    eventually(is_full);
    queue.keys().truncate(100);
    eventually(is_full);
    keys.set_ring(part(1, 2));
    eventually(|| is_full() && queue.keys().iter().all(|key| (key.token >> 20) % 2 == 1));
    eventually(|| keys.counts().made >= 3 * ROOM as u64 - 100);
    drop(keys);
    queue.keys().clear();
    std::thread::sleep(3 * PERIOD);
    assert_eq!(queue.keys().len(), 0, "the thread has ended");
}
