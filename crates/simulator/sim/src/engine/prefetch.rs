//! A hint to the processor: this will be read soon. In a large fabric most of a hop's time is spent waiting for memory.
#![allow(unsafe_code)]

/// Asks for `items[index]`; an index out of range asks for nothing. It has no effect but on time.
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
