//! Keys made ahead, as long as some service wants them (`mptcp = "assign"`).

use heddle_balancer_maps::abi::NO_TARGET;
use heddle_balancer_maps::maps::ReadyKeys;
use heddle_hashing::hash::ring_slot_of_token;
use heddle_wire::Version;

use crate::config::Config;
use crate::key_pool::KeyPool;
use crate::service::MptcpMode;

/// The queues of keys for each version of MPTCP, and the threads that fill them.
pub(super) struct KeySupply {
    /// Until the threads have them.
    queues: Option<[ReadyKeys; 2]>,
    threads: Vec<KeyPool>,
    /// The ring that the keys in the queue are for.
    ring: Vec<u16>,
}

impl KeySupply {
    /// With the queues of versions 0 and 1.
    pub(super) fn new(queues: [ReadyKeys; 2]) -> KeySupply {
        KeySupply { queues: Some(queues), threads: Vec::new(), ring: Vec::new() }
    }

    /// Starts with the first service that wants keys, and begins anew with each ring. Starts
    /// threads: not before privileges are given up.
    pub(super) fn follow(&mut self, config: &Config, ring: &[u16]) {
        let wanted = config.services.iter().any(|service| service.mptcp == MptcpMode::Assign);
        if self.ring != ring {
            self.threads.iter().for_each(|thread| thread.set_ring(owns(ring)));
        }
        ring.clone_into(&mut self.ring);
        if !wanted {
            return;
        }
        let Some(queues) = self.queues.take() else { return };
        for (version, queue) in [Version::V0, Version::V1].into_iter().zip(queues) {
            match KeyPool::start(version, queue, owns(ring)) {
                Ok(thread) => self.threads.push(thread),
                Err(error) => {
                    tracing::warn!(%error, "no keys are made ahead; they are made on demand");
                }
            }
        }
    }
}

/// A function that is true of this balancer's own tokens.
fn owns(ring: &[u16]) -> Box<dyn Fn(u32) -> bool + Send> {
    let ring = ring.to_vec();
    Box::new(move |token| {
        let owner = ring.get(ring_slot_of_token(token));
        owner.is_none_or(|&owner| u32::from(owner) == NO_TARGET)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_owned_by_its_slot_and_alone_by_nobody_else() {
        let mut ring = vec![3; heddle_hashing::RING_SIZE];
        ring[ring_slot_of_token(0x1234_5678)] = NO_TARGET as u16;
        assert!(owns(&ring)(0x1234_5678) && !owns(&ring)(0xffff_0000));
        assert!(owns(&[])(0xffff_0000));
    }
}
