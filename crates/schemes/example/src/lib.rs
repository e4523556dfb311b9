//! A scheme outside of the simulator: LetItFlow (Vanini et al., NSDI 2017) as a shared library, to
//! start from.
//!
//! ```sh
//! cargo build --release --package heddle-scheme-example
//! heddle run scenario.toml \
//!     --set 'scheme={ kind = "external", library = "target/release/libheddle_scheme_example.so" }'
//! ```
//!
//! It gives the same runs as the simulator's own `letitflow`, to the bit:
//! `crates/evaluation/study/tests/external.rs` compares them. `c/` has ECMP and HULA in C.
#![allow(unsafe_code, reason = "the name by which the simulator finds the scheme is exported")]

use std::ffi::CStr;

use heddle_policy::{
    Counters, Flowlet, FlowletTable, Header, Nanos, Port, Ports, Scheme, Step, SwitchInfo, mix,
    pick,
};
use heddle_scheme_abi::{Export, Parameters, export_scheme};
use heddle_units::Time;

export_scheme!(RandomFlowlets);

/// A switch that sends each flowlet to a random next hop.
#[derive(Debug)]
pub struct RandomFlowlets {
    salt: u32,
    flowlets: FlowletTable,
}

/// Its parameters.
#[derive(Clone, Debug)]
pub struct Config {
    /// Silence longer than this ends a flowlet.
    pub flowlet_gap: Nanos,
    /// Slots of the flowlet table, rounded up to a power of two.
    pub flowlet_slots: u64,
}

/// Slots of a table that is not too large for a switch.
const MOST_SLOTS: u64 = 1 << 24;

impl Export for RandomFlowlets {
    const NAME: &'static CStr = c"random-flowlets";

    fn configure(parameters: &mut Parameters) -> Result<Config, String> {
        let flowlet_gap = parameters.take("flowlet_gap", 500_000);
        let flowlet_slots = parameters.take("flowlet_slots", 65_536);
        if !(1..=MOST_SLOTS).contains(&flowlet_slots) {
            return Err(format!("flowlet_slots is {flowlet_slots}: 1 to {MOST_SLOTS}"));
        }
        Ok(Config { flowlet_gap, flowlet_slots })
    }
}

impl Scheme for RandomFlowlets {
    type Config = Config;
    const NEEDS_RANDOM: bool = true;

    fn new(config: &Config, info: &SwitchInfo) -> RandomFlowlets {
        let flowlets =
            FlowletTable::new(config.flowlet_slots as u32, Time::nanos(config.flowlet_gap));
        RandomFlowlets { salt: info.salt, flowlets }
    }

    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        _ports: &mut impl Ports,
    ) -> Port {
        let hash = mix(packet.flow_hash, self.salt);
        if let Flowlet::Running(port) = self.flowlets.touch(hash, step.now, next_hops) {
            return port;
        }
        let port = next_hops[pick(step.rnd, next_hops.len())];
        self.flowlets.assign(hash, port);
        port
    }

    fn state_bytes(&self) -> usize {
        self.flowlets.state_bytes()
    }

    fn counters(&self) -> Counters {
        self.flowlets.counters()
    }
}
