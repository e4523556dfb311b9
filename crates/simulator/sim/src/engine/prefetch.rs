//! Prefetch hints. In a large fabric most of the time of a hop is spent waiting for memory.
#![allow(unsafe_code)]

/// Prefetches `items[index]`; an index out of range does nothing. It affects the run time only.
#[inline]
pub(crate) fn prefetch<T>(items: &[T], index: u32) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index as usize) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64, and a prefetch cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
