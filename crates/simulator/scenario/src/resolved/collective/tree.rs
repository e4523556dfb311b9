//! Operations over a binomial tree (Thakur, Rabenseifner and Gropp, IJHPCA 2005): log2 n steps of n =
//! 2^i hosts, of others no more than those of the next power of two.

use super::Collective;
use crate::GraphFlow;

impl Collective {
    /// A reduction to rank 0 over a binomial tree, with the whole vector in each flow. Gives the
    /// flows that reach rank 0.
    pub(super) fn reduce(&self, flows: &mut Vec<GraphFlow>) -> Vec<u32> {
        // Of each rank, the flows to it.
        let mut received: Vec<Vec<u32>> = vec![Vec::new(); self.count() as usize];
        for far in self.distances() {
            for from in (far..self.count()).step_by(2 * far as usize) {
                let after = received[from as usize].clone();
                received[(from - far) as usize].push(flows.len() as u32);
                flows.push(self.flow((from, from - far), self.size, after));
            }
        }
        received.swap_remove(0)
    }

    /// A broadcast from rank 0 over a binomial tree, once the flows `at_root` have arrived. A host
    /// sends to one other at a time.
    pub(super) fn broadcast(&self, at_root: Vec<u32>, flows: &mut Vec<GraphFlow>) {
        // What a rank waits for before it sends on: what reached the root, then each flow that it
        // was sent or has sent.
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.count() as usize];
        before[0] = at_root;
        for &far in self.distances().iter().rev() {
            for from in (0..self.count().saturating_sub(far)).step_by(2 * far as usize) {
                let after = std::mem::take(&mut before[from as usize]);
                let number = flows.len() as u32;
                (before[from as usize], before[(from + far) as usize]) =
                    (vec![number], vec![number]);
                flows.push(self.flow((from, from + far), self.size, after));
            }
        }
    }
}
