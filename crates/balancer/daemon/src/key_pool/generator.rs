//! Making keys: random bytes in, keys in the queue.

use heddle_balancer_maps::abi::AssignedKey;
use heddle_balancer_maps::maps::{Pushed, ReadyKeys};
use heddle_wire::{Key, Version};

/// Random bytes asked for at once.
const BYTES: usize = 512;
/// Bytes of a key.
const KEY: usize = 8;
/// The reads of random bytes after which [`Generator::fill`] returns: a balancer that owns next to
/// nothing must not work for ever.
const ROUNDS: usize = 1024;

/// A function that is true of this balancer's own tokens.
pub type Owns = Box<dyn Fn(u32) -> bool + Send>;
/// Fills a slice with bytes from a cryptographic random generator.
pub type Random = Box<dyn FnMut(&mut [u8]) -> Result<(), getrandom::Error> + Send>;

/// The queue in which keys wait for connections.
pub trait Queue: Send {
    /// Adds a key, if there is room.
    ///
    /// # Errors
    /// If the kernel would not.
    fn push(&mut self, key: &AssignedKey) -> Result<Pushed, heddle_balancer_maps::Error>;

    /// Takes all keys out.
    ///
    /// # Errors
    /// If the kernel would not.
    fn clear(&mut self) -> Result<(), heddle_balancer_maps::Error>;
}

impl Queue for ReadyKeys {
    fn push(&mut self, key: &AssignedKey) -> Result<Pushed, heddle_balancer_maps::Error> {
        ReadyKeys::push(self, key)
    }

    fn clear(&mut self) -> Result<(), heddle_balancer_maps::Error> {
        ReadyKeys::clear(self)
    }
}

/// The reasons for a missing key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No randomness.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// The queue.
    #[error(transparent)]
    Queue(#[from] heddle_balancer_maps::Error),
}

/// Makes keys and fills a queue with them.
pub struct Generator {
    version: Version,
    random: Random,
    owns: Owns,
    /// Found, but the queue was full.
    spare: Option<AssignedKey>,
    made: u64,
    tried: u64,
}

impl Generator {
    /// Makes keys of what `random` gives, whose tokens in this version of MPTCP `owns` says yes to.
    pub fn new(version: Version, random: Random, owns: Owns) -> Generator {
        Generator { version, random, owns, spare: None, made: 0, tried: 0 }
    }

    /// Empties the queue; from now on `owns` decides.
    ///
    /// # Errors
    /// [`KeyError::Queue`].
    pub fn set_ring(&mut self, owns: Owns, queue: &mut impl Queue) -> Result<(), KeyError> {
        self.owns = owns;
        self.spare = None;
        Ok(queue.clear()?)
    }

    /// Fills the queue, or stops after some ten thousand tries.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn fill(&mut self, queue: &mut impl Queue) -> Result<(), KeyError> {
        if let Some(spare) = self.spare.take()
            && self.push(spare, queue)? == Pushed::Full
        {
            return Ok(());
        }
        for _ in 0..ROUNDS {
            if self.round(queue)? == Pushed::Full {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Keys in the queue, or taken from there.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Random bytes that were looked at for them.
    pub fn tried(&self) -> u64 {
        self.tried
    }

    fn round(&mut self, queue: &mut impl Queue) -> Result<Pushed, KeyError> {
        let mut bytes = [0; BYTES];
        (self.random)(&mut bytes).map_err(KeyError::Random)?;
        for key in bytes.as_chunks::<KEY>().0 {
            self.tried += 1;
            let token = self.version.token(Key(*key)).0;
            // 0 stands for no token.
            if token == 0 || !(self.owns)(token) {
                continue;
            }
            let key = AssignedKey { key: *key, token, seen: 0 };
            if self.push(key, queue)? == Pushed::Full {
                return Ok(Pushed::Full);
            }
        }
        Ok(Pushed::Queued)
    }

    fn push(&mut self, key: AssignedKey, queue: &mut impl Queue) -> Result<Pushed, KeyError> {
        let pushed = queue.push(&key)?;
        match pushed {
            Pushed::Queued => self.made += 1,
            Pushed::Full => self.spare = Some(key),
        }
        Ok(pushed)
    }
}
