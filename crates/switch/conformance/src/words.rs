//! The C's structures as the 64-bit words in which they lie in memory, for maps that are shared
//! with the kernel.
#![allow(unsafe_code, reason = "reads and writes structures as bytes")]

use crate::abi::{SchemeCounters, StepConfig, StepInput, StepOutput};

/// Structures of numbers, with their padding as fields.
///
/// # Safety
/// Any bytes are a value, and all bytes of a value are initialised.
pub unsafe trait Flat: Copy + Default {}

// SAFETY: made by bindgen of structures of numbers, with explicit padding.
unsafe impl Flat for StepConfig {}
// SAFETY: as above.
unsafe impl Flat for StepInput {}
// SAFETY: as above.
unsafe impl Flat for StepOutput {}
// SAFETY: as above.
unsafe impl Flat for SchemeCounters {}

/// The words of a structure; its size is a multiple of a word's.
pub fn words<T: Flat>(value: &T) -> Vec<u64> {
    const { assert!(size_of::<T>().is_multiple_of(8) && align_of::<T>() <= 8) };
    let mut words = vec![0; size_of::<T>() / 8];
    // SAFETY: `words` has the size of `T` and no smaller alignment; all bytes of a `T` are
    // initialised.
    unsafe { words.as_mut_ptr().cast::<T>().write(*value) };
    words
}

/// The structure of these words. Missing words are 0.
pub fn of_words<T: Flat>(from: &[u64]) -> T {
    const { assert!(size_of::<T>().is_multiple_of(8) && align_of::<T>() <= 8) };
    let mut words = vec![0; size_of::<T>() / 8];
    for (to, &word) in words.iter_mut().zip(from) {
        *to = word;
    }
    // SAFETY: `words` has the size of `T` and no smaller alignment; any bytes are a `T`.
    unsafe { words.as_ptr().cast::<T>().read() }
}
