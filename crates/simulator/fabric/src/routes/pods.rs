//! Routes that lead to pods, for paths by an intermediate group of a dragonfly.

use crate::{Fabric, FabricError, Routes};

/// The pods of a fabric's switches, numbered from 0. Switches without a pod count as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods {
    of_switch: Vec<u16>,
    count: u16,
}

impl Pods {
    /// Number of the pod of a switch.
    #[inline]
    pub fn of(&self, switch: u32) -> u16 {
        self.of_switch[switch as usize]
    }

    /// Number of pods.
    pub fn count(&self) -> u16 {
        self.count
    }

    /// Switches of each pod.
    pub(super) fn members(&self) -> impl Iterator<Item = Vec<u32>> {
        (0..self.count).map(|pod| {
            let switches = (0..).zip(&self.of_switch);
            switches.filter(|(_, of)| **of == pod).map(|(switch, _)| switch).collect()
        })
    }
}

impl Fabric {
    /// The pods of its switches.
    ///
    /// # Errors
    /// More ToRs and pods than destinations can be numbered, or than tables can hold.
    pub fn pods(&self) -> Result<Pods, FabricError> {
        let pod = |switch| self.node(self.hosts + switch).pod;
        let mut all: Vec<Option<u16>> = (0..self.switches()).map(pod).collect();
        all.sort_unstable();
        all.dedup();
        // One more number is that of packets whose path is still to be chosen.
        let targets = self.tors as usize + all.len() + 1;
        let (most, pairs) = (usize::from(u16::MAX), u32::MAX as usize);
        if targets > most {
            return Err(FabricError::TooMany(targets, "ToRs and pods", most));
        }
        if targets.saturating_mul(self.switches() as usize) > pairs {
            let count = targets.saturating_mul(self.switches() as usize);
            return Err(FabricError::TooMany(count, "pairs of a switch and a ToR or pod", pairs));
        }
        let number = |switch| all.partition_point(|known| *known < pod(switch)) as u16;
        let of_switch = (0..self.switches()).map(number).collect();
        Ok(Pods { of_switch, count: all.len() as u16 })
    }

    /// As [`Fabric::routes`], with the cheapest paths to any switch of each pod beside those to
    /// ToRs.
    ///
    /// # Errors
    /// A fabric with more than 65536 different sets of next hops.
    pub fn routes_by_pods(
        &self,
        pods: &Pods,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Routes, FabricError> {
        Routes::new(self, Some(pods), is_up)
    }
}
