//! A switch that runs the C.
#![allow(unsafe_code, reason = "calls C, which reads and writes through pointers")]

use core::ffi::{c_int, c_void};

use heddle_policy::Counters;
use heddle_vectors::{Config, Error, Input, Output, SwitchInfo, Target};

use crate::abi::{SchemeCounters, StepConfig, StepInput, StepOutput};
use crate::convert;

unsafe extern "C" {
    fn switch_state_bytes() -> u64;
    fn switch_start(config: *const StepConfig, state: *mut c_void) -> c_int;
    fn switch_step(
        config: *const StepConfig,
        state: *mut c_void,
        counts: *mut SchemeCounters,
        input: *const StepInput,
        output: *mut StepOutput,
    ) -> c_int;
    fn switch_digest(config: *const StepConfig, state: *const c_void) -> u64;
}

/// A switch with the scheme in C.
#[derive(Clone, Debug)]
pub struct Native {
    config: StepConfig,
    /// `union switch_state`. Words, for its alignment.
    state: Box<[u64]>,
    counts: SchemeCounters,
}

/// A switch with the scheme in C.
///
/// # Errors
/// A configuration beyond the tables of the C (c/sizes.h).
pub fn native(switch: &SwitchInfo, config: &Config) -> Result<Native, Error> {
    Native::new(convert::config(switch, config)?)
}

impl Native {
    /// A switch with empty tables. `config` is within the limits of the tables, as those of
    /// [`convert::config`] are.
    ///
    /// # Errors
    /// Constants of CFLB that make no codec.
    pub fn new(config: StepConfig) -> Result<Native, Error> {
        // SAFETY: no arguments.
        let bytes = unsafe { switch_state_bytes() };
        let mut state = vec![0_u64; bytes.div_ceil(8) as usize].into_boxed_slice();
        // SAFETY: `state` has the size and alignment of the union, within which the function
        // writes.
        match unsafe { switch_start(&raw const config, state.as_mut_ptr().cast()) } {
            0 => Ok(Native { config, state, counts: SchemeCounters::default() }),
            _ => Err(Error("the C refuses these constants".into())),
        }
    }

    /// Handles a step.
    #[inline]
    pub fn run(&mut self, input: &StepInput) -> StepOutput {
        let mut output = StepOutput::default();
        // SAFETY: `state` has the size and alignment of the union; the function writes within it,
        // `counts` and `output` only.
        let result = unsafe {
            switch_step(
                &raw const self.config,
                self.state.as_mut_ptr().cast(),
                &raw mut self.counts,
                input,
                &raw mut output,
            )
        };
        debug_assert_eq!(result, 0, "no such scheme");
        output
    }

    /// The configuration.
    pub const fn config(&self) -> &StepConfig {
        &self.config
    }

    /// `union switch_state`, word by word.
    pub const fn state(&self) -> &[u64] {
        &self.state
    }

    /// Digest of tables as they lie in memory, for this switch's configuration.
    pub fn digest_of(&self, state: &[u64]) -> Option<u64> {
        // SAFETY: `state` has the size and alignment of the union; the function only reads.
        (state.len() == self.state.len())
            .then(|| unsafe { switch_digest(&raw const self.config, state.as_ptr().cast()) })
    }
}

impl Target for Native {
    fn step(&mut self, now: u64, rnd: u32, input: &Input) -> Output {
        let output = self.run(&convert::input(now, rnd, input));
        convert::output(input, &output)
    }

    fn digest(&self) -> u64 {
        self.digest_of(&self.state).unwrap_or_default()
    }

    fn counters(&self) -> Counters {
        Counters::from(&self.counts)
    }
}
